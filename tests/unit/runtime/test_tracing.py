"""Spans of jobs: ids that follow from the job, a share of all jobs, and an exporter that speaks OTLP over a socket."""

import pytest

from services.runtime import tracing
from services.runtime.errors import SettingsError
from services.runtime.ids import uuid7
from services.runtime.settings import settings_from
from services.runtime.tracing import Span
from tests.otlp_receiver import assert_connected, receiving

PLACES = {f"JOBLEDGER_{name}": "http://127.0.0.1:1" for name in ("KAFKA", "REGISTRY", "BLOBS")}
PLACES["JOBLEDGER_POSTGRES"] = "postgresql://127.0.0.1/x"
CALLER = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def test_spans_of_one_job_are_one_tree_in_the_trace_that_is_its_id() -> None:
    job_id = uuid7()
    with receiving() as receiver, tracing.telling(settings_from({**PLACES, "JOBLEDGER_OTLP": receiver.url}), "decider"):
        tracing.span(Span(job_id, "attempt", "1", 1_000_000, 3_000_000, {"org_id": "acme", "module": ""}))
        tracing.span(Span(job_id, "node", "1/0", 1_500_000, 2_000_000, {"step": 0}, ("attempt", "1"), failed=True))
        tracing.span(Span(job_id, "submit", "", 900_000, 1_000_000, {}, caller=CALLER))
        tracing.span(Span(job_id, "job", "", 900_000, 4_000_000, {"status": "completed"}))
    found = {span.name: span for span in receiver.of(job_id)}
    assert_connected(list(found.values()))
    lasted = {name: span.seconds for name, span in found.items()}
    assert lasted == {
        "job": 3.1,
        "submit": 0.1,
        "attempt": 2,
        "node": 0.5,
    }
    assert found["node"].parent_id == found["attempt"].span_id
    assert found["attempt"].attributes == {"jobledger.org_id": "acme", "jobledger.job_id": job_id}
    assert found["submit"].links == ("0af7651916cd43dd8448eb211c80319c",)
    assert found["job"].service == "decider"


def test_nothing_is_told_unless_it_is_asked_for() -> None:
    told: list[Span] = []
    job_id = uuid7()
    tracing.span(Span(job_id, "job", "", 1, 2, {}))
    assert (tracing.on(), tracing.traced(job_id), tracing.clock()) == (False, False, 0)
    with tracing.told_to(told.append):
        assert tracing.traced(job_id)
        assert not tracing.traced("")  # an event that is about no job
        tracing.span(Span(job_id, "job", "", 1, 2, {}))
    assert len(told) == 1


def test_a_share_of_all_jobs_is_told_of_and_the_same_one_by_everybody() -> None:
    jobs = [uuid7() for _ in range(4000)]
    with tracing.told_to(lambda _span: None, 0.25):
        some = [job_id for job_id in jobs if tracing.traced(job_id)]
    assert 0.2 < len(some) / len(jobs) < 0.3
    with tracing.told_to(lambda _span: None, 0.5):
        assert all(map(tracing.traced, some))
    with tracing.told_to(lambda _span: None, 0.0):
        assert not any(map(tracing.traced, jobs))


def test_a_receiver_that_is_away_keeps_no_process_from_leaving() -> None:
    with tracing.telling(settings_from({**PLACES, "JOBLEDGER_OTLP": "http://127.0.0.1:9"}), "api"):
        tracing.span(Span(uuid7(), "job", "", 1, 2, {}))
    assert not tracing.on()


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("OTLP", "http://user:password@127.0.0.1:4318"),
        ("OTLP", "127.0.0.1:4318"),
        ("TRACE_SHARE", "1.5"),
        ("TRACE_SHARE", "nan"),
    ],
)
def test_a_setting_that_cannot_be_used_is_named(key: str, value: str) -> None:
    with pytest.raises(SettingsError, match=f"JOBLEDGER_{key} takes"):
        settings_from({**PLACES, f"JOBLEDGER_{key}": value})
