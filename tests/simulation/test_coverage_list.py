"""What has to be covered by the simulation is there: a file that was moved or split is not left out in silence."""

import configparser
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LISTED = configparser.ConfigParser()
LISTED.read(Path(__file__).with_name("coverage.ini"))
REPORT = {name: text.split() for name, text in LISTED["report"].items() if name in ("include", "omit")}
# Each shell that the simulation runs begins with one of these.
MAINS = [
    "services/decider/__main__.py",
    "services/scheduler/__main__.py",
    "services/snapshotter/__main__.py",
    "services/workers/__main__.py",
    "services/workers/modules/__main__.py",
    "services/writers/__main__.py",
    "projections/__main__.py",
    "projections/clickhouse/__main__.py",
]
# Folders whose files belong to these shells.
WHOLE = {str(Path(main).parent) for main in MAINS} | {
    "projections/postgres",
    "services/streams",
    *(f"services/writers/{kind}" for kind in ("clickhouse", "postgres", "warehouses", "webhook")),
}


@pytest.mark.parametrize("pattern", [*REPORT["include"], *REPORT["omit"]])
def test_each_pattern_is_of_a_file(pattern: str) -> None:
    assert list(ROOT.glob(pattern))


def test_a_new_file_of_a_shell_is_asked_for_unless_it_is_named_among_those_that_are_not() -> None:
    left_out = {pattern for pattern in REPORT["omit"] if "*" in pattern}
    assert not left_out, "name each file that is left out, with the reason"
    assert {f"{folder}/*.py" for folder in WHOLE} <= set(REPORT["include"])


def test_nine_tenths_of_the_lines_of_every_shell_are_asked_for() -> None:
    counted = {file for pattern in REPORT["include"] for file in ROOT.glob(pattern)}
    assert counted >= {ROOT / main for main in MAINS}
    assert int(LISTED["report"]["fail_under"]) >= 90
