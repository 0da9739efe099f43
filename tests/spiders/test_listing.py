"""Spiders of a project, as the project itself tells in a process of its own."""

import shutil
from pathlib import Path

import pytest

from services.workers.spiders.archive import ArchiveInvalid
from services.workers.spiders.listing import ProjectBroken, spiders_of

PROJECTS = Path(__file__).parent / "projects"


def copied(name: str, to: Path) -> Path:
    return Path(shutil.copytree(PROJECTS / name, to / name))


async def test_a_project_tells_its_spiders(tmp_path: Path) -> None:
    copied("plain", tmp_path)
    assert await spiders_of(tmp_path) == ["idle", "shop"]


async def test_a_project_that_cannot_be_loaded_says_why(tmp_path: Path) -> None:
    folder = copied("plain", tmp_path)
    (folder / "plain/spiders/shop.py").write_text("import nowhere_to_be_found\n")
    with pytest.raises(ProjectBroken, match="No module named 'nowhere_to_be_found'"):
        await spiders_of(folder)


async def test_a_project_that_ends_its_process_says_how_far_it_came(tmp_path: Path) -> None:
    folder = copied("plain", tmp_path)
    (folder / "plain/settings.py").write_text("import os\nprint('leaving')\nos._exit(3)\n")
    with pytest.raises(ProjectBroken, match="leaving"):
        await spiders_of(folder)


async def test_a_project_may_have_packages_named_like_ours(tmp_path: Path) -> None:
    folder = copied("plain", tmp_path)
    (folder / "services").mkdir()
    (folder / "services/__init__.py").write_text("ITS = 'its own'\n")
    settings = folder / "plain/settings.py"
    settings.write_text(settings.read_text() + "from services import ITS\n")
    assert await spiders_of(folder) == ["idle", "shop"]


async def test_a_project_loads_without_the_secrets_of_the_platform(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JOBLEDGER_CREDENTIALS_KEY", "marker")
    folder = copied("plain", tmp_path)
    (folder / "plain/settings.py").write_text("import os\nraise RuntimeError(str(sorted(os.environ)))\n")
    with pytest.raises(ProjectBroken, match="HOME") as raised:
        await spiders_of(folder)
    assert "JOBLEDGER" not in str(raised.value)


async def test_a_project_without_a_spider_or_without_a_config_is_refused(tmp_path: Path) -> None:
    folder = copied("plain", tmp_path)
    (folder / "plain/spiders/shop.py").unlink()
    with pytest.raises(ProjectBroken, match="the project has no spiders"):
        await spiders_of(folder)
    (folder / "scrapy.cfg").unlink()
    with pytest.raises(ArchiveInvalid, match=r"no scrapy\.cfg"):
        await spiders_of(folder)
