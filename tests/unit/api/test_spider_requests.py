"""What a request to run spiders comes to, and what is wrong with one that cannot be run."""

from typing import Any

import msgspec
import pytest

from api.config.deploys import Deploy
from api.errors import Problem
from api.spiders.job_requests import SubmitSpiders
from api.spiders.submission import new_job, run_options, submission_of
from schemas.private import private_json
from schemas.values import Destination, Vocabulary
from services.workers.spiders.options import RunOptions
from tests.unit.api.spiders import AT

DEPLOY = Deploy("acme", "shop", 4, "deploys/acme/4", "0" * 64, 10, ["books", "toys"], "cli", "", AT)


def asked(**fields: Any) -> SubmitSpiders:
    """A request as it is read."""
    return msgspec.convert({"project": "shop", "spiders": ["books"], **fields}, SubmitSpiders)


def faults_of(**fields: Any) -> dict[str, str]:
    """What is wrong with a request, by field."""
    with pytest.raises(Problem) as raised:
        run_options(asked(**fields), DEPLOY)
    body = raised.value.body
    named = body.get("problems", [body])
    return {each["field"]: each["message"] for each in named}


def test_what_is_left_out_has_the_defaults_of_the_contract() -> None:
    options = run_options(asked(), DEPLOY)
    assert options == RunOptions(project="shop", spiders=["books"], deploy_version=4)
    assert (options.isolate_pipelines, options.unblock, options.grouped) == (True, "off", False)
    assert (options.log_level, options.priority) == ("INFO", 100)


@pytest.mark.parametrize(("given", "isolated"), [(None, True), (True, True), (False, False)])
def test_pipelines_are_isolated_unless_the_request_says_otherwise(given: bool | None, isolated: bool) -> None:
    assert run_options(asked(isolate_pipelines=given), DEPLOY).isolate_pipelines is isolated


@pytest.mark.parametrize("grouped", [None, False, True])
def test_several_spiders_are_always_one_grouped_run_and_one_is_none(grouped: bool | None) -> None:
    assert run_options(asked(spiders=["books", "toys"], grouped=grouped), DEPLOY).grouped
    assert not run_options(asked(grouped=grouped), DEPLOY).grouped


@pytest.mark.parametrize(
    ("memory", "mebibytes"), [(256, 256), ("256", 256), ("256m", 256), ("256 MiB", 256), ("2g", 2048), ("2GB", 2048)]
)
def test_memory_is_a_number_of_mebibytes_or_a_text_with_its_unit(memory: int | str, mebibytes: int) -> None:
    assert run_options(asked(memory=memory), DEPLOY).memory_mb == mebibytes


def test_arguments_are_texts_as_on_a_command_line_and_levels_may_be_lower_case() -> None:
    options = run_options(asked(spider_args={"pages": 3, "tag": "x"}, log_level="debug"), DEPLOY)
    assert (options.spider_args, options.log_level) == ({"pages": "3", "tag": "x"}, "DEBUG")


def test_every_field_at_fault_is_named_as_it_was_sent() -> None:
    assert set(faults_of(memory=1, cpus=0, timeout_seconds=0)) == {"memory", "cpus", "timeout_seconds"}
    assert set(faults_of(memory="lots", log_level="LOUD")) == {"memory", "log_level"}
    assert set(faults_of(settings={"no good": 1})) == {"settings"}


def test_a_spider_that_the_version_has_not_is_named_with_those_that_it_has() -> None:
    message = faults_of(spiders=["books", "cars"])["spiders"]
    assert message == "version 4 has no cars; there are books, toys"


def test_a_job_has_its_deploy_its_options_and_its_destinations_for_life() -> None:
    options = run_options(asked(timeout_seconds=90, priority=7), DEPLOY)
    job = new_job("j1", options)
    lake = Destination(destination_id="lake", kind="clickhouse", gating=False)
    command = submission_of({"command_id": "c", "org_id": "acme"}, job, options, DEPLOY, [lake])
    assert (command.vocabulary, command.workflow_id) == (Vocabulary.SPIDER, "shop")
    assert (command.workflow_version, command.workflow_ref) == (4, "deploys/acme/4")
    assert (command.priority, command.max_run_seconds, command.destinations) == (7, 90, (lake,))
    told = msgspec.json.decode(private_json(job.private) or b"")
    assert msgspec.convert(told["input"], RunOptions) == options


def test_options_that_fit_no_event_are_refused() -> None:
    options = run_options(asked(env={f"V{number}": "x" * 60_000 for number in range(5)}), DEPLOY)
    with pytest.raises(Problem) as raised:
        new_job("j1", options)
    assert raised.value.code == "too_large"
