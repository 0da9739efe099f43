"""How the ledger has a job while a call about it is answered: what a command names that is about this moment only."""

from api.operation import Call
from api.refused import accepted
from services.ledger.commands import ExplainJob
from services.ledger.replies import Explained


async def present(call: Call, job_id: str) -> Explained:
    """Return how a job stands, of which the read model may not know yet, or raise that there is none."""
    body = accepted(await call.parts.commander.ask(call.caller.partition, ExplainJob(job_id=job_id, **call.asks())))
    if not isinstance(body, Explained):
        raise RuntimeError(f"the ledger answered the question how a job stands with {body}")
    return body
