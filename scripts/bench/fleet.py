"""Measure what scales beyond one machine.

    python scripts/bench/fleet.py [--only PART] [--quick]

- servers   whether a replicate keeps its server of three, also when another one dies
- batch     the price of batches, and what 20 kills lose or pay twice
- ray       two workers' efficiency, the bytes of 1, 2 and 4 workers, limits and the budget
- permits   permits a second that the sweep gives to its workers
- kills     workers, nodes and the coordinator are killed 40 times: what is lost or paid twice
- scale     composing 10,000 conditions, and sweeping them with PostgreSQL to their tables
- storage   second writers of a replicate, in a bucket and on a shared folder; seconds of a sweep
- tables    seconds and memory of the tables of 10,000 conditions of 20 replicates

`--quick` measures less of each. The last line is JSON with all figures.
"""

import argparse
import json
import os
import platform
from importlib import import_module
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

TO_REACH = {
    "efficiency_2": "≥ 0.85",
    "identical": "True",
    "worst_minute": "≤ 1.0",
    "budget_over": "0",
    "permits_per_s": "≥ 20,000",
    "lost": "0",
    "paid_twice": "0",
    "affinity": "1.0",
    "affinity_after_death": "≥ 0.99",
    "journals_equal": "True",
    "compose_10k_s": "≤ 60",
    "sweep_10k_s": "≤ 900",
    "batch_price_ratio": "0.5",
    "batch_lost": "0",
    "batch_paid_twice": "0",
    "fenced": "True",
    "journals_in_s3": "True",
    "tables_10k_s": "≤ 30",
    "tables_10k_mb": "≤ 1500",
}
"""The figures of issue 20; others that a part measures are printed beside them."""

PARTS = {
    "servers": "fleet_servers",
    "batch": "fleet_batch",
    "ray": "fleet_ray",
    "permits": "fleet_permits",
    "kills": "fleet_kills",
    "scale": "fleet_scale",
    "storage": "fleet_storage",
    "tables": "fleet_tables",
}
"""The module beside this one that measures each part."""


def main() -> None:
    """Measure, print a table for people, and one JSON line for machines."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", choices=PARTS, help="one part")
    parser.add_argument("--quick", action="store_true", help="a small part of each")
    given = parser.parse_args()
    figures: dict[str, Any] = {}
    for name, module in PARTS.items():
        if given.only in (None, name):
            print(f"{name} ...", flush=True)
            figures |= import_module(module).measure(given.quick)
    processor = platform.processor() or platform.machine()
    title = f"{processor}, {os.cpu_count()} cores, Python {platform.python_version()}"
    table = Table(box=box.SIMPLE_HEAD, title=title)
    for head in ("figure", "measured", "to reach"):
        table.add_column(head)
    for name, value in figures.items():
        table.add_row(name, str(value), TO_REACH.get(name, ""))
    Console(width=120).print(table)
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
