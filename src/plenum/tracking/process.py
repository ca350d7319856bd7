"""The tracking process: reads requests, one JSON object a line, and writes them to MLflow.

It runs beside the deliberations, on another core, so that neither MLflow's import nor its writes
ever hold up a call. It answers every request with one line, ``{"done": n}`` or ``{"error": ...}``,
and ends when its input ends: a killed parent loses nothing of what it has asked for.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

from plenum.tracking import store


class _Study:
    """A writer that is opened at the first request, and holds the study's lock."""

    def __init__(self, setup: dict[str, Any]) -> None:
        from plenum.tracking.writer import StudyWriter

        self.writer = StudyWriter(setup["uri"], setup["study"], setup["version"])
        self._conditions: dict[str, dict[str, Any]] = {}

    def handle(self, request: dict[str, Any]) -> None:
        match request["op"]:
            case "open":
                condition = request["condition"]
                self._conditions[condition["cell"]] = condition
                self.writer.open(condition, request["target"])
            case "replicate":
                condition = self._conditions[request["cell"]]
                self.writer.replicate(condition, Path(request["journal"]), request["effort"])
            case "close":
                self.writer.close(
                    self._conditions[request["cell"]],
                    [Path(journal) for journal in request["journals"]],
                    request["estimates"],
                    request["config"],
                )


def main() -> None:
    """Serve requests from standard input until it ends."""
    setup = json.loads(sys.stdin.readline())
    lock = Path(setup["lock"])
    lock.parent.mkdir(parents=True, exist_ok=True)
    with store.locked(lock):
        study: _Study | None = None
        for number, line in enumerate(sys.stdin):
            try:
                study = study or _Study(setup)
                study.handle(json.loads(line))
                answer: dict[str, Any] = {"done": number}
            except Exception as error:  # told to the parent, which names it at the end
                answer = {"error": f"{type(error).__name__}: {error}", "request": number}
            try:
                print(json.dumps(answer), flush=True)
            except BrokenPipeError:
                # The parent is gone; what it asked for is written all the same.
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    main()
