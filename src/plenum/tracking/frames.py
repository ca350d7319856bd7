"""What journals of every kind give: a table of replicates, and the environments they name."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from plenum.base.identity import digest
from plenum.records import Transcript


def replicates(transcripts: Sequence[Transcript]) -> pd.DataFrame:
    """One row a replicate: status, reason, decision, clerk, wording, environment, totals."""
    rows = []
    for t in transcripts:
        end = t.end or {}
        rows.append(
            {
                "replicate": t.head["replicate"],
                "status": t.status,
                "reason": t.reason or "",
                "decision": t.decision or "",
                "clerk_agrees": end.get("clerk_agrees"),
                "variant": t.head.get("variant", ""),
                "family": t.head.get("family", ""),
                "environment": " ".join(environments([t])),
                **t.totals(),
            }
        )
    return pd.DataFrame(rows)


def environments(transcripts: Sequence[Transcript]) -> dict[str, dict[str, Any]]:
    """The environments that journals name, by digest, in the order in which they occur.

    A journal names one in its head, and another where it goes on in another one.
    """
    named = [e.get("environment") for t in transcripts for e in (t.head, *t.entries)]
    return {digest(environment): dict(environment) for environment in named if environment}
