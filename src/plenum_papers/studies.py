"""The names of the papers' studies in a store: run here, or imported from the authors' runs."""

from collections.abc import Iterable

from plenum.tracking.study import exists

PUBLISHED = "published_"
"""The prefix of studies that were imported from the authors' released runs."""


def run_or_imported(names: Iterable[str], uri: str) -> dict[str, str]:
    """Map each study of the papers that a store has to its name there.

    One that hasn't been run may have been imported from the authors' released runs.
    """
    stored = {name: [n for n in (name, PUBLISHED + name) if exists(n, uri)] for name in names}
    return {name: there[0] for name, there in stored.items() if there}
