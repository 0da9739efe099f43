"""What is said in a few words of deliveries: what arrived where, or the error. Pure."""

from collections.abc import Sequence
from typing import Protocol


class Arrival(Protocol):
    """A delivery, as far as it says where its rows are."""

    @property
    def destination_id(self) -> str:
        """Where it goes."""

    @property
    def rows(self) -> int | None:
        """How many rows arrived; None: it has not arrived."""

    @property
    def place(self) -> str | None:
        """Where they are."""


class Delivered(Arrival, Protocol):
    """A delivery with its status and its last error."""

    @property
    def kind(self) -> str:
        """Of which kind its destination is."""

    @property
    def status(self) -> str:
        """One of requested, waiting, acked, dead_lettered, waived."""

    @property
    def error_type(self) -> str | None:
        """Why its last try failed."""

    @property
    def error_message(self) -> str | None:
        """The same, in words."""


def arrived(delivery: Arrival) -> str:
    """Say what arrived where, such as `1240 -> mydb.items`."""
    return f"{delivery.rows} -> {delivery.place or delivery.destination_id}"


def delivered(deliveries: Sequence[Delivered]) -> str | None:
    """Say of the newest delivery to each destination what arrived, or its error; None: nothing was to be delivered."""
    return "; ".join(_said(each) for each in deliveries if ":" not in each.destination_id) or None  # others are notices


def _said(delivery: Delivered) -> str:
    if delivery.rows is not None and delivery.kind == "webhook":
        return f"{delivery.destination_id}: told"
    if delivery.rows is not None:
        return arrived(delivery)
    where = delivery.place or delivery.destination_id
    error = delivery.error_message or delivery.error_type
    if error:
        return f"{where}: {error}" + ("" if delivery.status == "dead_lettered" else " (it is tried again)")
    return f"{where}: {'given up' if delivery.status in ('dead_lettered', 'waived') else 'under way'}"
