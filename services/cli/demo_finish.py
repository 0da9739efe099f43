"""What follows the run of a demo: log and read model are compared, processes looked at, the picture drawn."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from msgspec.structs import replace

from api.answers import Job
from projections.verify import verify
from services.cli.demo_check import Summary, summary_of
from services.cli.demo_outage import Outage
from services.cli.demo_processes import ELSEWHERE, Before, Readiness, after
from services.cli.demo_session import Session
from services.cli.demo_timeline import first_submission, timelines
from services.cli.spans import milliseconds_between
from services.cli.terminal import program
from services.localstack.attach import attached_settings
from services.localstack.places import StackDir

NO_MATPLOTLIB = "matplotlib is not installed: pip install 'jobledger[demo]'"


def finished(
    session: Session,
    base_url: str,
    directory: StackDir,
    environ: Mapping[str, str],
    began: Before,
    picture: Path | None,
) -> Summary:
    """Return the summary of a run; its picture is written to `picture`, or else below the stack's directory."""
    settings = attached_settings(environ)
    report = verify(settings)
    elsewhere = bool(environ.get("JOBLEDGER_API"))
    readiness = Readiness(True, note=ELSEWHERE) if elsewhere else after(directory.state, began)
    summary = summary_of(session, report, readiness, settings.broker)
    file = picture or directory.root / "demo" / f"{session.name}.png"
    shown = example(session)
    why_not = draw_run(session, summary, file)
    return replace(
        summary,
        picture="" if why_not else str(file),
        no_picture=why_not,
        look_next=look_next(shown),
        links=[f"{base_url}/api/v1/jobs/{shown.job_id}", f"{base_url}/api/v1/extraction/results/{shown.job_id}"],
    )


def example(session: Session) -> Job:
    """Return the job to look at: the first one whose extraction can be read."""
    return next((outcome for outcome in session.outcomes if outcome.readable), session.outcomes[0]).job


def look_next(job: Job) -> list[str]:
    """Return commands to go on with; none holds a key."""
    name = program()
    return [
        f"{name} status",
        f"{name} list --org {job.org_id}",
        f"{name} get {job.job_id} --org {job.org_id}",
        f"{name} tail --follow",
        f"{name} verify",
    ]


def draw_run(session: Session, summary: Summary, file: Path) -> str:
    """Draw the run, or return why it cannot be drawn: a demo without its picture is still a demo."""
    try:
        from services.cli.demo_picture import Band, Panel, draw
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] != "matplotlib":
            raise
        return NO_MATPLOTLIB
    jobs = [outcome.job for outcome in session.outcomes]
    start = first_submission(jobs)
    panels = [
        Panel(line, _panel_title(line.org_id, summary))
        for line in timelines(jobs, [org.org_id for org in session.orgs])
    ]
    outage = session.outage
    bands = [Band(outage.org_id, *_stretch(start, outage), label=_label(outage))] if outage else []
    title = f"jobledger demo {session.name}: {summary.jobs} jobs in {summary.seconds:.1f} s"
    subtitle = f"jobs by state, by the times of their events; {datetime.now(UTC):%Y-%m-%d %H:%M} UTC, {summary.broker}"
    try:
        draw(file, title, subtitle, panels, bands)
    except OSError as error:
        return f"{file} cannot be written: {error.strerror or error}"
    return ""


def _panel_title(org_id: str, summary: Summary) -> str:
    org = next(org for org in summary.orgs if org.org_id == org_id)
    return f"{org_id}: {org.jobs} jobs to {', '.join(_kind_of(name) for name in org.destinations)}"


def _kind_of(destination_id: str) -> str:
    """Return the name of a destination as people know it; a webhook's id says little."""
    return "a webhook" if destination_id.startswith("wh-") else destination_id


def _stretch(start: str, outage: Outage) -> tuple[float, float]:
    begin, end = (milliseconds_between(start, moment) / 1000 for moment in (outage.from_time, outage.to_time))
    return max(0.0, begin), end


def _label(outage: Outage) -> str:
    return f"webhook down for {outage.seconds:.1f} s; half-way through, {outage.waiting} jobs wait for it"
