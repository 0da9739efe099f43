"""What a decider decided by at an earlier position is folded from the log again, exactly."""

import pytest
from msgspec.structs import replace

from services.decider.past import state_at
from services.ledger.explain import explain
from services.ledger.policy import Policy
from services.ledger.replies import Reason
from services.runtime.errors import LogGap
from services.runtime.registry import decoder
from services.runtime.settings import Settings
from tests.integration.decider.partitions import opened, registered, run_to_completion, submitted


@pytest.mark.kafka
def test_why_a_job_stood_where_it_stood_is_told_for_every_position(ledger: Settings) -> None:
    with opened(ledger) as partition:
        told = []
        commands = [replace(registered(), max_in_flight=1), submitted("j1"), submitted("j2"), *run_to_completion("j1")]
        for command in commands:
            offset = partition.decider.next_command
            partition.send(command)
            partition.until(lambda offset=offset: partition.decider.next_command > offset)  # type: ignore[misc]
            if "j2" in partition.decider.ledger.jobs:
                live = partition.decider.ledger
                told.append((live.position, explain(live, live.jobs["j2"])))
        decode = decoder(ledger)
        assert [why.reason for _, why in told] == [
            Reason.CAP,
            Reason.CAP,
            Reason.CLAIM,
            Reason.CLAIM,
        ]
        assert told[0][1].holders == ("j1",)
        for position, why in told:
            then = state_at(ledger, partition.number, decode, Policy(), position)
            assert explain(then, then.jobs["j2"]) == why
        with pytest.raises(LogGap, match="ends at position"):
            state_at(ledger, partition.number, decode, Policy(), told[-1][0] + 1)
