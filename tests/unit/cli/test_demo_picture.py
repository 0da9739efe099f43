"""The picture of a demo run is a PNG that shows what it is given."""

import struct
from pathlib import Path

import matplotlib.colors
import matplotlib.image
import pytest

from services.cli.demo_picture import COLORS, Band, Panel, draw
from services.cli.demo_timeline import Timeline
from services.ledger.status import Status

LINE = Timeline("org-1", [0.0, 0.0, 2.0, 8.0, 10.0], {"pending": [0, 9, 5, 0, 0], "completed": [0, 0, 4, 9, 9]})
EMPTY = Timeline("org-2", [0.0, 10.0], {})


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    """A picture of two orgs, in a directory that was not there before."""
    file = tmp_path / "new" / "run.png"
    panels = [Panel(LINE, "org-1: 9 jobs"), Panel(EMPTY, "org-2: none")]
    draw(file, "a run", "of a test", panels, [Band("org-1", 3.0, 6.0, "down")])
    return file


def test_it_is_a_png_of_some_size(picture: Path) -> None:
    data = picture.read_bytes()
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", data[16:24])
    assert (width, height) > (1000, 500)


def test_states_that_occur_are_seen_and_others_are_not(picture: Path) -> None:
    assert share(picture, "completed") > 0.05
    assert share(picture, "pending") > 0.05
    assert share(picture, "failed") == 0


def test_every_state_has_a_colour_of_its_own() -> None:
    assert set(COLORS) == {status.value for status in Status}
    assert len(set(COLORS.values())) == len(COLORS)


def share(picture: Path, state: str) -> float:
    """Return the share of the pixels that has the colour of a state."""
    pixels = matplotlib.image.imread(picture)[:, :, :3]
    wanted = matplotlib.colors.to_rgb(COLORS[state])
    return float((abs(pixels - wanted) < 0.003).all(axis=2).mean())
