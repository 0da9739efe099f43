"""The process that verifies the ledger all the while: `python -m projections.verification`."""

from functools import partial

from projections.verification.watching import Watch, take_least_priority
from projections.verify import verify
from services.runtime.health import Health
from services.runtime.health_server import serve
from services.runtime.process import run
from services.runtime.settings import Settings

SERVICE = "verification"


async def main(settings: Settings) -> None:
    """Verify until cancelled."""
    take_least_priority()
    health = Health(SERVICE)
    server = await serve(settings, health)
    try:
        await Watch(partial(verify, settings), settings.verify_pause_seconds, health.part(SERVICE)).run()
    finally:
        await server.close()


if __name__ == "__main__":
    run(main, SERVICE)
