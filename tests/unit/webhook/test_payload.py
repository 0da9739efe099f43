"""What a webhook says about a job."""

import json
from typing import Any

import msgspec
import pytest

from schemas.values import After
from services.ledger.reports import Failed
from services.writers.webhook.payload import INLINE_BYTES, BadExtraction, Where, body_of
from tests.unit.writers.fakes import delivery

EXTRACTED_AT, ENDED_AT = 1_800_000_000_000_001, 1_800_000_001_000_002


def said(body: bytes) -> Any:
    return json.loads(body)


def test_a_data_delivery_carries_the_extraction_and_says_that_the_job_is_not_completed_yet() -> None:
    body = body_of(
        delivery(extracted_at=EXTRACTED_AT), b'{"normalized":{"name":"Lamp"}}', Where("https://api.example/")
    )
    message = said(body)
    assert (message["type"], message["timestamp"]) == ("job.extracted", "2027-01-15T08:00:00.000001Z")
    data = message["data"]
    assert (data["jobId"], data["status"], data["endedAt"]) == ("job-1", "extraction_done", None)
    assert data["extraction"] == {"name": "Lamp"}
    assert data["quality"] == {"completeness": 1.0, "validation": 0.5, "composite": 0.8}
    assert data["links"] == {
        "job": "https://api.example/api/v1/jobs/job-1",
        "result": "https://api.example/api/v1/jobs/job-1/result",
        "extraction": "https://api.example/api/v1/extraction/results/job-1",
    }


def test_a_notice_of_completion_has_the_time_of_the_end() -> None:
    done = delivery(after=After.COMPLETED, extracted_at=EXTRACTED_AT, ended_at=ENDED_AT)
    message = said(body_of(done, b"", Where()))
    assert (message["type"], message["timestamp"]) == ("job.completed", "2027-01-15T08:00:01.000002Z")
    assert (message["data"]["status"], message["data"]["extraction"]) == ("completed", None)
    assert message["data"]["links"]["job"] == "/api/v1/jobs/job-1"


def test_a_notice_of_failure_says_why_and_has_nothing_extracted() -> None:
    why = Failed(error_type="validation_failed", rule="captcha")
    data = said(body_of(delivery(after=After.FAILED, result_ref="", extraction_ref="", failed=why), b"", Where()))[
        "data"
    ]
    assert (data["status"], data["errorType"], data["rule"]) == ("failed", "validation_failed", "captcha")
    assert (data["extractedAt"], data["quality"]) == (None, None)
    assert (data["links"]["result"], data["links"]["extraction"]) == (None, None)


@pytest.mark.parametrize(("size", "inline"), [(1_000, True), (INLINE_BYTES, False)])
def test_a_large_extraction_is_left_to_its_link(size: int, inline: bool) -> None:
    body = body_of(delivery(), json.dumps({"normalized": {"text": "x" * size}}).encode(), Where())
    assert len(body) <= INLINE_BYTES
    data = said(body)["data"]
    assert (data["extraction"] is not None) is inline
    assert data["links"]["extraction"] == "/api/v1/extraction/results/job-1"


@pytest.mark.parametrize(("size", "inline"), [(20 * 1024, True), (20 * 1024 + 1, False)])
def test_a_message_of_more_than_20_kib_is_what_counts_as_large(size: int, inline: bool) -> None:
    bare = len(body_of(delivery(), json.dumps({"normalized": {"text": ""}}).encode(), Where()))
    body = body_of(delivery(), json.dumps({"normalized": {"text": "x" * (size - bare)}}).encode(), Where())
    assert (said(body)["data"]["extraction"] is not None) is inline
    assert (len(body) == size) is inline


def test_every_try_says_the_same_bytes() -> None:
    one = delivery(extracted_at=EXTRACTED_AT)
    extraction = b'{"normalized":{"b":1,"a":2}}'
    assert body_of(one, extraction, Where()) == body_of(msgspec.structs.replace(one, try_number=5), extraction, Where())


@pytest.mark.parametrize("junk", [b"{", b'{"normalized":"\xff"}', b"[]"])
def test_what_is_no_extraction_is_refused(junk: bytes) -> None:
    with pytest.raises(BadExtraction):
        body_of(delivery(), junk, Where())
