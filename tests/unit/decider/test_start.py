"""What a decider waits for before it owns a partition."""

import pytest

from services.decider import __main__ as decider
from services.runtime.errors import RegistryAway, RegistryFault
from services.runtime.health import Health
from services.runtime.settings import Settings

SETTINGS = Settings(kafka="kafka", postgres="postgres", registry="http://registry", blobs="memory:///")


async def test_a_registry_that_is_away_is_waited_for_and_every_part_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    parts, encoder = [Health("decider").part(f"partition-{number}") for number in range(2)], object()
    answers: list[object] = [
        RegistryAway("nobody at http://registry"),
        RegistryAway("nobody at http://registry"),
        encoder,
    ]
    said: list[object] = []

    def ask(_settings: Settings) -> object:
        said.append([part.state().get("reason") for part in parts])
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(decider, "encoder", ask)
    monkeypatch.setattr(decider, "REGISTRY_SECONDS", 0.0)
    assert await decider.registered(SETTINGS, parts) is encoder
    assert said == [["asks the schema registry"] * 2, *[["nobody at http://registry"] * 2] * 2]


async def test_a_schema_that_the_registry_refuses_ends_the_start(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(_settings: Settings) -> object:
        raise RegistryFault("not compatible")

    monkeypatch.setattr(decider, "encoder", refuse)
    with pytest.raises(RegistryFault, match="not compatible"):
        await decider.registered(SETTINGS, [])
