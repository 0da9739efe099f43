"""From one request to the commands that submit its jobs: 10,000 jobs are too many for one record.

Splitting follows from the request alone, so that a repeat splits the same way and each part finds its own earlier
answer by the digest derived for it.
"""

import hashlib
import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from msgspec.structs import replace
from multidict import MultiMapping

from api import requests
from api.config.workflows import Runnable
from api.errors import MAX_PROBLEMS, Gathering, Problem, invalid, together
from api.urls import domain_of
from schemas.private import private_bytes
from services.ledger.commands import NewJob, Pinned
from services.runtime.ids import uuid7
from services.runtime.networks import Networks

JOBS_PER_COMMAND = 500
BYTES_PER_COMMAND = 512 * 1024  # of private payloads; a record takes 1 MiB
BYTES_PER_JOB = 32 * 1024  # of input and metadata; an event stays under 64 KiB
BYTES_PER_REQUEST = 32 * 1024 * 1024  # of private payloads of all jobs together
DIGEST_BYTES = 16
EITHER = "send either url, for one job, or urls, for many"
_IDEMPOTENCY_KEY = re.compile(r"[\x21-\x7e]{1,255}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Part:
    """The jobs of one command and the digest that makes repeating it safe."""

    jobs: tuple[NewJob, ...]
    idempotency_digest: bytes
    jobs_behind: int  # of the first part: how many jobs the others bring
    first_digest: bytes  # of the others: the digest of the first


def given_key(headers: MultiMapping[str]) -> str:
    """Return the Idempotency-Key of a request, "" where there is none, or raise a Problem."""
    keys = headers.getall("Idempotency-Key", [])
    if len(keys) > 1:
        raise Problem("bad_request", "the header comes several times: send one key", field="Idempotency-Key")
    if keys and not _IDEMPOTENCY_KEY.fullmatch(keys[0]):
        raise invalid("Idempotency-Key", "the header takes 1 to 255 visible ASCII characters")
    return keys[0] if keys else ""


def cancellation(org_id: str, job_id: str, key: str) -> str:
    """Return what the ledger keeps of a cancel with a key: the correlation id, the same for every repeat."""
    return "cancel:" + key_digest(org_id, f"{job_id}\0{key}").hex()


def key_digest(org_id: str, key: str) -> bytes:
    """Return what the ledger keeps of an Idempotency-Key."""
    return _digest(f"{org_id}\0{key}".encode())


def schedule_id(org_id: str, key: str) -> str:
    """Return the id of the schedule that an Idempotency-Key makes: a repeat finds it by its id."""
    digest = key_digest(org_id, f"schedule\0{key}")
    return f"sch-{uuid.UUID(bytes=digest)}"


def trigger_digest(schedule_id: str) -> bytes:
    """Return what the ledger keeps of a trigger in place of its body."""
    return _digest(f"trigger\0{schedule_id}".encode())


def request_digest(body: msgspec.Struct | Mapping[str, Any], digest_key: bytes = b"") -> bytes:
    """Return what the ledger keeps of a body, the same for every spelling of it; keyed, it confirms no guess at it."""
    return _digest(msgspec.json.encode(body, order="sorted"), digest_key)


def new_jobs(body: requests.SubmitJobs, *, allowed: Networks) -> list[NewJob]:
    """Return the jobs that a body asks for, in its order, or raise a Problem naming the field at fault."""
    if (body.url is None) == (body.urls is None):
        raise invalid("url", EITHER)
    gathering = Gathering()
    with gathering.looking():
        shared = _shared(body)
    named = _named(body.url, body.urls or ())
    with gathering.looking():
        domains = _domains(named, allowed=allowed)
    gathering.done()
    jobs = [
        NewJob(job_id=uuid7(), domain=domain, private=private_bytes({"url": url, **shared}))
        for domain, (_, url) in zip(domains, named, strict=True)
    ]
    total = sum(len(job.private) for job in jobs)
    if total > BYTES_PER_REQUEST:
        raise _too_large(
            "urls", f"input and metadata are stored per job, {total} bytes in all: send fewer urls at once"
        )
    return jobs


def url_faults(given: Mapping[str, Any], *, allowed: Networks) -> Iterator[Problem]:
    """Yield what is wrong with the urls of a body that is at fault elsewhere too (see `api.faults.sound`)."""
    url, urls = (given.get(name) for name in ("url", "urls"))
    if (url is None) == (urls is None):
        yield invalid("url", EITHER)
    try:
        _domains(_named(url if isinstance(url, str) else None, urls or ()), allowed=allowed)
    except Problem as problem:
        yield problem


def _named(url: str | None, urls: Sequence[str]) -> list[tuple[str, str]]:
    return [("url", url)] if url is not None else [(f"urls[{number}]", each) for number, each in enumerate(urls)]


def _domains(named: Sequence[tuple[str, str]], *, allowed: Networks) -> list[str]:
    """Return the domain of each url, or raise a Problem that names those that cannot be used."""
    domains: list[str] = []
    problems: list[Problem] = []
    for field, url in named:
        try:
            domains.append(domain_of(url, field, allowed=allowed))
        except Problem as problem:
            problems.append(problem)
            if len(problems) == MAX_PROBLEMS:
                break
    if problems:
        raise together(problems)
    return domains


def hosts_of(body: requests.SubmitJobs, jobs: Sequence[NewJob]) -> list[tuple[str, str]]:
    """Return the field and the host of each job, in their order."""
    if body.url is not None:
        return [("url", jobs[0].domain)]
    return [(f"urls[{number}]", job.domain) for number, job in enumerate(jobs)]


def pinned(jobs: Sequence[NewJob], chosen: Sequence[Runnable]) -> list[NewJob]:
    """Return the jobs, those with a workflow of their own where it is another than that of the first.

    Splitting must not depend on routes: they may change between a request and its repeat.
    """
    return [
        job
        if workflow == chosen[0]
        else replace(job, pinned=Pinned(workflow_id=workflow.workflow_id, version=workflow.version, ref=workflow.ref))
        for job, workflow in zip(jobs, chosen, strict=True)
    ]


def parts(jobs: Sequence[NewJob], digest: bytes) -> Iterator[Part]:
    """Split jobs into commands of bounded number and size, each with its own digest."""
    waiting: list[NewJob] = []
    size = number = 0
    for job in jobs:
        if waiting and (len(waiting) == JOBS_PER_COMMAND or size + len(job.private) > BYTES_PER_COMMAND):
            yield _part(waiting, jobs, digest, number)
            waiting, size, number = [], 0, number + 1
        waiting.append(job)
        size += len(job.private)
    yield _part(waiting, jobs, digest, number)


def _part(mine: Sequence[NewJob], jobs: Sequence[NewJob], digest: bytes, number: int) -> Part:
    """Return a part: the first is measured for all of them, the others go with it."""
    if number == 0:
        return Part(tuple(mine), digest, len(jobs) - len(mine), b"")
    return Part(tuple(mine), _derived(digest, number), 0, digest)


def _shared(body: requests.SubmitJobs) -> dict[str, msgspec.Raw]:
    given = {"input": body.input, "metadata": body.metadata}
    encoded = {name: msgspec.json.encode(value) for name, value in given.items() if value is not None}
    if sum(map(len, encoded.values())) > BYTES_PER_JOB:
        largest = max(encoded, key=lambda name: len(encoded[name]))
        raise _too_large(largest, f"input and metadata together take at most {BYTES_PER_JOB} bytes")
    return {name: msgspec.Raw(data) for name, data in encoded.items()}


def _too_large(field: str, message: str) -> Problem:
    return Problem("too_large", message, field=field)


def _derived(digest: bytes, number: int) -> bytes:
    """The digest of a later part; the first has the caller's own, so that another body meets it whatever its size."""
    return _digest(digest + number.to_bytes(4, "big"))


def _digest(data: bytes, key: bytes = b"") -> bytes:
    return hashlib.blake2b(data, digest_size=DIGEST_BYTES, key=key).digest()
