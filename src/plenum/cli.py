"""What the front doors share: exit statuses, and errors in one line."""

import os
import re
import sys
from collections.abc import Callable

from plenum.errors import Stopped, UserError

OK, FAILED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130


def front_door(main: Callable[[], object]) -> int:
    """Run a Hydra app and turn what a user can cause into one line and an exit status.

    Returns
    -------
    int
        0; 1 where something failed; 2 for bad input; 130 after Ctrl-C. A bug keeps its traceback.
        ``HYDRA_FULL_ERROR=1`` shows the traceback of every error.
    """
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException

    full = os.environ.get("HYDRA_FULL_ERROR") == "1"
    os.environ["HYDRA_FULL_ERROR"] = "1"  # Hydra then raises instead of printing and exiting
    try:
        main()
    except (UserError, HydraException, OmegaConfBaseException) as error:
        if full:
            raise
        return _say(f"error: {one_line(error)}", BAD_INPUT)
    except Stopped as error:
        return _say(f"stopped: {error}; the same command continues from here", FAILED)
    except KeyboardInterrupt:
        return _say("interrupted: every finished turn is kept; the same command continues from "
                    "here", INTERRUPTED)  # fmt: skip
    return OK


def one_line(error: BaseException) -> str:
    """An error's message without Hydra's and OmegaConf's trailing context."""
    text = str(error)
    for tail in ("\nConfig search path", "\nSet the environment variable HYDRA_FULL_ERROR"):
        text = text.partition(tail)[0]
    text = re.sub(r"\n\s*(full_key|object_type|reference_type)[:=].*", "", text)
    options = re.sub(r"\n\t", ", ", text).replace(":, ", ": ")
    return " ".join(options.split())


def _say(line: str, status: int) -> int:
    print(line, file=sys.stderr)
    return status
