"""The verdict on a suite, with what else was asked, as reports take it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plenum.show.table import Table
from plenum_verdicts.suites.assessment import SuiteAssessment


@dataclass(frozen=True)
class SuitePart:
    """A further answer about a suite.

    Attributes
    ----------
    name
        Its name in the JSON.
    held
        What the JSON has of it.
    lines
        What is printed of it, in sentences.
    status
        The exit status, if this part decides it.
    table
        Printed before the sentences.
    draw
        Draws it in a folder, and returns the files.
    """

    name: str
    held: Mapping[str, Any]
    lines: tuple[str, ...]
    status: int | None = None
    table: Table | None = None
    draw: Callable[[Path], list[Path]] | None = None


@dataclass(frozen=True)
class SuiteReport:
    """The verdict on all cases of a suite together.

    Attributes
    ----------
    sentences
        What is shown of the suite, the verdict first.
    parts
        What else was asked.
    """

    found: SuiteAssessment
    sentences: tuple[str, ...]
    parts: tuple[SuitePart, ...] = ()

    def status(self, undecided: str | None) -> int:
        """Return the exit status: that of the part that decides it, or of the verdict."""
        decided = [part.status for part in self.parts if part.status is not None]
        return decided[0] if decided else self.found.status(undecided)
