"""What conditions and replicates are called in MLflow: names of runs, and params."""

from collections import Counter
from typing import Any

from plenum.design.factors import FACTORS, USUAL, WORLD_FACTORS


def name(condition: dict[str, Any]) -> str:
    """What the run of a condition is called in MLflow."""
    if "task" in condition:
        return _world_name(condition)
    keys = ("scenario", "roles", "model", "memory", "temperature")
    parts = [str(condition[key]) for key in keys]
    optional = ("perturbation", "protocol")
    parts += [str(condition[k]) for k in optional if condition.get(k, USUAL[k]) != USUAL[k]]
    name = " ".join(parts)
    return name if condition["settings"] == "default" else f"{name} {condition['settings']}"


def _world_name(condition: dict[str, Any]) -> str:
    """The name of a condition in a world; a scripted policy stands for agents and their roles."""
    asked = condition["policy"] == "agents"
    keys = ("consensus", "diversity") if asked else ("consensus", "policy")
    parts = [condition["task"], *(condition[key] for key in keys), condition["volatility"]]
    parts += [f"N{condition['agents']}", condition["model"]]
    name = " ".join(map(str, parts))
    return name if condition["settings"] == "default" else f"{name} {condition['settings']}"


def factors(condition: dict[str, Any]) -> dict[str, Any]:
    """The factors of a condition, as the params of its runs name them."""
    named = {"protocol": USUAL["protocol"], **condition}
    return {
        **{key: named[key] for key in FACTORS},
        **{key: named[key] for key in WORLD_FACTORS if key in named},
    }


def variants(condition: dict[str, Any]) -> dict[str, str]:
    """How many wordings a perturbed condition has of each family."""
    families = Counter(family for _, family in condition.get("variants", ()))
    told = " ".join(f"{family}:{count}" for family, count in families.items())
    return {"variants": told} if families else {}


def wording(head: dict[str, Any]) -> dict[str, str]:
    """The wording that a replicate read, where the scenario is perturbed."""
    return {key: head[key] for key in ("variant", "family") if key in head}
