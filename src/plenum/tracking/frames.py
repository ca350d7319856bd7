"""What journals of every kind give: a table of replicates."""

from collections.abc import Sequence

import pandas as pd

from plenum.records import Transcript
from plenum.records.transcript import environments


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
