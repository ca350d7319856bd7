"""Settings as parts of an identity, and as names in factors and lines."""

import dataclasses
from collections.abc import Sequence
from typing import Any

from plenum.design.settings import HOSTED_ELSEWHERE, Api, Backend, Hosted, Simulated


def format_value(value: Any) -> str:
    """Format a setting's value for a line of settings."""
    return f"{value:g}" if isinstance(value, float) else str(value)


def changed_settings(
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
    named = ("name", "temperature", "api_base", *HOSTED_ELSEWHERE, *except_for)
    return [
        f"{field.name}={format_value(getattr(part, field.name))}"
        for part in parts
        for field in dataclasses.fields(part)
        if field.name not in named
        and getattr(part, field.name) != (defaults or {}).get(field.name, field.default)
    ]


def identified_backend(backend: Backend) -> dict[str, Any]:
    """Collect the settings of a backend that can change an outcome.

    Endpoints that aren't set are left out: listing another provider is no other condition. A fleet
    is named by the first of its servers: others may come and go.
    """
    values = dataclasses.asdict(backend)
    if isinstance(backend, Simulated) and backend.fit is None:  # identities are older than this
        del values["fit"]
    if isinstance(backend, Hosted):
        return {key: value for key, value in values.items() if key not in HOSTED_ELSEWHERE}
    if isinstance(backend, Api):
        values["api_base"] = {provider: urls[0] for provider, urls in backend.fleets.items()}
        if backend.answer_form == "auto":  # identities are older than this setting
            del values["answer_form"]
    return values


def temperature_label(temperature: float) -> str:
    """``t0``, ``t1e-5``, ``t0.7``: the name of a temperature, as its config option has it."""
    if temperature and abs(temperature) < 1e-3:
        mantissa, exponent = f"{temperature:e}".split("e")
        return f"t{float(mantissa):g}e{int(exponent)}"
    return f"t{temperature:g}"
