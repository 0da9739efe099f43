"""Fires of schedules, from the read model, those of one org at a time."""

from collections.abc import Sequence
from datetime import datetime

from api.auth import Caller
from projections.postgres.read import ReadModel
from projections.postgres.rows import Fire


class Fires:
    """What schedules of the caller's org led to."""

    def __init__(self, model: ReadModel) -> None:
        self._model = model

    async def page(self, caller: Caller, schedule_id: str, before: int, limit: int) -> list[Fire]:
        """Return the newest fires of a schedule whose ordinal in the org is below `before`."""
        return await self._model.fires(caller.org_id, schedule_id, before, limit)

    async def last_runs(self, caller: Caller, schedule_ids: Sequence[str]) -> dict[str, datetime]:
        """Return when each of these schedules last submitted jobs."""
        return await self._model.last_runs(caller.org_id, schedule_ids) if schedule_ids else {}
