"""Whatever production code asks of confluent_kafka, where the simulation stands in, the simulation has."""

import ast
import inspect
from types import ModuleType

import confluent_kafka
import pytest

from services.runtime import ends, producer, reader, transactions
from tests.simulation.consumer import Consumer
from tests.simulation.producers import PlainProducer, TransactionalProducer


def public(kind: type) -> set[str]:
    """Return the public methods of a class."""
    return {name for name in dir(kind) if not name.startswith("_")}


def called(module: ModuleType) -> set[str]:
    """Return the names of all methods that a module calls on something else than its own objects."""
    calls = (node.func for node in ast.walk(ast.parse(inspect.getsource(module))) if isinstance(node, ast.Call))
    return {each.attr for each in calls if isinstance(each, ast.Attribute) and ast.unparse(each.value) != "self"}


@pytest.mark.parametrize(
    ("modules", "real", "simulated", "at_least"),
    [
        ([transactions], confluent_kafka.Producer, TransactionalProducer, {"init_transactions", "commit_transaction"}),
        ([producer], confluent_kafka.Producer, PlainProducer, {"produce", "poll", "purge"}),
        ([reader, ends], confluent_kafka.Consumer, Consumer, {"assign", "consume", "offsets_for_times"}),
    ],
)
def test_the_simulation_has_every_call_that_is_made(
    modules: list[ModuleType], real: type, simulated: type, at_least: set[str]
) -> None:
    asked = {name for module in modules for name in called(module)} & public(real)
    assert asked >= at_least
    assert asked <= public(simulated)
