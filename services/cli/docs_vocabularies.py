"""The page on the vocabularies in which callers speak of jobs, made from the tables of the ledger."""

from typing import Any

from services.ledger.status import LIVE, Status
from services.ledger.vocabularies import WORDS, moves, shown

INTRO = """\
# Vocabularies: one ledger, three ways to speak of its jobs

Generated from `services/ledger/vocabularies.py` by `python -m services.cli.docs_check --write`; do not edit.

Every job is the same job in the ledger: the same events, the same [state machine](state_machine.md), the same rules of
claims, credits and retention. What callers of an API see of it has the words of that API. A vocabulary may hold states
of the ledger for one, and may tell one apart by what stands beside the state; it never knows a state that the ledger
does not, and no event means two things.

| vocabulary | jobs | where |
|---|---|---|
| `workflow` | one url, through a workflow | `/api/v1` ([API](api.md)) |
| `module` | planned items, through a [module](modules.md) | `/api` |
| `spider` | one run of a Scrapy project ([spiders](spiders.md)) | `/spider` |

## States, side by side

A state of a row is the same state of the ledger in every column.
"""
BESIDE = """\
`dispatched` is `pending` with its task out. A module job whose worker was lost goes on as `running`. `timed_out` and
`lost` are failures that the ledger calls by their error type (`timed_out`, `worker_lost`). `expired` is an ended job
whose results are past [retention](retention.md): the ledger keeps how it ended, beside that.
"""


def vocabularies_page() -> str:
    """Return the page."""
    lines = [INTRO, "| ledger | ends the job | workflow | module | spider |", "|---|---|---|---|---|"]
    named = list(WORDS)
    for status in Status:
        words = [WORDS[vocabulary].states.get(status) for vocabulary in named]
        if any(words):
            cells = " | ".join(f"`{word}`" if word else "" for word in words)
            lines.append(f"| `{status}` | {'no' if status in LIVE else 'yes'} | {cells} |")
    errors = sorted({error for words in WORDS.values() for error in words.failures})
    lines += [
        _row("`pending`, its task out", "no", Status.PENDING, task_out=True),
        _row("`pending`, after a claim", "no", Status.PENDING, claimed=True),
        *(_row(f"`failed` with `{error}`", "yes", Status.FAILED, error_type=error) for error in errors),
        _row("ended, and `JobExpired`", "yes", Status.COMPLETED, expired=True),
        "",
        BESIDE,
    ]
    for vocabulary in named:
        lines += [f"## Moves of `{vocabulary}`", "", "| from | event | to |", "|---|---|---|"]
        lines += [f"| `{before}` | {event} | `{after}` |" for before, event, after in moves(vocabulary)]
        lines.append("")
    return "\n".join(lines).replace("`(none)`", "(none)")


def _row(name: str, ends: str, status: Status, **beside: Any) -> str:
    words = [shown(vocabulary, status, **beside) for vocabulary in WORDS]
    return f"| {name} | {ends} | " + " | ".join(f"`{word}`" for word in words) + " |"
