"""The tracking process: reads requests, one JSON object a line, and writes them to MLflow.

It runs beside the deliberations, on another core, so that neither MLflow's import nor its writes
ever hold up a call. It answers every request with one line, ``{"done": true}`` or
``{"error": ...}``, and ends when its input ends: a killed parent loses nothing of what it has asked
for.
"""

import base64
import json
import pickle
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plenum.base.errors import UserError
from plenum.base.processes import say, step_back
from plenum.tracking import store

if TYPE_CHECKING:
    from plenum.tracking.writer import StudyWriter


class _Study:
    """A writer that is opened at the first request, and given up when its store is gone."""

    def __init__(self, setup: dict[str, Any]) -> None:
        self._setup = setup
        self._writer: StudyWriter | None = None
        self._gone: str | None = None
        self._conditions: dict[str, dict[str, Any]] = {}

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Handle a request, and say how it went."""
        if self._gone is None:
            try:
                self._handle(request)
                return {"done": True}
            except UserError as error:
                self._gone = str(error)
            except Exception as error:  # the parent names it at the end
                self._gone = self._why_gone()
                if self._gone is None:
                    return {"error": f"{type(error).__name__}: {error}"}
        return {"error": self._gone}

    @property
    def writer(self) -> "StudyWriter":
        """The writer; MLflow is imported only here."""
        if self._writer is None:
            from plenum.tracking.writer import StudyWriter

            setup = self._setup
            self._writer = StudyWriter(setup["uri"], setup["study"], setup["version"])
        return self._writer

    def _why_gone(self) -> str | None:
        """Why no further request can be written: a server would be waited for at each of them."""
        try:
            store.check(self._setup["uri"], thorough=True)
        except UserError as gone:
            return str(gone)
        return None

    def _handle(self, request: dict[str, Any]) -> None:
        match request["op"]:
            case "open":
                condition = request["condition"]
                self._conditions[condition["cell"]] = condition
                self.writer.open(condition, request["target"])
            case "replicate":
                condition = self._conditions[request["cell"]]
                self.writer.replicate(
                    condition, Path(request["journal"]), request["effort"], request["pending"]
                )
            case "close":
                self.writer.close(
                    self._conditions[request["cell"]],
                    [Path(journal) for journal in request["journals"]],
                    request["estimates"],
                    request["config"],
                )
            case "trace":
                journals = [Path(journal) for journal in request["journals"]]
                rebuild = pickle.loads(base64.b64decode(request["rebuild"]))
                try:
                    self.writer.trace(self._conditions[request["cell"]], journals, rebuild)
                except NotImplementedError as old:  # a server from before traces had spans
                    say({"note": f"no traces, see tracking.traces: {old}"})
            case "account":
                self.writer.account(self._conditions[request["cell"]], request["accounts"])


def main() -> None:
    """Serve requests from standard input until it ends."""
    step_back()
    setup = json.loads(sys.stdin.readline())
    lock = Path(setup["lock"])
    lock.parent.mkdir(parents=True, exist_ok=True)
    waiting = {"note": f"another process still writes study {setup['study']} to MLflow; waiting"}
    with store.locked(lock, lambda: say(waiting)):
        study = _Study(setup)
        for line in sys.stdin:
            say(study.answer(json.loads(line)))


if __name__ == "__main__":
    main()
