"""Settings as parts of an identity, and as names in factors and lines."""

import dataclasses
from collections.abc import Sequence
from typing import Any


def format_value(value: Any) -> str:
    """Format a setting's value for a line of settings."""
    return f"{value:g}" if isinstance(value, float) else str(value)


def list_changed_settings(
    parts: Sequence[Any], *, except_for: Sequence[str] = (), defaults: dict[str, Any] | None = None
) -> list[str]:
    """List settings off their defaults that no factor names, as ``key=value``.

    Parameters
    ----------
    parts
        Dataclasses of settings.
    except_for
        Settings that factors name, besides the temperature.
    defaults
        Defaults that differ from the dataclasses', by name.
    """
    named = ("name", "temperature", "api_base", *except_for)
    return [
        f"{field.name}={format_value(getattr(part, field.name))}"
        for part in parts
        for field in dataclasses.fields(part)
        if field.name not in (*named, *getattr(part, "elsewhere", ()))
        and getattr(part, field.name) != (defaults or {}).get(field.name, field.default)
    ]


def temperature_label(temperature: float) -> str:
    """``t0``, ``t1e-5``, ``t0.7``: the name of a temperature, as its config option has it."""
    if temperature and abs(temperature) < 1e-3:
        mantissa, exponent = f"{temperature:e}".split("e")
        return f"t{float(mantissa):g}e{int(exponent)}"
    return f"t{temperature:g}"
