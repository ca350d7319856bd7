"""The names of conditions, the same wherever one is named, and the numbers behind their labels."""

from collections.abc import Iterable, Mapping, Sequence

from plenum.design.kinds import find_kind


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
