"""Module jobs of orgs with erasure: a resume is sealed under a key of its own, whatever became of the erasure."""

from typing import Any

import msgspec
import pytest

from schemas.private import private_json
from services.runtime.settings import Settings
from services.runtime.shredding.codec import is_sealed, unsealed
from tests.integration.api.conftest import OPERATOR, Answered, Api, Tenant
from tests.integration.api.module_work import SCRAP, ModuleWorker, read, submit_scrap
from tests.integration.api.pocket import PocketLedger
from tests.integration.api.test_erasure import key_of


@pytest.mark.parametrize(("before", "after"), [(True, True), (True, False), (False, True), (False, False)])
async def test_a_resume_has_the_params_of_the_job_before_it_sealed_as_its_org_is_now(
    api: Api,
    acme: Tenant,
    pocket: PocketLedger,
    with_operator: Settings,
    monkeypatch: pytest.MonkeyPatch,
    *,
    before: bool,
    after: bool,
) -> None:
    monkeypatch.setattr("api.auth.TRUST_SECONDS", 0.0)

    async def turn(*, on: bool) -> None:
        assert (await api.call("PUT", "/api/v1/orgs/acme/erasure", OPERATOR, {"enabled": on})).status == 200

    await turn(on=before)
    job_id = await submit_scrap(api, acme)
    worker = ModuleWorker(pocket, with_operator, acme)
    await worker.begin(job_id)
    worker.fail(job_id)
    pocket.project()
    await turn(on=after)
    made = await api.call("POST", f"/api/jobs/{job_id}/resume", acme.key)
    assert made.status == 201, made.json
    next_id = made.json["id"]
    private = pocket.job(acme.partition, next_id).private
    assert is_sealed(private) == after
    if after:
        key = key_of(with_operator, acme, next_id)
        assert key
        private = unsealed(private, key, (acme.org_id, next_id))
    given: dict[str, Any] = msgspec.json.decode(private_json(private) or b"")["input"]
    assert {name: given[name] for name in ("queries", "zones", "url_template")} == {
        name: SCRAP[name] for name in ("queries", "zones", "url_template")
    }
    pocket.project()
    assert (await read(api, acme, next_id)).json["queries"] == SCRAP["queries"]


@pytest.mark.parametrize("first", [True, False])
async def test_a_repeat_is_known_whatever_became_of_the_erasure_meanwhile(
    api: Api, acme: Tenant, monkeypatch: pytest.MonkeyPatch, *, first: bool
) -> None:
    monkeypatch.setattr("api.auth.TRUST_SECONDS", 0.0)
    made: list[Answered] = []
    for on in (True, first, not first, first):
        assert (await api.call("PUT", "/api/v1/orgs/acme/erasure", OPERATOR, {"enabled": on})).status == 200
        if on is first or made:
            made.append(await api.call("POST", "/api/jobs", acme.key, SCRAP, headers={"Idempotency-Key": "one"}))
    assert len({each.json["id"] for each in made}) == 1
    other = await api.call(
        "POST", "/api/jobs", acme.key, SCRAP | {"zones": ["oslo", "rome"]}, headers={"Idempotency-Key": "one"}
    )
    assert other.status == 409
