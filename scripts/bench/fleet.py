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

from functools import partial
from importlib import import_module
from typing import Any

from measuring import measure_parts

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
"""What the figures should be."""

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


def _measure(module: str, quick: bool) -> dict[str, Any]:
    figures: dict[str, Any] = import_module(module).measure(quick)
    return figures


if __name__ == "__main__":
    measure_parts(
        __doc__, {name: partial(_measure, module) for name, module in PARTS.items()}, TO_REACH
    )
