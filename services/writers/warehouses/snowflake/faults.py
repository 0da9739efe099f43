"""What an error of Snowflake's connector means to the writer: no message of it is passed on whole."""

from snowflake.connector import errors

from services.writers.warehouses.piecewise import DataFault
from services.writers.warehouses.warehouse import Refusal
from services.writers.writer import DestinationDown

# Error numbers of Snowflake's servers, as its drivers name them.
LOGIN_REFUSED = range(390_100, 390_400)
SESSION_GONE = frozenset({390_104, 390_110, 390_111, 390_112, 390_114, 390_195})  # log in again
NO_RIGHTS, NOT_THERE = 3001, 2003  # Snowflake also says 2003 of what the role may not see
NO_WAREHOUSE = 606  # none is active in the session: it is suspended, or may not be used
QUOTA = 90_073  # a resource monitor does not let the warehouse go on
CONNECTION_REFUSED = 250_001  # the account name is wrong, or the network policy keeps us out


def fault_of(error: errors.Error) -> Exception:
    """Return what to raise for an error."""
    number, state = error.errno or -1, error.sqlstate or ""
    said = f"Snowflake error {number:06d} ({state or '-'})"
    if number in SESSION_GONE:
        return DestinationDown(f"{said}: the session is over")
    if number in LOGIN_REFUSED:
        return Refusal(f"{said}: the login was refused; check account, user, role and the secret")
    if isinstance(error, errors.ForbiddenError):
        return Refusal(f"{said}: the account refused the connection; check account, host and its network policy")
    if number == QUOTA:
        return Refusal(f"{said}: a resource monitor stopped the warehouse; raise its quota")
    if number == NO_WAREHOUSE:
        return DestinationDown(f"{said}: the warehouse is suspended, or the role may not use it")
    if state.startswith("22") or isinstance(error, errors.DataError | errors.IntegrityError):
        return DataFault(f"{said}: {_about_data(number)}")
    if number in (NO_RIGHTS, NOT_THERE) or state.startswith(("42", "02", "28")):
        return Refusal(f"{said}: check that database, schema and table are there, and what the role may do with them")
    return DestinationDown(f"{said}: {type(error).__name__}")


def _about_data(number: int) -> str:
    match number:
        case 100_069:
            return "a value is no JSON that Snowflake takes"
        case 100_078:
            return "a text is longer than its column takes"
        case _:
            return "a value does not fit its column"
