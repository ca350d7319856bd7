"""The names of conditions, the same wherever one is named, and the numbers behind their labels."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import yaml

from plenum.design.kinds import find_kind

_OUTSIDE = (
    "study", "replicates", "dry_run", "retry_failed", "calls", "budget", "prices",
    "journals", "tracking", "model", "durable",
)  # fmt: skip
"""Keys of a config that say nothing of a condition, or what its factors and seats say."""


def name_conditions(conditions: Sequence[Mapping[str, object]]) -> list[str]:
    """Name conditions by what varies among them, as in ``roles=on model=mixed``.

    Settings stand without their factor. Where nothing varies the factors name a condition that its
    tables begin with.

    Parameters
    ----------
    conditions
        The factors of each condition by name.
    """
    words = [_list_words(each, find_kind(each).distinct_factors) for each in conditions]
    shared = set.intersection(*map(set, words)) if words else set()
    return [
        " ".join(word for word in own if word not in shared)
        or " ".join(_list_words(each, find_kind(each).named_by))
        for each, own in zip(conditions, words, strict=True)
    ]


def tell_apart(
    conditions: Sequence[Mapping[str, object]],
    read: Callable[[int], tuple[Mapping[str, str], str]],
) -> list[dict[str, str]]:
    """Add to conditions of equal factors what differs between them: models, or other settings.

    Parameters
    ----------
    conditions
        The factors of each condition by name.
    read
        Takes the place of a condition, and returns the model of each seat, and its config as YAML,
        which is empty before its end.
    """
    told = [{name: str(level) for name, level in each.items()} for each in conditions]
    for places in _group_alike(told):
        seats = [read(at)[0] for at in places]
        # nothing is told of those that differ in nothing
        for at, models in zip(places, _list_differing(seats), strict=False):
            told[at]["model"] = _name_models(models, len(seats[0]))
    for places in _group_alike(told):  # those that the models didn't tell apart
        configs = [read(at)[1] for at in places]
        held = [_flatten(yaml.safe_load(text)) for text in configs] if all(configs) else []
        for at, differing in zip(places, _list_differing(held), strict=False):
            words = [f"{key.rpartition('.')[2]}={value}" for key, value in differing.items()]
            settings = told[at].get("settings", "default").removeprefix("default")
            told[at]["settings"] = " ".join([settings, *words]).strip()
    return told


def _group_alike(told: Sequence[Mapping[str, str]]) -> list[list[int]]:
    """List the places of conditions that have equal factors with others."""
    alike: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    for at, factors in enumerate(told):
        alike[tuple(factors.values())].append(at)
    return [places for places in alike.values() if len(places) > 1]


def _name_models(models: Mapping[str, str], seats: int) -> str:
    """Name the models that some seats have, without provider; one of all seats stands alone."""
    short = {seat: model.rpartition("/")[2] for seat, model in models.items()}
    if len(short) == seats and len({*short.values()}) == 1:
        return next(iter(short.values()))
    return "+".join(f"{seat}:{model}" for seat, model in short.items())


def _list_differing(each: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Reduce dictionaries to the keys in which they differ; none if they don't."""
    keys = dict.fromkeys(key for one in each for key in one)
    apart = [key for key in keys if len({str(one.get(key)) for one in each}) > 1]
    return [{key: one.get(key) for key in apart} for one in each] if apart else []


def _flatten(config: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    """Return the settings that may change an outcome by their dotted names, but for models."""
    found: dict[str, Any] = {}
    for key, value in config.items():
        if above or key not in _OUTSIDE:
            inner = _flatten(value, f"{above}{key}.") if isinstance(value, Mapping) else {}
            found |= inner or {f"{above}{key}": value}
    return found


def shorten_settings(settings: Sequence[str]) -> list[str]:
    """Leave out of each condition's settings what all have, as of ``agents=3 rerun=1``."""
    words = [_split_settings(each) for each in settings]
    shared = set.intersection(*map(set, words)) if len(set(settings)) > 1 else set()
    return [" ".join(w for w in own if w not in shared) or "default" for own in words]


def list_numbers(factors: Mapping[str, str]) -> dict[str, float]:
    """Return the numbers behind the labels of temperature and memory, by the names of settings."""
    labels = (
        ("protocol.window", "memory", int, "k"),
        ("sampling.temperature", "temperature", float, "t"),
    )
    return {
        setting: number(label.removeprefix(letter))
        for setting, factor, number, letter in labels
        if (label := str(factors.get(factor, ""))).startswith(letter)
    }


def _list_words(factors: Mapping[str, object], names: Iterable[str]) -> list[str]:
    """List the factors as words; settings are several, and need no factor."""
    words = []
    for name in names:
        settings = str(factors.get(name, "default")) if name == "settings" else "default"
        known = [f"{name}={factors[name]}"] if name in factors else []
        words += known if settings == "default" else _split_settings(settings)
    return words


def _split_settings(settings: str) -> list[str]:
    """Split settings that each say their name; others are words that belong together."""
    words = settings.split(" ")
    return words if all("=" in word for word in words) else [settings]
