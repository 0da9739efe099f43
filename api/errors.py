"""What can go wrong with a call, as callers see it: a code from one table, a message, the field at fault.

Problem  a call is answered with an error; `code` is a key of CODES
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

# Code -> HTTP status and what it means; a test holds the table of docs/errors.md to it.
CODES: dict[str, tuple[int, str]] = {
    "invalid_json": (400, "The body is not JSON (NaN and Infinity are not), or is no JSON object."),
    "key_in_url": (
        400,
        "An API key stands in the URL, where proxies log it. Send it as a Bearer token; revoke this one.",
    ),
    "invalid_position": (400, "No position of the log: `partition:position`, as `Ledger-Position` and stream ids are."),
    "bad_request": (400, "The HTTP request itself is malformed."),
    "quota_exhausted": (
        402,
        "The org has too few credits for all jobs of the submission, so none was recorded: `askedCredits`, "
        "`remainingCredits`.",
    ),
    "unauthenticated": (401, "No key, an unknown key or a revoked key. Send `Authorization: Bearer jlk_...`."),
    "forbidden": (403, "The key is good, but lacks the scope that the call needs."),
    "not_on_plan": (403, "The plan of the org does not have this; `plan` names it. The operator can change it."),
    "not_found": (404, "There is no such thing, or it belongs to another org."),
    "method_not_allowed": (405, "The path exists, but not with this method; `Allow` names those it has."),
    "idempotency_conflict": (
        409,
        "This Idempotency-Key came with another body before. Use a new key for a new request.",
    ),
    "not_ready": (409, "The job has no result (yet); `status` says where it stands."),
    "result_elsewhere": (
        409,
        "A module or spider job has items, no single body: `items` and `download` are the calls that read them.",
    ),
    "job_terminal": (409, "The job has ended; its end is never changed."),
    "delivery_under_way": (409, "A writer has this delivery, and it is sent again when no answer comes. Wait for it."),
    "not_deliverable": (
        409,
        "The job has no data for this destination: nothing was extracted yet, or it ended without.",
    ),
    "results_expired": (
        410,
        "The results of the job are past retention: they were purged, and the job itself stays; `expiredAt`.",
    ),
    "too_much_for_xlsx": (
        409,
        "A sheet cannot hold the results, by their number or a long text. Ask for `format=csv`.",
    ),
    "destination_exists": (409, "The org has another destination with this id."),
    "org_exists": (409, "An org with this id is registered already."),
    "project_exists": (409, "The org has a project of this slug already, or it is being deleted."),
    "route_conflict": (
        409,
        "Another published workflow of the org has this route; `workflowId` names it. Unpublish one of them.",
    ),
    "workflow_exists": (409, "The org has another workflow with this id."),
    "resume_pending": (400, "Another job goes on from this one already. Wait until it has ended."),
    "not_terminal": (409, "The job has not ended; it can be resumed when it has."),
    "chain_too_long": (409, "The job goes on from as many jobs as a chain may have. Submit its work anew."),
    "not_waiting": (409, "The job does not wait for a retry; the message says where it stands."),
    "too_many_schedules": (409, "The org has as many schedules as it may have. Delete one first."),
    "too_many_paused": (409, "As many workflows of the org are paused as may be. Resume some, or have the org paused."),
    "too_many_webhooks": (409, "The org has as many webhooks as it may have. Delete one first."),
    "version_changed": (
        412,
        "It was changed since it was read; `ETag` names its newest version. Read it again.",
    ),
    "too_large": (413, "The body, or what is stored per job, is over its limit."),
    "invalid_field": (422, "A field is missing, unknown or of the wrong type or range; `field` is its path."),
    "unusable_text": (422, "A text holds a NUL or half a surrogate pair, which databases cannot store."),
    "unknown_workflow": (422, "No published workflow of the org has this id."),
    "no_route": (422, "The job names no workflow, and no published one has a route for the host of its url."),
    "workflow_invalid": (422, "The workflow cannot run; `faults` names everything that is wrong with it."),
    "rate_limited": (
        429,
        "The key or its org made too many calls, or too many came without a good key. Wait as `Retry-After` says.",
    ),
    "if_match_missing": (
        428,
        "Say what you read: send its `ETag` as `If-Match`, or `*` to overwrite whatever is there.",
    ),
    "too_many_streams": (429, "The key or its org has as many streams open here as it may. Close one, or poll."),
    "too_many_workbooks": (
        429,
        "This instance makes as many workbooks as it may. Repeat it after `Retry-After`, or ask for `format=csv`.",
    ),
    "queue_full": (
        429,
        "As many jobs of the org are pending as may be; none of these was taken. Repeat it after `Retry-After`.",
    ),
    "credentials_disabled": (501, "Credentials cannot be kept here: the operator has set no key to seal them with."),
    "erasure_disabled": (501, "Nothing can be sealed here: the operator has set no key for it."),
    "archive_invalid": (422, "The archive is no Scrapy project that can be loaded; the message has its own error."),
    "git_disabled": (501, "Deploys from git are switched off here. Upload an archive."),
    "internal": (500, "A fault of ours; the log has it under the request id."),
    "ledger_unavailable": (503, "No decider answered in time. Repeat with the same Idempotency-Key: nothing doubles."),
    "position_not_reached": (503, "The read model has not reached `min_position` in time. Ask again."),
    "catching_up": (503, "This instance has not read the log far enough to say whether the job exists. Ask again."),
    "store_unavailable": (503, "Postgres or the blob store does not answer. Ask again."),
}


MAX_PROBLEMS = 20  # named in one answer
UNAVAILABLE = 503
RETRY_AFTER_SECONDS = 1  # what is unavailable may be back by then


class Problem(Exception):
    """A call is answered with an error."""

    def __init__(
        self,
        code: str,
        message: str,
        *,
        field: str = "",
        details: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.status = CODES[code][0]
        again = {"Retry-After": str(RETRY_AFTER_SECONDS)} if self.status == UNAVAILABLE else {}
        self.headers = {**again, **(headers or {})}
        self.body: dict[str, Any] = {"error": code, "message": message}
        if field:
            self.body["field"] = field
        self.body.update(details or {})

    def within(self, path: str) -> "Problem":
        """Return it with the path of an object before each field that it names."""
        for named in (self.body, *self.body.get("problems", ())):
            if "field" in named:
                named["field"] = f"{path}.{named['field']}"
        return self


def together(problems: Sequence[Problem]) -> Problem:
    """Return one answer for several problems: the first, and under `problems` each with its field."""
    first = problems[0]
    named = [each for problem in problems for each in _named(problem)]
    if len(named) > 1:
        first.body["problems"] = named[:MAX_PROBLEMS]
    return first


class Gathering:
    """Looks at one thing after the other, and tells at the end what is wrong with all of them."""

    def __init__(self) -> None:
        self.found: list[Problem] = []

    @contextmanager
    def looking(self) -> Iterator[None]:
        """Keep the problem that is found within, and go on behind it."""
        try:
            yield
        except Problem as problem:
            self.found.append(problem)

    def done(self) -> None:
        """Raise what was found, if anything was."""
        if self.found:
            raise together(self.found)


def _named(problem: Problem) -> list[dict[str, str]]:
    alone = [{"field": problem.body.get("field", ""), "message": problem.body["message"]}]
    named: list[dict[str, str]] = problem.body.get("problems", alone)
    return named


def not_found(what: str) -> Problem:
    """Return the answer for a thing that does not exist, or not for this org."""
    return Problem("not_found", f"there is no such {what}, or it belongs to another org")


def invalid(field: str, message: str) -> Problem:
    """Return the answer for a field that cannot be used."""
    return Problem("invalid_field", message, field=field)
