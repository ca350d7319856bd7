"""The servers that answered."""

from collections import Counter
from collections.abc import Sequence

import pandas as pd

from plenum.reports.accounting.common import make_rows
from plenum.reports.notes import write_notes
from plenum.show.formats import format_count
from plenum.show.table import Column, Table
from plenum.tracking.usage import ConditionUsage


def tabulate_servers(usages: Sequence[ConditionUsage]) -> list[Table]:
    """Make the table with one line a server; none if there was only one."""
    table = server_frame(usages)
    if table.empty:
        return []
    by_server = table.groupby("server", as_index=False).agg(
        calls=("calls", "sum"), replicates=("replicates", "sum"), conditions=("condition", "count")
    )
    columns = (
        Column("server", key=True),
        *(Column(name, format=format_count) for name in ("calls", "replicates", "conditions")),
    )
    split = sum(m.get("split", 0) for usage in usages for m in (usage.models or {}).values())
    facts = {"split": split}
    below = write_notes("accounting_servers", make_rows(usages), **facts)
    return [Table("accounting_servers", "Calls by server", by_server, columns, below)]


def server_frame(usages: Sequence[ConditionUsage]) -> pd.DataFrame:
    """Make the frame of condition and server: calls, and replicates with most calls there.

    Empty if one server, or one engine of this machine, answered all.
    """
    names = ["condition", "server", "calls", "replicates"]
    records = [
        {"condition": usage.tracked.identity, "server": server, **taken}
        for usage in usages
        for server, taken in _count_taken(usage).items()
    ]
    several = len({record["server"] for record in records}) > 1
    return pd.DataFrame(records if several else [], columns=names).convert_dtypes()


def _count_taken(usage: ConditionUsage) -> dict[str, Counter[str]]:
    """Count calls and replicates by server, over all models."""
    taken: dict[str, Counter[str]] = {}
    for model in (usage.models or {}).values():
        for server, counts in model.get("servers", {}).items():
            taken.setdefault(server, Counter()).update(counts)
    return taken
