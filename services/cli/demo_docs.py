"""The parts of docs/demo.md that are generated: the table of page kinds, and that of the options."""

from collections.abc import Iterable, Iterator

import typer

from services.cli import demo
from services.cli.demo_kinds import JOBS, PAGE_KINDS

RENEW = "generated: `python -m services.cli.docs_check --write` renews it"


def renewed(text: str) -> str:
    """Return the page with its generated parts as the code has them now."""
    text = with_part(text, "page kinds", kind_lines())
    return with_part(text, "options", option_lines())


def with_part(text: str, name: str, lines: Iterable[str]) -> str:
    """Replace what stands between the two marks of a part; ValueError where the page lacks them."""
    begin, end = f"<!-- {name}, {RENEW} -->", f"<!-- end of {name} -->"
    if text.count(begin) != 1 or text.count(end) != 1:
        raise ValueError(f"the page has to hold the lines {begin!r} and {end!r} once each")
    before, rest = text.split(begin)
    after = rest.split(end)[1]
    return "\n".join((f"{before}{begin}", "", *lines, "", f"{end}{after}"))


def kind_lines() -> Iterator[str]:
    """Yield the table of page kinds."""
    yield f"| page | the site answers | jobs of {JOBS} | workflow | ends | `errorType` | cause | why |"
    yield "|---|---|---|---|---|---|---|---|"
    for kind in PAGE_KINDS:
        error, cause = (f"`{word}`" if word else "" for word in (kind.error_type, kind.cause))
        yield (
            f"| `{kind.name}` | {kind.answer} | {kind.jobs} | `{kind.workflow}` | {kind.state} | {error} | {cause} "
            f"| {kind.why} |"
        )


def option_lines() -> Iterator[str]:
    """Yield the table of options."""
    yield "| option | default | |"
    yield "|---|---|---|"
    for option in typer.main.get_command(demo.app).params:
        default = "" if option.default in (None, False) else f"{option.default:g}"
        yield f"| `{option.opts[0]}` | {default} | {getattr(option, 'help', '')} |"
