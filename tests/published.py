"""The JSON schema of AsyncAPI as its project publishes it: from its package, which npm brings once and keeps."""

import hashlib
import json
import os
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path
from typing import Any

import pytest

PACKAGE = "@asyncapi/specs@6.11.1"
FILE = "asyncapi-specs-6.11.1.tgz"
SHA256 = "01af8744dc33c0c7eb2e908f6a955319ee58b70ecadc9387d1aeb16c0cd28928"
NPM_SECONDS = 120


def asyncapi_schema(version: str) -> dict[str, Any]:
    """Return the schema of a version of AsyncAPI; skip the test, and say why, where it is not to be had."""
    with tarfile.open(_package()) as archive:
        member = archive.extractfile(f"package/schemas/{version}.json")
        assert member is not None
        schema: dict[str, Any] = json.load(member)
        return schema


def _package() -> Path:
    kept = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "jobledger" / FILE
    if not kept.exists():
        if shutil.which("npm") is None:
            pytest.skip(f"needs npm, which brings {PACKAGE}")
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=kept.parent) as fresh:
            npm = ["npm", "pack", PACKAGE, "--pack-destination", fresh]
            ran = subprocess.run(npm, capture_output=True, text=True, timeout=NPM_SECONDS, check=False)
            if ran.returncode:
                pytest.skip(f"npm does not bring {PACKAGE}: {ran.stderr.strip()[-200:]}")
            Path(fresh, FILE).replace(kept)
    found = hashlib.sha256(kept.read_bytes()).hexdigest()
    assert found == SHA256, f"{kept} is not the package that was published: remove it"
    return kept
