"""Plan and credits of an org, from the read model, those of the caller's org alone."""

from api.auth import Caller
from projections.postgres.read import ReadModel
from projections.postgres.usage import Transaction, Usage


class UsageOfOrgs:
    """What the caller's org has, had and spent."""

    def __init__(self, model: ReadModel) -> None:
        self._model = model

    async def now(self, caller: Caller) -> Usage:
        """Return plan and balance as far as they are folded."""
        return await self._model.usage(caller.org_id) or Usage(caller.org_id, caller.partition)

    async def page(self, caller: Caller, before: int, limit: int) -> list[Transaction]:
        """Return the newest transactions whose position is below `before`."""
        return await self._model.transactions(caller.org_id, before, limit)
