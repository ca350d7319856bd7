"""Changes of a program's requests that an audit may make, and faults that it may inject."""

from collections.abc import Mapping
from typing import Any

from plenum.base.errors import UserError
from plenum.base.identity import make_generator

FAULT_RATE = "fault_rate"
"""Name of the share of requests that get an error instead of an answer."""
FAULTS = ((429, "rate limited"), (500, "server error"), (503, "overloaded"))
_SAMPLING = (
    "model", FAULT_RATE, "temperature", "top_p", "top_k", "min_p", "seed", "stop", "stop_sequences",
    "max_tokens", "max_completion_tokens", "max_output_tokens", "frequency_penalty",
    "presence_penalty", "repetition_penalty", "logit_bias", "reasoning", "reasoning_effort",
    "thinking", "verbosity", "service_tier",
)  # fmt: skip
_RANGES = {FAULT_RATE: 1.0, "temperature": 2.0, "top_p": 1.0}


def check_overrides(overrides: Mapping[str, Any]) -> None:
    """Refuse changes that would make another program, or that no interface knows.

    Raises
    ------
    UserError
        A field isn't a parameter of sampling, or its value is out of range.
    """
    for name, value in overrides.items():
        if name not in _SAMPLING:
            raise UserError(
                f"overrides.{name}: no parameter of sampling, and the prompt stays the program's; "
                f"allowed are {', '.join(_SAMPLING)}"
            )
        most = _RANGES.get(name)
        number = type(value) in (int, float)
        if most is not None and not (number and 0 <= value <= most):
            raise UserError(f"overrides.{name}: {value!r}; it is a number from 0 to {most:g}")
    model = overrides.get("model", "any")
    if not isinstance(model, str) or not model:
        raise UserError(f"overrides.model: {model!r}; it is a model's id, such as openai/gpt-4.1")


def fault(rate: float, *names: str | int) -> tuple[int, str] | None:
    """Return the status and the message of the error for a request, if it gets one.

    Parameters
    ----------
    names
        Names of the draw: the same request has the same faults whenever the run is replayed.
    """
    draw, which = make_generator(*names, "fault").random(2)
    return FAULTS[int(which * len(FAULTS))] if draw < rate else None
