"""Builds a Dockerfile without an engine: every step as it is written, on layers over this machine's own file system.

The machine stands for the image that FROM names: its Python is put where that image has one. Steps run below chroot in
a mount namespace of their own, what they write goes to a directory of the test. It takes root, and overlays.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from tests.integration.deploy.dockerfile import Stage

# Of many that run at once, one after the other mounts: each makes the directory of work anew.
MOUNTED = """
set -e
flock "$1/work" mount -t overlay overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" "$1/root"
mount --rbind /proc "$1/root/proc"
mount --rbind /dev "$1/root/dev"
"""
READ_ONLY = """
mount -t tmpfs -o mode=1777 tmpfs "$1/root/tmp"
mount --bind "$1/upper/var/lib/jobledger/blobs" "$1/root/var/lib/jobledger/blobs"
mount -o remount,bind,ro "$1/root"
"""
KEPT = ("PIP_", "SSL_", "HTTP", "NO_PROXY", "http", "no_proxy")  # how this machine reaches its index of packages
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def why_not() -> str:
    """Say why images cannot be built here; nothing where they can."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return "building the image without an engine takes root on Linux"
    if not all(map(shutil.which, ("unshare", "mount", "chroot", "flock"))):
        return "building the image without an engine takes unshare, mount, chroot and flock"
    probe = subprocess.run(("unshare", "--mount", "true"), capture_output=True, check=False)
    return "" if probe.returncode == 0 else "this machine lets nobody make a mount namespace"


@dataclass(frozen=True, slots=True)
class Layer:
    """The file system of one stage."""

    directory: Path

    def make(self) -> None:
        """Make the layer over this machine, with its Python where an image of Python has it, for everybody to run."""
        for each in ("upper/usr/local/bin", "work", "root"):
            (self.directory / each).mkdir(parents=True)
        python = self.directory / "upper/usr/local/bin/python"
        python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
        python.chmod(0o755)
        ways = [str(way) for way in Path(sys.base_prefix).resolve().parents]
        self.run(f"chmod a+x {' '.join(ways)}", {"PATH": PATH}, "/")

    def inside(self, path: str, workdir: str = "/") -> Path:
        """Return where a path of the stage is kept."""
        return self.directory / "upper" / str(PurePosixPath(workdir, path)).lstrip("/")

    def run(self, command: str, environ: Mapping[str, str], workdir: str) -> None:
        """Run a shell command in it as root."""
        given = {name: value for name, value in os.environ.items() if name.startswith(KEPT)}
        script = f'{MOUNTED}\nexec chroot "$1/root" /bin/sh -c "$2"'
        argv = ("unshare", "--mount", "sh", "-c", script, "sh", str(self.directory), f"cd {workdir} && {command}")
        done = subprocess.run(argv, env={**given, **environ}, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"

    def command(self, argv: Sequence[str], user: str, workdir: str) -> list[str]:
        """Return what runs a program as a container does: root read-only, /tmp empty, the volume of blobs mounted."""
        script = f"{MOUNTED}{READ_ONLY}\ncd /\nlayer=$1; user=$2; workdir=$3; shift 3\n" + (
            'exec chroot --userspec="$user" --groups= "$layer/root" /bin/sh -c \'cd "$0" && exec "$@"\' "$workdir" "$@"'
        )
        return ["unshare", "--mount", "sh", "-c", script, "sh", str(self.directory), user, workdir, *argv]


def build(stages: Sequence[Stage], context: Path, directory: Path) -> Layer:
    """Carry out each step of each stage, and return the last one's layer."""
    layers: dict[str, Layer] = {}
    for number, stage in enumerate(stages):
        layer = layers[stage.name] = Layer(directory / f"stage-{number}")
        layer.make()
        environ, workdir = {"PATH": PATH, "HOME": "/root"}, "/"
        for step in stage.steps:
            match step.word:
                case "ENV":
                    environ |= {name: value for name, _, value in (pair.partition("=") for pair in step.said.split())}
                case "WORKDIR":
                    workdir = step.said
                    layer.inside(workdir).mkdir(parents=True, exist_ok=True)
                case "RUN":
                    layer.run(step.said, environ, workdir)
                case "COPY":
                    _copy(step.said, context, layers, layer, workdir)
                case "USER" | "EXPOSE" | "HEALTHCHECK" | "ENTRYPOINT" | "CMD":
                    pass  # of those who run it
                case word:
                    raise AssertionError(f"tests/integration/deploy/layers.py does not know {word}: teach it")
    return layers[""]


def _copy(said: str, context: Path, layers: Mapping[str, Layer], layer: Layer, workdir: str) -> None:
    """Do what COPY says: directories by what is in them, files into a place that ends with a slash."""
    *sources, target = said.split()
    into = layer.inside(target, workdir)
    origin = None
    if sources[0].startswith("--from="):
        origin = layers[sources.pop(0).removeprefix("--from=")]
    for source in sources:
        found = origin.inside(source) if origin else context / source
        if found.is_dir():
            shutil.copytree(found, into, symlinks=True, dirs_exist_ok=True)
        else:
            assert target.endswith("/"), f"{target}: name a directory, with a slash at its end"
            into.mkdir(parents=True, exist_ok=True)
            shutil.copy(found, into)
