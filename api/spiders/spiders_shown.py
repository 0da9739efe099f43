"""Shows what came of the spiders of a project. Pure."""

from collections.abc import Mapping, Sequence

from api.spiders.job_answers import SpiderOfProject, SpidersOfProject
from api.spiders.job_shown import job_line
from projections.postgres.spider_views import SpiderJob, SpiderRuns


def spiders_shown(
    deployed: Sequence[str], runs: Sequence[SpiderRuns], last: Mapping[str, SpiderJob]
) -> SpidersOfProject:
    """Show the spiders of the latest deploy, and those that ever ran, by name; `last`: their last runs by key."""
    ran = {each.spider: each for each in runs}
    return SpidersOfProject(
        spiders=[_shown(name, name in deployed, ran.get(name), last) for name in sorted({*deployed, *ran})]
    )


def _shown(name: str, deployed: bool, runs: SpiderRuns | None, last: Mapping[str, SpiderJob]) -> SpiderOfProject:
    newest = last.get(runs.last_job_id) if runs else None
    return SpiderOfProject(
        spider=name,
        in_latest_deploy=deployed,
        runs=runs.own_runs if runs else 0,
        items=runs.items if runs else 0,
        grouped_runs=runs.grouped_runs if runs else 0,
        last_run=job_line(newest) if newest else None,
    )
