"""What a project is set with, from what it had and what is asked of it: pure but for the seal."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from api.config.projects import LockedProject, Settings
from api.modules.problems import refuse_params
from api.spiders.keeping import kept_sealed
from api.spiders.requests import SaveProjectSettings
from services.runtime.kept_secrets import Owner, opened_for
from services.runtime.sealing import Sealer
from services.workers.spiders.options import RunOptions, faults

MAX_ENV_CHARS = 128 * 1024  # of names and values together: an environment and the arguments share 2 MiB on most systems
_WITH_USER = re.compile(r"[a-z+]+://[^/]*@", re.IGNORECASE)


def changing(asked: SaveProjectSettings, sealer: Sealer | None) -> Callable[[LockedProject], Settings]:
    """Return what makes new settings of a project's, or raises the Problem of what is asked."""

    def changed(project: LockedProject) -> Settings:
        owner = Owner("project", project.org_id, project.project)
        touched = asked.env is not None or asked.repo_token is not None
        kept: Mapping[str, Any] = {}
        if touched and project.sealed is not None:
            kept = opened_for(sealer, owner, project.sealed)
        former: Mapping[str, str] = kept.get("env", {})
        env = former if asked.env is None else {name: _value(name, asked.env, former) for name in asked.env}
        refuse_params([*_url_faults(asked.repo_url), *_env_faults(env)])
        token = kept.get("repo_token", "") if asked.repo_token is None else asked.repo_token
        return Settings(
            repo_url=project.repo_url if asked.repo_url is None else asked.repo_url,
            repo_ref=project.repo_ref if asked.repo_ref is None else asked.repo_ref,
            env_names=sorted(env) if touched else project.env_names,
            has_token=bool(token) if touched else project.has_token,
            sealed=_sealed(sealer, owner, env, token) if touched else project.sealed,
        )

    return changed


def _value(name: str, asked: Mapping[str, str | None], former: Mapping[str, str]) -> str:
    value = asked[name]
    if value is not None:
        return value
    refuse_params([] if name in former else [f"env: {name!r} has no value yet that could stay: send one"])
    return former[name]


def _sealed(sealer: Sealer | None, owner: Owner, env: Mapping[str, str], token: str) -> bytes | None:
    return kept_sealed(sealer, owner, {"env": dict(env), "repo_token": token}) if env or token else None


def _url_faults(url: str | None) -> Iterator[str]:
    if url and _WITH_USER.match(url) and not url.startswith("ssh://"):
        yield "repo_url: is shown to whoever may read the project: leave out the user, and send a repo_token"


def _env_faults(env: Mapping[str, str]) -> Iterator[str]:
    yield from faults(RunOptions(project="any", spiders=["any"], deploy_version=1, env=dict(env)))
    if sum(len(name) + len(value) for name, value in env.items()) > MAX_ENV_CHARS:
        yield f"env: all variables together take at most {MAX_ENV_CHARS} characters"
