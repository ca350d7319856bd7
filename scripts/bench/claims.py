"""Measure how often claims about decisions and divergence are wrong, and how often they are found.

    python scripts/bench/claims.py [--only PART] [--quick] [published=CLONE]

- decision_size   rejections at 5 % of every test of decisions where there is nothing to find, with
                  5, 10 and 20 replicates an arm and with 20 against 8; the worst of all
- decision_power  how often .95 against .70 is found with 20 against 20: by the test of all shares,
                  by Fisher's exact test on the mode, and by the test of disagreement
- decision_cover  how often 95 % intervals hold; the worst and the mean. Rejections of equal
                  disagreement under laws that differ
- rules           rejections at 5 % where a rule changes no disagreement, and how often intervals of
                  its change hold, over twelve conditions of 10 and 20 runs; the worst
- jump_size       rejections at 5 % of contrasts of λ̂ where both conditions are one process that
                  jumps, with 5 to 20 replicates and unequal arms: of all, and of those that are
                  shown; how many aren't; means over scenarios
- jump_cover      how often an interval of λ̂ holds where it is shown, by process and replicates, of
                  jumps and of smooth processes; how often it holds or is refused where a replicate
                  jumped within the fit; how often it misses since none did; rejections of true
                  hypotheses
- models          which model of growth is told, rightly and wrongly, at 10 and 20 replicates
- published       how many released values and claims are recomputed, explained and decided; how
                  many rules are evaluated in all conditions of the released runs, and the
                  seconds of that; needs published=CLONE, a clone of the released runs

A part is a function of whether a small part of it is enough, and returns its figures by name: add
it to `PARTS`, and what is to be reached to `TO_REACH`. The last line is JSON with all figures.
"""

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from claims_decisions import measure_cover, measure_power, measure_size
from claims_jumps import measure_jump_cover, measure_jump_size
from claims_models import measure_models
from claims_published import measure_published
from claims_rules import measure_rules
from measuring import measure_parts

_NAMED = "published="

CLONES = [Path(word.removeprefix(_NAMED)) for word in sys.argv[1:] if word.startswith(_NAMED)]
"""The clone of the released runs, where one is named."""

PARTS: dict[str, Callable[[bool], dict[str, Any]]] = {
    "decision_size": measure_size,
    "decision_power": measure_power,
    "decision_cover": measure_cover,
    "rules": measure_rules,
    "jump_size": measure_jump_size,
    "jump_cover": measure_jump_cover,
    "models": measure_models,
    "published": partial(measure_published, CLONES[-1] if CLONES else None),
}

TO_REACH = {
    "decision_size": "<= .06",
    "decision_power": ">= Fisher's",
    "decision_cover": ">= .93",
    "rule_size": "<= .06",
    "rule_cover": ">= .93",
    "jump_size": "<= .06",
    "jump_cover": ">= .93",
    "smooth_kept": ">= .9",
    "smooth_cover": ">= .93",
    "models_wrong": "<= .05",
    "compared": ">= 660",
    "unexplained": "0",
    "claims_undecided": "0",
    "rules_s": "<= 60",
}

if __name__ == "__main__":
    sys.argv[1:] = [word for word in sys.argv[1:] if not word.startswith(_NAMED)]
    measure_parts(__doc__, PARTS, TO_REACH)
