"""Estimates of a program on a case: how far its runs decide alike."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from plenum.dynamics.sequential import all_alike, modal_share
from plenum.execution.summarise import no_estimates
from plenum.records import Transcript


def estimates(completed: Sequence[Transcript]) -> dict[str, Any]:
    """Share of the modal decision with its confidence sequence, and pairwise disagreement."""
    options = [*completed[0].options, "none"]
    decided = Counter(t.decision if t.decision in options else "none" for t in completed)
    counts = [decided[option] for option in options]
    share, runs = max(counts) / len(completed), len(completed)
    low, high = modal_share(counts)
    metrics = {"share": share, "share_ci_low": low, "share_ci_high": high}
    if runs > 1:
        metrics["disagreement"] = 1 - all_alike(counts, 2)
    return {
        **no_estimates("program", f"share of the mode = {share:.3f} [{low:.3f}, {high:.3f}]"),
        "metrics": metrics,
        "interval": "confidence sequence",
    }
