"""The workflows of the demo."""

from services.cli.demo_kinds import WorkflowName
from services.ledger.workflow import (
    Edge,
    EntryNode,
    ExtractorNode,
    ExtractorSettings,
    FailedNode,
    Field,
    ResultNode,
    ServiceNode,
    ServiceSettings,
    WarehouseNode,
    Workflow,
)

RETRY_DELAY_MS = 200


def demo_workflows() -> dict[WorkflowName, Workflow]:
    """Return both documents by name."""
    return {"demo-plain": plain_workflow(), "demo-fallback": fallback_workflow()}


def plain_workflow() -> Workflow:
    """Return the document that fetches once more where it may, and gives up otherwise."""
    return Workflow(
        name="demo-plain",
        nodes=(
            EntryNode(id="entry"),
            ServiceNode(id="fetch", settings=_patient()),
            _extractor(),
            WarehouseNode(id="warehouse"),
            FailedNode(id="failed"),
        ),
        edges=(
            Edge(source="entry", target="fetch"),
            Edge(source="fetch", target="extract", on="success"),
            Edge(source="fetch", target="failed", on="fail"),
            Edge(source="extract", target="warehouse", on="success"),
            Edge(source="extract", target="failed", on="fail"),
        ),
    )


def fallback_workflow() -> Workflow:
    """Return the document that asks a second provider, which renders pages, when the first one meets a wall."""
    return Workflow(
        name="demo-fallback",
        nodes=(
            EntryNode(id="entry"),
            ServiceNode(id="fetch", settings=_patient()),
            ServiceNode(id="render", settings=_patient({"X-Render": "browser"})),
            _extractor(),
            WarehouseNode(id="warehouse"),
            ResultNode(id="result"),
            FailedNode(id="failed"),
        ),
        edges=(
            Edge(source="entry", target="fetch"),
            Edge(source="fetch", target="extract", on="success"),
            Edge(source="fetch", target="render", on="fail"),
            Edge(source="render", target="extract", on="success"),
            Edge(source="render", target="failed", on="fail"),
            Edge(source="extract", target="warehouse", on="success"),
            Edge(source="extract", target="failed", on="fail"),
            Edge(source="warehouse", target="result"),
        ),
    )


def _patient(headers: dict[str, str] | None = None) -> ServiceSettings:
    return ServiceSettings(headers=headers or {}, timeout_seconds=10, retries=3, retry_delay_ms=RETRY_DELAY_MS)


def _extractor() -> ExtractorNode:
    return ExtractorNode(
        id="extract",
        settings=ExtractorSettings(
            schema_id="demo.page.v1",
            data_type="page",
            fields=(
                Field(name="title", query="h1", required=True),
                Field(name="price", query=".price", type="money"),
                Field(name="image", query="[itemprop=image]", type="url"),
                Field(name="sku", selector="xpath", query="//span[@class='sku']"),
                Field(name="headline", selector="jsonld", query="NewsArticle.headline"),
                Field(name="author", selector="jsonld", query="NewsArticle.author.name"),
                Field(name="published", selector="jsonld", query="NewsArticle.datePublished", type="date"),
            ),
        ),
    )
