"""The frame of every process: settings, logs, signals, exit code."""

import asyncio
import gc
import logging
import os
import signal
import sys
import threading
from collections.abc import Awaitable, Callable
from typing import NoReturn

import uvloop

from services.runtime import logs, tracing
from services.runtime.errors import RuntimeFault, SettingsError
from services.runtime.settings import Settings, settings_from

log = logging.getLogger(__name__)
STOP_SECONDS = 10.0  # from the first signal until the process leaves, clean or not
CLEAN, FAULT, BAD_SETTINGS = 0, 1, 78  # 78: EX_CONFIG of sysexits.h
Main = Callable[[Settings], Awaitable[None]]


def run(main: Main, service: str = "") -> NoReturn:
    """Run `main` until it returns, fails, or SIGTERM or SIGINT cancels it; then leave the process.

    Exit code 0: it returned or stopped cleanly. 1: it failed, or did not stop within 10 s of the signal.
    78: a setting is bad, restarting does not help. Any code but 0 comes with one JSON line on stderr that says why.
    """
    sys.exit(_exit_code(main, service or _service_of_program()))


def _exit_code(main: Main, service: str) -> int:
    try:
        logs.log_uncaught()
        logs.setup_plain("INFO", service)
        settings = settings_from(os.environ)
        logs.setup(settings, service)
        gc.freeze()  # what was imported stays: looking through it for garbage held a loop up for 100 ms at a time
        telling = tracing.telling(settings, service)
        with telling, asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(_until_signal(main, settings))
    except Exception as error:
        if settings_error := _settings_error_in(error):
            log.critical("bad settings", extra={"error": str(settings_error)})
            return BAD_SETTINGS
        log.critical("process failed", exc_info=error)
        return FAULT
    return CLEAN


async def _until_signal(main: Main, settings: Settings) -> None:
    loop = asyncio.get_running_loop()
    task = asyncio.ensure_future(main(settings))
    signalled = asyncio.Event()

    def stop() -> None:
        if not signalled.is_set():
            signalled.set()
            _leave_within(STOP_SECONDS)
            task.cancel()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)
    try:
        await task
    except asyncio.CancelledError:
        if not signalled.is_set():
            raise RuntimeFault("main was cancelled, but not by a signal") from None
    finally:
        if not signalled.is_set():
            _leave_within(STOP_SECONDS)  # whatever threads main has left behind


def _leave_within(seconds: float) -> None:
    """Leave the process after that time from a thread of its own: the event loop may be blocked by then."""
    watchdog = threading.Timer(seconds, _leave_at_once)
    watchdog.daemon = True
    watchdog.start()


def _leave_at_once() -> None:
    log.critical("process did not stop in time", extra={"seconds": STOP_SECONDS})
    logging.shutdown()
    os._exit(FAULT)


def _settings_error_in(error: BaseException) -> SettingsError | None:
    """Find a SettingsError that a group of tasks has wrapped."""
    if isinstance(error, SettingsError):
        return error
    if isinstance(error, BaseExceptionGroup):
        return next(filter(None, map(_settings_error_in, error.exceptions)), None)
    return None


def _service_of_program() -> str:
    """Return the last word of the package that was run with `python -m`."""
    spec = getattr(sys.modules["__main__"], "__spec__", None)
    return (spec.parent or "").rpartition(".")[2] if spec else "jobledger"
