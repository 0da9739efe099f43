"""What callers send about schedules of spiders: what a run takes, and when it is due."""

from typing import Annotated

from msgspec import Meta

from api.requests import Name
from api.spiders.job_requests import SubmitSpiders


class AddSpiderSchedule(SubmitSpiders, frozen=True, kw_only=True):
    """A schedule: which run is submitted when; without a `deploy_version` that which is the latest then."""

    name: Name
    cron: Annotated[str, Meta(description="minute, hour, day of month, month, day of week; six fields: seconds first")]
    timezone: Annotated[str, Meta(description="a name of the IANA database, such as Europe/Berlin")] = "UTC"
    enabled: bool = True
