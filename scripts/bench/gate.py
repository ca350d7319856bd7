"""Measure what a gate in CI stands on: verdicts that can't be fooled, the same numbers anywhere.

    python scripts/bench/gate.py [--only PART] [--quick]

- elsewhere   the tests that fail under other processors' kernels, without a terminal, in odd paths
- intervals   how far limits move between float32 and float64 at 4 to 8 replicates
- lookalikes  coin flips between options that look alike: how many are called stable
- unrun       audits that are stopped in a dozen ways: how many pass without a run in each case
- seeds       coins of 0.80 audited with ten seeds: how many are called stable
- retries     as it, a program that hangs in 40 % of runs, and ten tries to take failures up again
- key         a program under audit reads /proc for the key: how often a child of plenum shows it
- logs        seconds and memory of a verdict on 200,000 logged runs
- screen      lines that `make run` leaves on a screen of 80 columns

`--quick` measures less of each. The last line is JSON with all figures.
"""

from functools import partial
from importlib import import_module
from typing import Any

from measuring import measure_parts

TO_REACH = {
    "suite_elsewhere": "0 in all",
    "bca_jump": "≤ 1e-5",
    "lookalikes_stable": "0",
    "gate_passes_unrun": "0",
    "false_stable_seeds": "≤ 0.05",
    "false_stable_retries": "≤ 0.05",
    "key_readable": "0",
    "logs_200k_s": "≤ 20",
    "logs_200k_mb": "≤ 1500",
    "screen_lines": "≤ 45",
}
"""What the figures should be."""

PARTS = (
    "elsewhere",
    "intervals",
    "lookalikes",
    "unrun",
    "seeds",
    "retries",
    "key",
    "logs",
    "screen",
)
"""Modules of the folder ``gates`` that measure each part."""


def _measure(module: str, quick: bool) -> dict[str, Any]:
    figures: dict[str, Any] = import_module(f"gates.{module}").measure(quick)
    return figures


if __name__ == "__main__":
    measure_parts(__doc__, {part: partial(_measure, part) for part in PARTS}, TO_REACH)
