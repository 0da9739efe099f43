"""Says of lines of a log whether they are all of it, and why they are few or none. Pure."""

from api.spiders.empty import PAST_RETENTION
from api.spiders.job_answers import SpiderLog
from api.spiders.job_shown import ended, state_of
from api.spiders.log_lines import Wanted
from api.spiders.log_reading import Found
from projections.postgres.spider_views import SpiderJob
from services.workers.spiders.frames import LEVELS

LIVE, STORED, NONE = "live", "stored", "none"


def shown(job: SpiderJob, found: Found, wanted: Wanted) -> SpiderLog:
    """Show what was found of a log, and what is to be said of it."""
    source = (STORED if ended(job) else LIVE) if found.parts else NONE
    whole = ended(job) and not found.more and not job.expired_at and state_of(job) != "lost"
    said = [_empty(job, found, wanted), _cut(found), _unfinished(job, found)]
    return SpiderLog(
        lines=found.lines, source=source, complete=whole, note="; ".join(each for each in said if each) or None
    )


def _empty(job: SpiderJob, found: Found, wanted: Wanted) -> str:
    if job.expired_at:
        return f"{PAST_RETENTION}: the log was purged"
    if found.parts and not found.lines:
        return f"no line of the log matches: {_asked(wanted)}"
    if found.lines:
        return ""
    if not job.claimed_at:
        return "the job never started" if ended(job) else "the job has not started yet"
    return "the job ended without a line" if ended(job) else "nothing was logged yet"


def _asked(wanted: Wanted) -> str:
    level = f"level {LEVELS[wanted.level]} or above" if wanted.level else ""
    text = f"containing {wanted.contains!r}" if wanted.contains else ""
    return ", ".join(each for each in (level, text) if each) or "none is stored"


def _cut(found: Found) -> str:
    if not found.more:
        return ""
    ways = "ask for more lines, narrow it by level or contains, or download it"
    return f"cut: these are the newest {len(found.lines)}; {ways}"


def _unfinished(job: SpiderJob, found: Found) -> str:
    if state_of(job) == "lost":
        return "the runner vanished: what it had not sent is missing"
    return "the job is running: more may follow" if found.parts and not ended(job) else ""
