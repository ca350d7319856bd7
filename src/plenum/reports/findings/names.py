"""Names of conditions within sentences, by the factors in which they differ."""

from collections import Counter
from collections.abc import Iterable, Sequence

from plenum.design import FACTORS
from plenum.reports.phrases import join_items
from plenum.reports.rows import Row, list_varying_factors

_PROTOCOLS = {
    "deliberation": "deliberation",
    "no_feedback": "rounds without arguments",
    "one_shot": "a one-shot vote",
}


class Names:
    """Names for the conditions of a study, by the factors in which they differ."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._varying = list_varying_factors(rows)
        pairs = {(r.tracked.factors["protocol"], r.tracked.factors["rounds"]) for r in rows}
        # A protocol that has a number of rounds of its own says both.
        if "protocol" in self._varying and len(pairs) == len({protocol for protocol, _ in pairs}):
            self._varying = [name for name in self._varying if name != "rounds"]
        texts = [self._factors(row) for row in rows]
        self._twice = {text for text, times in Counter(texts).items() if times > 1}

    def __call__(self, row: Row) -> str:
        """Name a condition within a sentence: "HL-01 with roles on and model mixed"."""
        text = self._factors(row)
        if text not in self._twice:
            return text
        identity = row.tracked.identity
        return f"{text} ({identity})" if self._varying else f"condition {identity}"

    def at(self, row: Row) -> str:
        """Return a condition as a place: "in HL-01 with roles on"; empty for the only condition.

        It begins with a space, unless it is empty.
        """
        text = self(row)
        if not self._varying:
            return f" in {text}" if self._twice else ""
        return f" in {text}" if "scenario" in self._varying else f" with {text}"

    def each(self, rows: Iterable[Row]) -> list[str]:
        """Return the names of some conditions."""
        return [self(row) for row in rows]

    def _factors(self, row: Row) -> str:
        values = row.tracked.factors
        varied = [n for n in FACTORS if n in self._varying and n != "scenario"]
        parts = [_PROTOCOLS.get(values[n], f"{n} {values[n]}") for n in varied]
        if "scenario" in self._varying:
            return f"{values['scenario']} with {join_items(parts)}" if parts else values["scenario"]
        return join_items(parts) or "the only condition"
