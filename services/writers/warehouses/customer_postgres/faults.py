"""What an error of a customer's Postgres means: class and SQLSTATE are told, never the text, which may quote data."""

import psycopg

from services.writers.warehouses.piecewise import DataFault
from services.writers.warehouses.warehouse import Refusal
from services.writers.writer import DestinationDown

DATA = ("22", "23", "54")  # classes of SQLSTATE: data exception, constraint, program limit
RAISED = ("P0001", "P0004")  # by a trigger of the owner's, which refuses rows as a constraint does
ADVICE = {
    "28": "check user and password, and that the server lets this user in from here",
    "3D": "there is no such database: make it, or correct the destination",
    "3F": "there is no such schema: make it, or correct the destination",
    "42501": "grant the user CREATE on the schema, and all on the table and on those that begin with its name",
    "42": "the table is not as the writer knows it: has it been changed?",
    "0A": "the table is of a kind that cannot be written to",
}
# Before anybody is let in libpq tells no SQLSTATE, only what the server says: in English, unless it is set otherwise.
SAID = {
    "password authentication failed": "28",
    "no pg_hba.conf entry": "28",
    "role ": "28",
    "no password supplied": "28",
    "authentication failed": "28",
    "database ": "3D",
}


def fault_of(error: psycopg.Error) -> Exception:
    """Return what is raised instead of an error of psycopg."""
    state = error.sqlstate or ""
    name = f"Postgres: {type(error).__name__} {state}".rstrip()
    if state[:2] in DATA or state in RAISED or (not state and isinstance(error, psycopg.DataError)):
        return DataFault(f"{name}: a value does not fit its column, or a constraint or trigger of the table")
    advice = ADVICE.get(state) or ADVICE.get(state[:2])
    return Refusal(f"{name}: {advice}") if advice else DestinationDown(name)


def connect_fault_of(error: psycopg.Error) -> Exception:
    """Return what is raised where no connection came about."""
    if error.sqlstate:
        return fault_of(error)
    said = str(error).partition("FATAL:")[2].strip()
    for begins, state in SAID.items():
        if said.startswith(begins) or (begins.endswith("failed") and begins in said):
            return Refusal(f"Postgres lets the writer not in: {ADVICE[state]}")
    if "does not support SSL" in str(error):
        return Refusal("Postgres offers no TLS: set it up there, or set sslmode of the destination to prefer")
    if "certificate" in str(error):
        return Refusal("the certificate of Postgres is not one for its host by a known authority: see sslmode")
    return DestinationDown("no connection to Postgres came about")
