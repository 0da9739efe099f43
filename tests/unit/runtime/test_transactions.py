"""What a transaction asks of the client while it is put together: each poll is a turn that other threads take."""

import pytest

from services.runtime import transactions
from services.runtime.settings import Settings
from services.runtime.transactions import RECORDS_A_POLL, Outgoing, PartitionTransactions

SETTINGS = Settings(kafka="", postgres="", registry="", blobs="")


class Client:
    """Stands for confluent_kafka's producer and notes what it is asked."""

    def __init__(self, _config: dict[str, object]) -> None:
        self.calls: list[str] = []

    def begin_transaction(self) -> None:
        """Begin."""
        self.calls.append("begin")

    def produce(self, *_record: object, headers: object) -> None:
        """Take a record."""
        self.calls.append("produce")

    def poll(self, _timeout: float) -> None:
        """Let go of the interpreter."""
        self.calls.append("poll")

    def commit_transaction(self, _timeout: float) -> None:
        """Commit."""
        self.calls.append("commit")


@pytest.mark.parametrize(("records", "polls"), [(1, 1), (RECORDS_A_POLL, 1), (RECORDS_A_POLL + 1, 2)])
def test_a_transaction_gives_the_interpreter_away_once_in_a_thousand_records(
    records: int, polls: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Client] = []

    def opened(config: dict[str, object]) -> Client:
        made.append(Client(config))
        return made[-1]

    monkeypatch.setattr(transactions, "Producer", opened)
    PartitionTransactions(SETTINGS, 0).write([Outgoing("events", 0, "org", b"value")] * records)

    [calls] = [client.calls for client in made if client.calls]
    assert (calls[0], calls[-1]) == ("begin", "commit")
    assert (calls.count("produce"), calls.count("poll")) == (records, polls)
