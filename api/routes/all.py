"""Every call of the API, in the order of the documentation."""

from api.operation import Operation
from api.routes import (
    call_limits,
    credentials,
    deliveries,
    destinations,
    erasure,
    explain,
    history,
    jobs,
    keys,
    openapi,
    org_credits,
    orgs,
    pausing,
    plans,
    publishing,
    results,
    schedule_fires,
    schedules,
    stream,
    submit,
    webhooks,
    workflows,
)

_SUBJECTS = (
    submit,
    jobs,
    stream,
    explain,
    deliveries,
    results,
    history,
    workflows,
    publishing,
    schedules,
    schedule_fires,
    plans,
    destinations,
    webhooks,
    credentials,
    keys,
    orgs,
    erasure,
    call_limits,
    pausing,
    org_credits,
)
DESCRIBED: tuple[Operation, ...] = tuple(operation for subject in _SUBJECTS for operation in subject.OPERATIONS)
OPERATIONS: tuple[Operation, ...] = (*DESCRIBED, openapi.operation_for(DESCRIBED))
