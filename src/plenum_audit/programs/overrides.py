"""What an audit may change in a program's requests, and the faults that it may order."""

from collections.abc import Mapping
from typing import Any

from plenum.base.errors import UserError
from plenum.base.identity import generator

FAULT_RATE = "fault_rate"
"""The share of requests that get an error in a model's place: what does the program make of it?"""
FAULTS = ((429, "rate limited"), (500, "server error"), (503, "overloaded"))
_SAMPLING = (
    *("model", FAULT_RATE, "temperature", "top_p", "top_k", "min_p", "seed", "stop"),
    *("stop_sequences", "max_tokens", "max_completion_tokens", "max_output_tokens"),
    *("frequency_penalty", "presence_penalty", "repetition_penalty", "logit_bias"),
    *("reasoning", "reasoning_effort", "thinking", "verbosity", "service_tier"),
)
_RANGES = {FAULT_RATE: 1.0, "temperature": 2.0, "top_p": 1.0}


def check(overrides: Mapping[str, Any]) -> None:
    """Refuse what would be another program, or no parameter of any interface.

    Raises
    ------
    UserError
        A field is no parameter of sampling, or its value is out of range.
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
    """The status and the words of the error that a request is to get, if any.

    Parameters
    ----------
    names
        Name the draw: the same request has the same faults whenever the run is replayed.
    """
    draw, which = generator(*names, "fault").random(2)
    return FAULTS[int(which * len(FAULTS))] if draw < rate else None
