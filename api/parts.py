"""What the handlers work with, put together once in the composition root."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field

from api.auth import Keyring
from api.config.store import Pool
from api.exports.room import Room
from api.fires import Fires
from api.history import History
from api.limits import Limiter
from api.lookup import Jobs
from api.streams import Streams
from api.usage import UsageOfOrgs
from services.runtime.blob import BlobStore
from services.runtime.commander import Asker
from services.runtime.health import Health
from services.runtime.settings import Settings
from services.runtime.shredding.store import JobKeys
from services.workers.modules.protocol import Module
from services.workers.modules.registry import modules

ARCHIVES_AT_ONCE = 2  # that are unpacked and loaded: each takes a processor and some hundred MiB


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of one API process."""

    settings: Settings
    pool: Pool  # config and extraction schemas
    keyring: Keyring
    limiter: Limiter
    commander: Asker
    keys: JobKeys
    jobs: Jobs
    fires: Fires
    usage: UsageOfOrgs
    history: History
    streams: Streams
    blobs: BlobStore
    health: Health
    looking_through: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(ARCHIVES_AT_ONCE))
    workbooks: Room = field(default_factory=Room)
    modules: Mapping[str, Module] = field(default_factory=modules)
