"""The distribution of schemas alone: it has what a consumer needs, and needs nothing else of jobledger."""

import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from pathlib import Path

SCHEMAS = Path(__file__).parents[4] / "schemas"
PROGRAM = """
import sys
sys.path[:0] = sys.argv[1:]
import schemas.client.private, schemas.client.reader, schemas.placement
from schemas.avro_of import record_schema
assert schemas.client.reader.__file__.startswith(sys.argv[1])
ours = {name.partition(".")[0] for name in sys.modules} & {"services", "projections", "api"}
assert not ours, ours
"""


def test_the_client_is_installed_and_imported_without_the_services(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=SCHEMAS, check=True, capture_output=True)
    [wheel] = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        archive.extractall(tmp_path / "installed")
    assert {"schemas/client/reader.py", "schemas/avro/JobCompleted.avsc", "schemas/py.typed"} <= names
    assert not [name for name in names if "released" in name or name.endswith(".toml")]
    without_ours = ["-S", "-c", PROGRAM, str(tmp_path / "installed"), sysconfig.get_path("platlib")]
    ran = subprocess.run([sys.executable, *without_ours], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


def test_it_asks_for_what_jobledger_asks_for() -> None:
    alone = tomllib.loads((SCHEMAS / "pyproject.toml").read_text())["project"]
    whole = tomllib.loads((SCHEMAS.parent / "pyproject.toml").read_text())["project"]
    assert set(alone["dependencies"]) <= set(whole["dependencies"])
    assert (alone["version"], alone["requires-python"]) == (whole["version"], whole["requires-python"])
