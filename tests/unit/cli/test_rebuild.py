"""What `jobledger rebuild` and `jobledger verify --digests` print, and how they end."""

import json
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

from projections.rebuild.difference import Difference
from projections.rebuild.digest import Bucket
from projections.rebuild.digests import Digests, Line
from projections.rebuild.outcome import Rebuilt
from projections.verification.faults import Fault
from services.cli.__main__ import app

FAULT = Fault("jobs", "acme", "j1", "domain", "a.example", "b.example")
DIFFERENCE = Difference({"jobs acme 2025-06-15": [FAULT]}, ["jobs acme 2025-06-16"])
SAME = Rebuilt("ledger_v2", {1: 7, 0: 41}, "d1", 9, switched=True, replaced="ledger_v1_retired")
DIFFERS = Rebuilt("ledger_v2", {0: 41}, "d1", 9, DIFFERENCE)
ACCEPTED = Rebuilt("ledger_v2", {0: 41}, "d1", 9, DIFFERENCE, switched=True, replaced="ledger_v1_retired")
BUILT = Rebuilt("ledger_until", {0: 12}, "d2", 3)


def run(monkeypatch: pytest.MonkeyPatch, rebuilt: object, *words: str) -> tuple[int, str, list[Any]]:
    """Run `jobledger rebuild` with what comes of it; return exit code, output, and what the rebuild was asked for."""
    asked: list[Any] = []

    def done(*values: object, **options: object) -> object:
        asked.append(options or values)
        return rebuilt

    rebuild = SimpleNamespace(rebuild=done, until=done, drop_old=done)
    monkeypatch.setattr("services.cli.rebuild._run", lambda _, what: what(rebuild))
    result = CliRunner().invoke(app, ["rebuild", *words])
    return result.exit_code, result.output, asked


def test_a_switch_names_both_versions_and_the_position(monkeypatch: pytest.MonkeyPatch) -> None:
    code, said, [options] = run(monkeypatch, SAME, "postgres", "--drop-old")
    assert options == {"anew": False, "accept_differences": False, "drop_old": True}
    assert (code, said.splitlines()) == (
        0,
        [
            "built ledger_v2 up to 0:41, 1:7: 9 rows, digest d1",
            "readers follow ledger_v2; of before there is ledger_v1_retired",
        ],
    )


@pytest.mark.parametrize("house", ["postgres", "clickhouse"])
def test_versions_that_differ_end_it_with_1_naming_where_and_what_to_do(
    monkeypatch: pytest.MonkeyPatch, house: str
) -> None:
    code, said, _ = run(monkeypatch, DIFFERS, house)
    assert code == 1
    assert "differs: jobs acme 2025-06-15\n  jobs acme j1: domain: expected a.example, found b.example\n" in said
    assert "differs: 1 more (--json names all)" in said
    assert "no switch" in said
    assert "--accept-differences" in said
    code, said, [options] = run(monkeypatch, ACCEPTED, house, "--accept-differences")
    assert (code, options["accept_differences"], "no switch" in said) == (0, True, False)


def test_json_has_versions_positions_digest_and_every_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    code, said, _ = run(monkeypatch, DIFFERS, "clickhouse", "--json")
    told = json.loads(said)
    assert code == 1
    assert (told["version"], told["positions"], told["digest"], told["switched"]) == (
        "ledger_v2",
        {"0": 41},
        "d1",
        False,
    )
    assert told["difference"]["unread"] == DIFFERENCE.unread
    [[fault]] = told["difference"]["buckets"].values()
    assert (fault["job_id"], fault["field"], fault["expected"], fault["found"]) == (
        "j1",
        "domain",
        "a.example",
        "b.example",
    )


def test_a_version_as_of_a_position_is_built_to_look_at(monkeypatch: pytest.MonkeyPatch) -> None:
    code, said, [asked] = run(monkeypatch, BUILT, "postgres", "--until", "0:12,3:77")
    assert (code, asked) == (0, ({0: 12, 3: 77},))
    assert "it is there to look at; readers follow the version of before" in said
    code, said, asked_for = run(monkeypatch, BUILT, "postgres", "--until", "yesterday")
    assert (code, asked_for, "give PARTITION:POSITION" in said) == (2, [], True)


def test_what_was_replaced_is_dropped_by_the_name_of_its_read_model(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["ledger_v1_retired", "ledger_v2_retired"]
    assert run(monkeypatch, names, "drop-old", "postgres")[:2] == (0, f"dropped {', '.join(names)}\n")
    assert json.loads(run(monkeypatch, names, "drop-old", "clickhouse", "--json")[1]) == {"dropped": names}
    code, said, _ = run(monkeypatch, names, "drop-old", "mysql")
    assert (code, "give postgres or clickhouse" in said) == (2, True)


def test_digests_are_told_by_table_org_and_day_at_one_position(monkeypatch: pytest.MonkeyPatch) -> None:
    found = Digests("ledger_v3", {1: 7, 0: 41}, "d0", [Line(Bucket("jobs", "acme", "2025-06-15"), 9, "d1")])
    monkeypatch.setattr("services.localstack.attach.attached_settings", lambda _: SimpleNamespace(postgres=""))
    monkeypatch.setattr("projections.rebuild.digests.digests_in_use", lambda _: found)
    result = CliRunner().invoke(app, ["verify", "--digests"])
    assert (result.exit_code, result.output.splitlines()) == (
        0,
        ["ledger_v3 at 0:41, 1:7: digest d0", "  jobs acme 2025-06-15: 9 rows, d1"],
    )
    told = json.loads(CliRunner().invoke(app, ["verify", "--digests", "--json"]).output)
    assert (told["digest"], told["positions"], told["buckets"][0]["bucket"]) == (
        "d0",
        {"0": 41, "1": 7},
        {"table": "jobs", "org_id": "acme", "day": "2025-06-15"},
    )
