"""Options of a run: what is taken, what is refused, and in which words."""

from typing import Any

import msgspec
import pytest

from services.workers.spiders.options import RunOptions, faults


def options(**given: Any) -> RunOptions:
    return msgspec.convert({"project": "shop", "spiders": ["quotes"], "deploy_version": 1} | given, RunOptions)


def test_of_what_is_left_out_there_are_defaults() -> None:
    given = options()
    assert faults(given) == []
    assert (given.unblock, given.isolate_pipelines, given.grouped) == ("off", True, False)
    assert (given.log_level, given.priority) == ("INFO", 100)


def test_an_option_that_nobody_knows_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError, match="isolate_pipeline"):
        options(isolate_pipeline=False)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"project": ""}, "project: name one"),
        ({"spiders": []}, "spiders: name at least one"),
        ({"spiders": ["a", "a"], "grouped": True}, "spiders: name each once"),
        ({"spiders": [""]}, "spiders: a name has 1 to 200 characters and no NUL"),
        (
            {"spiders": ["a", "b"]},
            "grouped: several spiders in one run share a process: say true, or submit a job for each",
        ),
        (
            {"spiders": [str(n) for n in range(101)], "grouped": True},
            "spiders: 101 are more than the 100 that one run takes",
        ),
        ({"deploy_version": 0}, "deploy_version: counts from 1"),
        ({"proxy_country": "Germany"}, "proxy_country: give a country's two letters, such as DE, or leave it out"),
        ({"memory_mb": 8}, "memory_mb: 8 is not from 64 to 65536"),
        ({"cpus": 0.0}, "cpus: 0 is not from 0.1 to 64"),
        ({"cpus": float("nan")}, "cpus: nan is not from 0.1 to 64"),
        ({"timeout_seconds": 0}, "timeout_seconds: 0 is not from 1 to 604800"),
        ({"spider_args": {"a b": "c"}}, "spider_args: 'a b' is no name of one"),
        ({"settings": {"download_delay": 1}}, "settings: 'download_delay' is no name of one"),
        ({"env": {"A": "x\0"}}, "env: the value of 'A' has more than 65536 characters, or a NUL"),
        ({"env": {"Tmp": "x"}}, "env: 'Tmp' is set by the runner: leave it out"),
        ({"env": {"LD_PRELOAD": "x"}}, "env: 'LD_PRELOAD' is set by the runner: leave it out"),
        ({"env": {"pythonpath": "x"}}, "env: 'pythonpath' is set by the runner: leave it out"),
    ],
)
def test_what_is_wrong_is_said_with_the_name_of_its_field(given: dict[str, Any], said: str) -> None:
    assert faults(options(**given)) == [said]


def test_what_fits_in_every_field_is_taken() -> None:
    given = options(
        spiders=["a", "b"],
        grouped=True,
        settings={"DOWNLOAD_DELAY": 0.5, "CLOSESPIDER_ITEMCOUNT": 10},
        spider_args={"category": "books"},
        env={"TOKEN": "t"},
        unblock="marked",
        proxy_country="de",
    )
    assert faults(given) == []
