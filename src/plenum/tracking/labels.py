"""What conditions and replicates are called in MLflow: names of runs, and params."""

from collections import Counter
from typing import Any

from plenum.design import kinds
from plenum.design.factors import USUAL


def name(condition: dict[str, Any]) -> str:
    """What the run of a condition is called in MLflow."""
    named: str = kinds.of_condition(condition).part("run_name")(condition)
    return named if condition["settings"] == "default" else f"{named} {condition['settings']}"


def factors(condition: dict[str, Any]) -> dict[str, Any]:
    """The factors of a condition, as the params of its runs name them."""
    named = {"protocol": USUAL["protocol"], **condition}
    return {key: named[key] for key in kinds.of_condition(condition).factors if key in named}


def variants(condition: dict[str, Any]) -> dict[str, str]:
    """How many wordings a perturbed condition has of each family."""
    families = Counter(family for _, family in condition.get("variants", ()))
    told = " ".join(f"{family}:{count}" for family, count in families.items())
    return {"variants": told} if families else {}


def wording(head: dict[str, Any]) -> dict[str, str]:
    """The wording that a replicate read, where the scenario is perturbed."""
    return {key: head[key] for key in ("variant", "family") if key in head}
