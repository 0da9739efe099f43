"""The part of docs/workflows.md that is generated: the table of faults."""

from collections.abc import Iterator

from services.cli.demo_docs import with_part
from services.ledger.workflow_codes import FAULTS


def renewed(text: str) -> str:
    """Return the page with its generated part as the code has it now."""
    return with_part(text, "faults", fault_lines())


def fault_lines() -> Iterator[str]:
    """Yield the table of faults."""
    yield "| code | path, for example | meaning |"
    yield "|---|---|---|"
    for code, (path, meaning) in FAULTS.items():
        yield f"| `{code}` | {path} | {meaning} |"
