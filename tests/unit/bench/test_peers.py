"""Rounds against the peers: ratios compare within a round, spreads have their ends, and what is installed is pinned."""

import json
import re
import sys
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest

from bench.operations import COUNTED
from bench.peers import catalogue, install, page, running
from bench.peers.figures import Compared, Figures, Measure, ratio_of, speed_of, spread
from bench.peers.page import section
from bench.peers.window import BEGIN, END, NothingDone, closed_loop

HASH = re.compile(r"--hash=sha256:[0-9a-f]{64}")
PINNED = re.compile(r"[a-z0-9-]+(\[[a-z,]+\])?==\S+( ; [^\\]+)? \\")


def measure(rate: float, **costs: float) -> Measure:
    return Measure(rate, costs)


def test_a_spread_is_the_median_and_the_ends() -> None:
    found = spread([5.0, 1.0, 2.0])
    assert (found.median, found.least, found.most) == (2.0, 1.0, 5.0)


def test_a_ratio_compares_round_by_round() -> None:
    ours = [measure(100, a=2.0), measure(10, a=2.0), measure(300, a=1.0)]
    theirs = [measure(10, b=4.0), measure(1, b=4.0), measure(100, b=4.0)]
    found = ratio_of("work", ours, theirs)
    assert (found.speed.median, found.speed.least, found.speed.most) == (10.0, 3.0, 10.0)
    assert (found.cpu.median, found.cpu.least, found.cpu.most) == (2.0, 2.0, 4.0)


def test_rounds_of_unlike_number_are_not_compared() -> None:
    with pytest.raises(ValueError, match="zip"):
        ratio_of("work", [measure(1, a=1.0)], [])


def test_the_speed_of_a_system_has_every_process_of_every_round() -> None:
    found = speed_of([measure(10, a=1.0, b=2.0), measure(20, a=3.0), measure(40, a=2.0, b=4.0)])
    assert found.jobs_per_second.median == 20
    assert found.by_process == {"a": 2.0, "b": 2.0}
    assert found.cpu_ms_per_job.most == 6.0


async def test_a_closed_loop_keeps_so_many_jobs_in_flight_and_counts_between_the_marks() -> None:
    waiting, finished, most = 0, 0, 0
    marks: list[tuple[str, dict[str, float], int]] = []

    async def submit() -> None:
        nonlocal waiting, most
        waiting += 1
        most = max(most, waiting)

    async def done() -> int:
        nonlocal waiting, finished
        if waiting:
            waiting, finished = waiting - 1, finished + 1
        return finished

    await closed_loop(
        submit,
        done,
        lambda word, figures: marks.append((word, figures, finished)),
        in_flight=5,
        warm_up=0.0,
        seconds=0.0,
        pause=0.0,
    )
    [(first, nothing, at_begin), (second, figures, at_end)] = marks
    assert (first, second) == (BEGIN, END)
    assert not nothing
    assert most == 5
    assert figures["jobs"] == at_end - at_begin


async def test_a_system_that_does_nothing_is_no_endless_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.peers.window.FIRST_SECONDS", 0.0)

    async def nothing() -> None:
        return

    async def none() -> int:
        return 0

    with pytest.raises(NothingDone):
        await closed_loop(nothing, none, lambda _word, _figures: None, in_flight=1, warm_up=0.0, seconds=0.0, pause=0.0)


def test_a_preparation_that_does_not_end_makes_its_peer_away_and_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "PREPARE_SECONDS", 0.05)
    with pytest.raises(install.PeerAway, match=r"took longer than 0\.05 s"):
        running.run_once((sys.executable, "-c", "import signal; signal.pause()"), {})


@pytest.mark.parametrize("file", sorted(install.REQUIREMENTS.glob("*.txt")), ids=lambda file: file.name)
def test_requirements_of_a_peer_are_pinned_with_hashes(file: Path) -> None:
    lines = [line for line in file.read_text().splitlines() if line.strip()]
    packages = [line for line in lines if not line.startswith(" ")]
    assert packages
    assert all(PINNED.fullmatch(line) for line in packages), packages
    assert all(HASH.search(line) for line in lines if line.startswith(" "))
    for package, after in pairwise(lines):
        assert package.startswith(" ") or after.startswith(" "), f"{package} has no hash"
    assert "://" not in "".join(lines)


def test_the_server_from_npm_is_pinned_with_hashes_and_names_no_registry() -> None:
    text = (install.REQUIREMENTS / "restate" / "package-lock.json").read_text()
    packages = {name: each for name, each in json.loads(text)["packages"].items() if name}
    assert "node_modules/@restatedev/restate-server" in packages
    assert all(each["integrity"].startswith("sha512-") for each in packages.values())
    assert "://" not in text


def test_modules_of_river_are_pinned_with_hashes() -> None:
    wanted = re.findall(r"^\t?(\S+\.\S+/\S+) (v\S+)", (install.RIVER / "go.mod").read_text(), re.MULTILINE)
    hashed = (install.RIVER / "go.sum").read_text()
    assert len(wanted) > 3
    assert all(f"{module} {version} h1:" in hashed for module, version in wanted)


@pytest.mark.parametrize("peer", catalogue.PEERS, ids=lambda peer: str(peer.name))
def test_every_peer_says_its_versions_its_durability_and_what_it_leaves_out(peer: catalogue.Peer) -> None:
    versions = peer.versions()
    assert versions
    assert all(re.match(r"v?\d", version) for version in versions.values())
    assert peer.durability
    assert peer.lacks
    assert peer.configured


def test_what_was_counted_is_a_median_of_the_rounds() -> None:
    rounds = [Measure(1.0, {}, {"events": count}) for count in (9.0, 10.0, 9.5)]
    assert speed_of(rounds).counted == {"events": 9.5}


def figures(*peers: Compared) -> dict[str, object]:
    done = {"commands decided": 6.0, "events": 9.0, "Kafka transactions": 0.25}
    speed = speed_of([Measure(654.0, {"broker": 1.25}, done)])
    run = Figures(
        command="make bench-peers",
        machine={},
        load_before=0.5,
        broker="a broker",
        in_flight=64,
        worker_processes=2,
        rounds=1,
        seconds=10.0,
        durability="as it is",
        ours={"one step": speed},
        full=speed,
        peers=list(peers),
    )
    built: dict[str, object] = msgspec.to_builtins(run)
    return built


def test_the_page_shows_ratio_target_and_cost_of_a_peer() -> None:
    rounds = [measure(50.0, server=5.0)]
    ratio = ratio_of("one step", [measure(654.0, broker=1.25)], rounds)
    peer = Compared("Other", {"other": "1.2"}, 1, "so", "durable", "much", 4.0, speed_of(rounds), [ratio])
    shown = "\n".join(section(figures(peer)))
    assert "| Other | one step | 13.08 (13.08 to 13.08) | 4 | 4 (4 to 4) |" in shown
    assert "**Other**: so. durable Not there: much." in shown
    assert "server 5.00" in shown


def test_a_peer_that_could_not_be_measured_is_on_the_page_with_its_reason() -> None:
    peer = Compared("Other", {}, 1, "so", "durable", "much", 4.0, away="npm is not\ninstalled")
    shown = "\n".join(section(figures(peer)))
    assert "not measured: npm is not installed" in shown


def test_the_page_shows_what_the_ledger_does_for_a_job() -> None:
    assert "| one step | 6.00 | 9.00 | 0.25 | 36 |" in "\n".join(section(figures()))


def test_the_page_names_counts_that_there_are() -> None:
    assert {page.COMMANDS, page.EVENTS, page.TRANSACTIONS} <= set(COUNTED.values())
