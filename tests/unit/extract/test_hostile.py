"""What a page that is made to be hard may cost: read in a process with limits of CPU time and memory."""

from tests.unit.hostile import told_within

CPU_SECONDS, MEMORY_BYTES = 60, 2 << 30  # for all of them; one that is not bounded takes minutes
RUN = """
import json, sys
from services.ledger.workflow import ExtractorSettings, Field
from services.workers.extract.extractor import extract
fields = (
    Field(name="text", query="body"),
    Field(name="thing", selector="jsonld", query="Product.isPartOf.isPartOf.name"),
    Field(name="micro", selector="microdata", query="Product.name"),
    Field(name="meta", selector="opengraph", query="og:title"),
    Field(name="path", selector="jsonpath", query="$..name"),
    Field(name="pattern", selector="regex", query="(a+)+b"),
    Field(name="number", query="body", type="number"),
    Field(name="date", query="body", type="date", locale="de"),
)
for name, page in json.load(sys.stdin).items():
    problems = extract(page, "http://a.example/", ExtractorSettings(fields=fields)).problems
    print(json.dumps([name, [problem.code for problem in problems]]), flush=True)
"""
SCRIPT = '<script type="application/ld+json">'
HOSTILE = {
    "elements nested without end": "<div>x" * 100_000,
    "properties nested without end": "<div itemscope itemprop=a itemtype=x>" * 50_000,
    "ten megabytes of text": "<p>" + "a" * 10_000_000,
    "megabytes of digits": "<p>" + "1 " * 1_000_000,
    "attributes without end": "<p " + " ".join(f"a{number}=1" for number in range(100_000)) + ">",
    "attributes without values": "<p " + " ".join(f"a{number}" for number in range(100_000)) + ">",
    "attributes that hold markup": "<p " + " ".join(f"a{number}='<b>'" for number in range(100_000)) + ">",
    "attributes of a script": "<script " + " ".join(f"a{number}=1" for number in range(100_000)) + "></script>",
    "entities of entities": '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">'
    + "".join(f'<!ENTITY a{one} "{f"&a{one - 1};" * 10}">' for one in range(1, 12))
    + "]><p>&a11;",
    "JSON-LD nested without end": SCRIPT + '{"@graph":[' * 50_000,
    "JSON-LD of lists in lists": SCRIPT + "[" * 900 + '{"@type":"Product"}' + "]" * 900 + "</script>",
    "JSON-LD of many things": SCRIPT + "[" + ",".join(['{"@type":"Product"}'] * 300_000) + "]</script>",
    "JSON-LD larger than is read": SCRIPT + '{"a":"' + "x" * 9_000_000 + '"}</script>',
    "references in a circle": SCRIPT
    + '[{"@type":"Product","@id":"#a","isPartOf":{"@id":"#b"}},{"@id":"#b","isPartOf":{"@id":"#a"}}]</script>',
    "a comment that does not end": SCRIPT + "-->" + " " * 1_000_000 + "x</script>",
}

REFUSED = (
    "attributes without end",
    "attributes without values",
    "attributes that hold markup",
    "attributes of a script",
    "JSON-LD of many things",
    "JSON-LD larger than is read",
)


def test_hostile_pages_are_read_in_bounded_time_and_memory() -> None:
    pages = {name: f"<html><body>{page}" for name, page in HOSTILE.items()}
    told = told_within(RUN, pages, cpu_seconds=CPU_SECONDS, memory_bytes=MEMORY_BYTES)
    assert {name for name, codes in told.items() if "too_large" in codes} == set(REFUSED)
