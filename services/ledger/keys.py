"""The idempotency keys of one org: which jobs a caller's key led to, remembered for a lifetime and up to an hour more.

They are kept, and forgotten together, by the hour of their submission, so that a key needs no date of its own.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from services.ledger.policy import HOUR

REQUEST_BYTES = 16


@dataclass(frozen=True, slots=True)
class SubmissionKey:
    """What an idempotency key stands for."""

    request_digest: bytes
    job_ids: tuple[str, ...]

    def is_of(self, request_digest: bytes) -> bool:
        """Whether it came with this request."""
        return self.request_digest == _cut(request_digest)


@dataclass(slots=True)
class HourOfKeys:
    """The keys of an hour in the order of their coming: where each is, and side by side what each stands for."""

    places: dict[bytes, int] = field(default_factory=dict)
    requests: bytearray = field(default_factory=bytearray)  # a digest of REQUEST_BYTES for each place
    jobs: list[str | list[str]] = field(default_factory=list)  # most submissions are of one job

    def at(self, place: int) -> SubmissionKey:
        """Return what stands at a place."""
        jobs = self.jobs[place]
        request = self.requests[place * REQUEST_BYTES : (place + 1) * REQUEST_BYTES]
        return SubmissionKey(bytes(request), (jobs,) if isinstance(jobs, str) else tuple(jobs))

    def add(self, digest: bytes, request_digest: bytes, job_id: str) -> None:
        """A job was submitted under a key."""
        place = self.places.setdefault(digest, len(self.jobs))
        if place == len(self.jobs):
            self.requests += _cut(request_digest)
            self.jobs.append(job_id)
            return
        jobs = self.jobs[place]
        if isinstance(jobs, str):
            self.jobs[place] = [jobs, job_id]
        else:
            jobs.append(job_id)


class Keys:
    """The keys of one org by their digests."""

    __slots__ = ("_hours",)

    def __init__(self) -> None:
        self._hours: dict[int, HourOfKeys] = {}  # by hour since 1970, oldest first

    def __len__(self) -> int:
        return sum(len(hour.places) for hour in self._hours.values())

    def get(self, digest: bytes, since: int = 0) -> SubmissionKey | None:
        """Return what a key stands for, or None where it did not come in the hour of `since` or later."""
        for number, hour in self._hours.items():
            place = hour.places.get(digest) if number >= since // HOUR else None
            if place is not None:
                return hour.at(place)
        return None

    def remember(self, digest: bytes, request_digest: bytes, job_id: str, now: int) -> None:
        """A job was submitted under a key (now: microseconds UTC)."""
        number = now // HOUR
        hour = self._hours.get(number)
        if hour is None:
            hour = self._hours[number] = HourOfKeys()
        hour.add(digest, request_digest, job_id)

    def forget(self, before: int) -> None:
        """Forget the hours that had passed before a time (microseconds UTC)."""
        while self._hours and (oldest := next(iter(self._hours))) < before // HOUR:
            del self._hours[oldest]

    def put_hour(self, number: int, hour: HourOfKeys) -> None:
        """Take in the keys of an hour as a whole, after those of earlier hours."""
        self._hours[number] = hour

    def by_hour(self) -> Iterator[tuple[int, HourOfKeys]]:
        """Yield each hour with its keys, oldest first."""
        yield from self._hours.items()


def _cut(request_digest: bytes) -> bytes:
    """Return a digest in its size; callers without one leave it empty."""
    return request_digest.ljust(REQUEST_BYTES, b"\0")[:REQUEST_BYTES]
