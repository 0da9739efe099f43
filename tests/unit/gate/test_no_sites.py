"""The gate knows vendors and words, and no site: what it knows of one page would be worth nothing for the next."""

import csv
import re
from pathlib import Path

import pytest

from services.workers import gate
from services.workers.gate.judge import KNOWLEDGE
from services.workers.gate.knowledge import Marks, Phrases, Sentences, Table
from tests.unit.gate.test_corpus import CORPUS

SOURCES = {path.name: path.read_text("utf-8").lower() for path in Path(str(gate.__file__)).parent.glob("*.py")}
HOST = re.compile(r"\b(?:[a-z0-9-]+\.)+(?:com|net|org|io|de|fr|uk|ru|cn|jp|co|eu|info|example)\b")
# Where the walls of vendors come from: whatever site stands behind one, its wall names these.
VENDORS = {"captcha-delivery.com", "ct.captcha-delivery.com", "geo.captcha-delivery.com", "hcaptcha.com",
           "challenges.cloudflare.com", "perfdrive.com", "errors.edgesuite.net", "schema.org"}  # fmt: skip
# Parts of the names of saved pages that say what they are, and by whose machinery.
NO_SITES = {"anubis", "awswaf", "cookie", "hcaptcha", "incapsula", "latin1", "queue", "recaptcha", "redirect", "signin",
            "sucuri", "visitor", "html"}  # fmt: skip


def entries(table: Table) -> list[str]:
    """Return what a table holds, as text."""
    match table:
        case Phrases():
            return list(table.texts)
        case Marks():
            return [mark.decode() for mark in table.marks]
        case Sentences():
            return [pattern.replace("\\.", ".") for pattern in table.patterns.values()]


@pytest.mark.parametrize("name", KNOWLEDGE.tables())
def test_no_entry_names_a_host_but_those_of_vendors(name: str) -> None:
    named = {host for entry in entries(KNOWLEDGE.tables()[name]) for host in HOST.findall(entry.lower())}
    assert named <= VENDORS


@pytest.mark.parametrize("file", sorted(SOURCES))
def test_no_source_of_the_gate_names_a_host_but_those_of_vendors(file: str) -> None:
    assert set(HOST.findall(SOURCES[file].replace("\\.", "."))) <= VENDORS


@pytest.mark.skipif(not (CORPUS / "labels.csv").exists(), reason="no corpus of pages: set JOBLEDGER_PAGES")
def test_the_gate_names_no_site_of_the_pages_that_it_is_held_against() -> None:
    with (CORPUS / "labels.csv").open(encoding="utf-8", newline="") as labels:
        stems = [Path(row["file"]).stem for row in csv.DictReader(labels) if row["label"] != "good"]
    sites = {part for stem in stems for part in stem.split("-") if len(part) > 4} - NO_SITES
    assert len(sites) > 10
    found = {(site, file) for site in sites for file, text in SOURCES.items() if re.search(rf"\b{site}\b", text)}
    assert found == set()
