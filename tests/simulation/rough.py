"""What every fifth seed brings on top, drawn by a generator of its own: all other seeds stay what they were.

- A worker runs on, its tasks, claims and reports arrive, and for longer than a lease no sign of life of it does, nor a
  word to it that it has not asked for: it is given up, and may claim its own jobs once more while it is at them.
- Reports of workers land once more, seconds later, when their job may be somebody else's.
- ClickHouse takes no rows of its writers.
"""

from collections.abc import Mapping
from random import Random

from services.ledger.commands import AnnounceWorker, ReportProgress
from services.ledger.wire import COMMANDS, REPLIES
from tests.simulation.chaos import Chaos
from tests.simulation.life import Life

EVERY, LAST = 5, 4  # of five seeds the last
WORKERS = "worker-0", "worker-1"
ROUGH_SECONDS = 40.0  # from the start: most jobs run when the storm is over
SPELLS = 8  # of silence in one seed
SPELL_SECONDS = 5.0, 9.0  # longer than a lease
REPEATED = 0.5  # of all reports
REPEATED_AFTER_SECONDS = 0.3, 1.5, 4.0, 9.0
REFUSED = 0.4  # of all inserts of writers of ClickHouse


class Rough:
    """The rough side of a seed, for longer than its storm; of most seeds there is none."""

    def __init__(self, chaos: Chaos, seed: int = 0, boots: Mapping[str, Life] | None = None) -> None:
        self._random = Random(f"rough {seed}")  # repeatable on purpose
        self._chaos, self._boots = chaos, {} if boots is None else boots
        self._is_rough = seed % EVERY == LAST
        self._silences: list[tuple[str, float, float]] = []  # of which worker, from when to when, in seconds
        for _ in range(SPELLS):
            began = self._random.uniform(0.0, ROUGH_SECONDS)
            who = self._random.choice(WORKERS)
            self._silences.append((who, began, began + self._random.uniform(*SPELL_SECONDS)))

    def loses_sign(self, life: Life, command: bytes) -> bool:
        """Whether what a process sends is a sign of life that does not arrive."""
        lost = self._silent(life) and isinstance(COMMANDS.decode(command), AnnounceWorker)
        if lost:
            life.disturbed = True
            self._chaos.struck.append((self._chaos.now(), "command_not_landed", command))
        return lost

    def loses_word(self, reply: bytes) -> bool:
        """Whether a reply that nobody asked for does not arrive."""
        life = self._boots.get(REPLIES.decode(reply).requester) if self._on else None
        return life is not None and self._silent(life)

    def repeated_after(self, command: bytes) -> float:
        """In how many seconds a command lands once more; 0: it does not."""
        if not self._on or not isinstance(COMMANDS.decode(command), ReportProgress):
            return 0.0
        return self._random.choice(REPEATED_AFTER_SECONDS) if self._random.random() < REPEATED else 0.0

    def refuses_rows(self) -> bool:
        """Whether ClickHouse does not take what a writer inserts."""
        return self._on and self._random.random() < REFUSED

    @property
    def _on(self) -> bool:
        return self._is_rough and self._chaos.now() < ROUGH_SECONDS

    def _silent(self, life: Life) -> bool:
        now = self._chaos.now()
        return self._on and any(who == life.name and began <= now < ends for who, began, ends in self._silences)
