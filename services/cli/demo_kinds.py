"""The kinds of pages of the demo: what the site answers, and what has to become of a job that asks for one.

This is the one table: the site serves these kinds, a run is held to it, docs/demo.md is generated from it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from services.cli.demo_pages import article_title, japanese_title, product_title, western_title

WorkflowName = Literal["demo-plain", "demo-fallback"]
EndState = Literal["completed", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PageKind:
    """One kind of page and the end of its jobs."""

    name: str  # of the path: /<name>/<number>
    jobs: int  # of each three hundred
    answer: str  # what the site answers
    why: str  # why its jobs end as they do
    workflow: WorkflowName = "demo-plain"
    state: EndState = "completed"
    error_type: str = ""
    cause: str = ""  # rule of the validation gate, or class of the last error
    title: Callable[[int], str] | None = None  # of page <number>, as the extraction has to have it

    def path(self, number: int) -> str:
        """Return the path of one page."""
        return f"/{self.name}/{number}"

    def title_of(self, url: str) -> str | None:
        """Return the title that the extraction of a page has to have; None: there is to be no extraction."""
        return self.title(int(url.rpartition("/")[2])) if self.title else None


PAGE_KINDS: tuple[PageKind, ...] = (
    PageKind(
        name="product",
        jobs=84,
        answer="a product with microdata and a price",
        why="every field is found",
        title=product_title,
    ),
    PageKind(
        name="article",
        jobs=66,
        answer="an article whose data is in JSON-LD",
        why="every field is found",
        title=article_title,
    ),
    PageKind(
        name="flaky",
        jobs=24,
        answer="503 twice, then a product",
        why="a 503 is tried again; there are three tries in all",
        title=product_title,
    ),
    PageKind(
        name="slow",
        jobs=12,
        answer="a product, after 1.5 s",
        why="one try may take 10 s",
        title=product_title,
    ),
    PageKind(
        name="large",
        jobs=6,
        answer="a product with 2 MB of reviews",
        why="a page may have 10 MiB; the body goes to the blob store, events carry its key",
        title=product_title,
    ),
    PageKind(
        name="latin1",
        jobs=9,
        answer="a page in ISO-8859-1, which the header declares",
        why="it is read as declared",
        title=western_title,
    ),
    PageKind(
        name="shift-jis",
        jobs=9,
        answer="a page in Shift_JIS, which its markup declares",
        why="it is read as declared",
        title=japanese_title,
    ),
    PageKind(
        name="undeclared",
        jobs=6,
        answer="a page in Windows-1252, which nobody declares",
        why="it is no UTF-8; the encoding is guessed from its bytes",
        title=western_title,
    ),
    PageKind(
        name="walled",
        jobs=24,
        workflow="demo-fallback",
        answer="a bot wall; a product to whoever renders",
        why="the gate refuses the wall; the fail edge leads to a provider that renders",
        title=product_title,
    ),
    PageKind(
        name="captcha",
        jobs=18,
        workflow="demo-fallback",
        answer="a bot wall to everybody",
        why="the gate refuses what both providers bring",
        state="failed",
        error_type="validation_failed",
        cause="captcha",
    ),
    PageKind(
        name="gone",
        jobs=18,
        answer="200, with a page that says that there is no such page",
        why="the gate knows such pages",
        state="failed",
        error_type="validation_failed",
        cause="soft_404",
    ),
    PageKind(
        name="empty",
        jobs=12,
        answer="200, with nothing but space",
        why="the gate refuses it",
        state="failed",
        error_type="validation_failed",
        cause="empty_body",
    ),
    PageKind(
        name="loop",
        jobs=12,
        answer="a redirect to a page that redirects back",
        why="a url that comes round again ends the fetch; another try would not help",
        state="failed",
        error_type="providers_exhausted",
        cause="redirect_loop",
    ),
)
JOBS = sum(kind.jobs for kind in PAGE_KINDS)
