"""Many questions to one backend at once, and how Ctrl-C, SIGTERM or a refused key ends them.

The judge of meaning asks so; a sweep shares the handling of signals.
"""

import asyncio
import signal
import threading
from collections.abc import Coroutine, Iterable
from typing import Any

from plenum.base.errors import Stopped, UserError
from plenum.calls.budget import BudgetSpent
from plenum.calls.call_errors import CallError
from plenum.calls.caller import describe_bug
from plenum.calls.chat import ChatModel
from plenum.records.failures import Failure


def cancel_on_sigterm() -> None:
    """Make SIGTERM cancel the task that is running, so that all written files stay whole."""
    task = asyncio.current_task()
    assert task is not None
    # Python hands signals to the main thread alone; elsewhere, as in a notebook, that one ends.
    if threading.current_thread() is threading.main_thread():
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)


def classify_error(error: Exception) -> tuple[str, str]:
    """Return the outcome and the detail of a question whose call raised an error.

    Raises
    ------
    UserError, Stopped, OSError
        The error itself, where it ends the others too.
    """
    match error:
        case CallError():
            return str(error.failure), error.detail
        case BudgetSpent():
            return str(Failure.BUDGET), ""
        case UserError() | Stopped() | OSError():
            raise error
    return str(Failure.BUG), describe_bug(error)


def run_until_stopped(questions: Coroutine[Any, Any, None]) -> str:
    """Run questions on an event loop; return the reason if they ended early."""
    try:
        asyncio.run(questions)
    except (KeyboardInterrupt, asyncio.CancelledError):  # Ctrl-C, SIGTERM
        return str(Failure.INTERRUPTED)
    except Stopped as reason:
        return str(reason)
    return ""


async def run_together(calls: Iterable[Coroutine[Any, Any, Any]], model: ChatModel) -> None:
    """Run coroutines that call one backend; the first that stops ends the others.

    Raises
    ------
    Stopped, UserError
        As one of them did.
    """
    cancel_on_sigterm()
    try:
        async with asyncio.TaskGroup() as group:
            for call in calls:
                group.create_task(call)
    except* (Stopped, UserError) as stops:
        raise first_exception(stops) from None
    finally:
        await model.close()


def first_exception(group: BaseExceptionGroup[Any]) -> BaseException:
    """Return the first exception in nested groups."""
    inner = group.exceptions[0]
    return first_exception(inner) if isinstance(inner, BaseExceptionGroup) else inner
