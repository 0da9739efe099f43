"""Which pages the demo asks for: how many of each kind, and which org asks for which."""

from collections.abc import Sequence
from dataclasses import dataclass

from services.cli.demo_kinds import PAGE_KINDS, PageKind


@dataclass(frozen=True, slots=True)
class Lot:
    """Pages of one kind that one org submits in one call."""

    org_id: str
    kind: PageKind
    paths: tuple[str, ...]


def lots(jobs: int, org_ids: Sequence[str]) -> list[Lot]:
    """Spread so many jobs over kinds of pages and orgs; every page is asked for once."""
    planned: list[Lot] = []
    turn = 0  # goes on from kind to kind, so that no org gets the first page of every kind
    for kind, count in jobs_by_kind(jobs).items():
        paths: dict[str, list[str]] = {}
        for number in range(1, count + 1):
            paths.setdefault(org_ids[turn % len(org_ids)], []).append(kind.path(number))
            turn += 1
        planned += [Lot(org_id, kind, tuple(asked)) for org_id, asked in paths.items()]
    return planned


def jobs_by_kind(jobs: int) -> dict[PageKind, int]:
    """Split a number of jobs in the proportions of PAGE_KINDS, with one of each kind at least."""
    if jobs < len(PAGE_KINDS):
        raise ValueError(f"there are {len(PAGE_KINDS)} kinds of pages: {jobs} jobs are too few to show each")
    weights = sum(kind.jobs for kind in PAGE_KINDS)
    wanted = {kind: kind.jobs * jobs / weights for kind in PAGE_KINDS}
    counts = {kind: max(1, int(share)) for kind, share in wanted.items()}
    while (left := jobs - sum(counts.values())) != 0:
        step = 1 if left > 0 else -1
        movable = [kind for kind in PAGE_KINDS if counts[kind] + step >= 1]
        counts[max(movable, key=lambda kind: step * (wanted[kind] - counts[kind]))] += step
    return counts
