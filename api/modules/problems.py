"""What goes wrong with a call about module jobs, in the shape that their published API has for it."""

import re
from collections.abc import Iterable
from typing import Any

from api.errors import Problem, invalid, together

PREFIX = "/api/jobs"
_NAMED = re.compile(r"([A-Za-z_][\w.\[\]]*): (.+)", re.DOTALL)


def about_modules(path: str) -> bool:
    """Whether a call with this path is one about module jobs."""
    return path == PREFIX or path.startswith(f"{PREFIX}/")


def detail_of(problem: Problem) -> dict[str, Any]:
    """Return the body of an answer: `detail` is a text, or has a message and what is wrong field by field."""
    message, field = problem.body["message"], problem.body.get("field")
    alone = [{"field": field, "message": message}] if field else []
    errors = problem.body.get("problems", alone)
    return {"detail": {"message": message, "errors": errors} if errors else message}


def refuse_params(faults: Iterable[str]) -> None:
    """Raise the Problem of what a module says is wrong with its params, if anything is."""
    named = ((_NAMED.fullmatch(each), each) for each in faults)
    problems = [invalid(found[1], found[2]) if found else invalid("body", each) for found, each in named]
    if problems:
        raise together(problems)
