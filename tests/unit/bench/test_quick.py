"""The quick comparison: what lies outside the noise is named, what lies within is not, and nothing is left out."""

from types import SimpleNamespace

import msgspec
import pytest

from bench import quick, quick_works
from bench.peers.figures import Spread
from bench.quick_works import Work


def found(median: float, least: float | None = None, most: float | None = None) -> Spread:
    return Spread(median, median if least is None else least, median if most is None else most)


def figures(**ratios: Spread) -> quick.Figures:
    return quick.Figures("make bench-quick", {}, 3, ratios)


def test_the_band_is_at_least_what_noise_makes_and_wider_where_rounds_lay_apart() -> None:
    assert quick.band_of("a piece", found(10.0)) == quick.LEAST_BAND
    assert quick.band_of("a piece", found(10.0, 9.0, 14.0)) == pytest.approx(0.4)
    assert quick.band_of("a piece", found(10.0, 7.0, 11.0)) == pytest.approx(0.3)
    assert quick.band_of("a piece", found(10.0, 10.0, 99.0)) == quick.MOST_BAND
    assert quick.band_of(quick.STACK + "one step", found(10.0)) == quick.STACK_BAND


@pytest.mark.parametrize(
    ("now", "verdict"), [(12.4, "within noise"), (7.6, "within noise"), (12.6, "DEARER"), (7.4, "cheaper")]
)
def test_only_what_lies_outside_the_band_is_named(now: float, verdict: str) -> None:
    assert quick.line_of("a piece", found(now), found(10.0)).verdict == verdict


def test_the_report_names_what_is_dearer_what_is_new_and_what_was_not_measured() -> None:
    text = quick.report(figures(slow=found(20.0), fresh=found(1.0)), figures(slow=found(10.0), gone=found(1.0)))
    slow, fresh, gone, verdict = text.splitlines()[1:]
    assert slow.split() == ["slow", "20", "10", "+100%", "25%", "DEARER"]
    assert fresh.split() == ["fresh", "1", "-", "new"]
    assert gone.split() == ["gone", "not", "measured"]
    assert verdict == "dearer than committed: slow"


def test_without_committed_ratios_everything_is_new() -> None:
    assert quick.report(figures(a=found(1.0)), None).endswith("nothing is dearer than committed")


def test_a_piece_is_compared_with_the_floor_that_was_measured_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(quick_works, "time", SimpleNamespace(process_time=lambda: now[0]))

    def takes(seconds: float) -> None:
        now[0] += seconds

    assert Work("ten times", lambda: takes(0.5), lambda: takes(5.0)).ratio() == 10


def test_the_committed_ratios_are_of_pieces_that_are_measured() -> None:
    committed = msgspec.json.decode(quick.RESULTS.read_bytes(), type=quick.Figures)
    assert committed.ratios
    assert all(ratio.least <= ratio.median <= ratio.most for ratio in committed.ratios.values())


def test_when_time_has_run_out_one_round_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    rounds = iter(range(1, 10))
    monkeypatch.setattr(quick, "works", lambda: [Work("a piece", lambda: None, lambda: None)])
    monkeypatch.setattr(Work, "ratio", lambda _work: float(next(rounds)))
    assert quick.measure(5, 0.0) == ({"a piece": found(2.0)}, 1)  # the first was to warm up
    assert quick.measure(3, float("inf")) == ({"a piece": found(5.0, 4.0, 6.0)}, 3)
