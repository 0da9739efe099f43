"""Folders of runs: they go with their run, and what a killed worker has left goes at the next start."""

import os
from pathlib import Path

from services.workers.spiders.folders import PREFIX, sweep, working_folder


def test_a_folder_goes_with_its_run_whatever_its_spider_did_to_it(tmp_path: Path) -> None:
    with working_folder(str(tmp_path)) as folder:
        assert folder.stat().st_mode & 0o777 == 0o700
        (folder / "a" / "b").mkdir(parents=True)
        (folder / "a" / "b" / "c").write_text("kept")
        (folder / "a" / "out").symlink_to(tmp_path)
        (folder / "a").chmod(0)
        folder.chmod(0o500)
    assert os.listdir(tmp_path) == []  # noqa: PTH208


def test_only_folders_that_nobody_holds_are_swept(tmp_path: Path) -> None:
    left, others = tmp_path / f"{PREFIX}left", tmp_path / "others"
    (left / "project").mkdir(parents=True)
    others.mkdir()
    (tmp_path / f"{PREFIX}link").symlink_to(others)
    with working_folder(str(tmp_path)) as held:
        sweep(str(tmp_path))
        assert sorted(tmp_path.iterdir()) == sorted([held, others, tmp_path / f"{PREFIX}link"])
