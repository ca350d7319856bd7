"""The fitted parameters as a small file: by seat how it moves, by scenario how it begins."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from plenum.base import UserError
from plenum_fit.committees import Committees, Floats
from plenum_fit.kernels import Kernel, to_simplex
from plenum_fit.noise import Noise

FILE = Path(__file__).with_name("published.json")
"""The parameters that come along, fitted to the released runs."""


@dataclass(frozen=True)
class Start:
    """The normal law of a seat's first state in a scenario.

    Attributes
    ----------
    mean
        Shape (options,).
    covariance
        Of all options but the last, shape (options - 1, options - 1).
    """

    mean: tuple[float, ...]
    covariance: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class FittedCandidate:
    """A fitted candidate.

    Attributes
    ----------
    origin
        Where the runs were released.
    candidate
        Its name.
    conditions, runs
        How many it was fitted to.
    errors
        Its mean absolute errors in scenarios that it wasn't fitted to, by statistic, in the
        statistic's own unit.
    options
        The names of the options of each scenario.
    designs
        The keys of the seats in speaking order, by roles and model, as in ``on mixed``.
    kernels
        By the key of a seat.
    starts
        By scenario and by the key of a seat.
    """

    origin: str
    candidate: str
    conditions: int
    runs: int
    errors: Mapping[str, float]
    options: Mapping[str, tuple[str, ...]]
    designs: Mapping[str, tuple[str, ...]]
    kernels: Mapping[str, Kernel]
    starts: Mapping[str, Mapping[str, Start]]

    @property
    def width(self) -> int:
        """The number of options, which all scenarios share."""
        return len(next(iter(self.options.values())))


def fit_starts(recorded: Sequence[Committees]) -> dict[str, dict[str, Start]]:
    """Fit the laws of first states, over all conditions in which a seat sits."""
    gathered: dict[str, dict[str, list[Floats]]] = {}
    for committees in recorded:
        for seat, key in enumerate(committees.seats):
            seats = gathered.setdefault(committees.scenario, {})
            seats.setdefault(key, []).append(committees.preferences[:, 0, seat])
    return {
        scenario: {key: _fit_start(np.concatenate(states)) for key, states in seats.items()}
        for scenario, seats in gathered.items()
    }


def _fit_start(states: Floats) -> Start:
    covariance = np.atleast_2d(np.cov(states[:, :-1], rowvar=False))
    return Start(
        tuple(map(float, states.mean(axis=0))),
        tuple(tuple(map(float, row)) for row in covariance),
    )


def draw_start(start: Start, runs: int, generator: np.random.Generator) -> Floats:
    """Draw first states, shape (runs, options)."""
    covariance = np.array(start.covariance)
    # Eigenvalues, since a seat that always began alike has a singular law.
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    leading = np.array(start.mean[:-1]) + generator.normal(size=(runs, len(values))) @ root.T
    return to_simplex(np.concatenate([leading, 1 - leading.sum(axis=1, keepdims=True)], axis=1))


def format_fitted(fitted: FittedCandidate) -> str:
    """Return the file's text: four significant digits a number, a line each seat."""
    text = json.dumps(_round(asdict(fitted)), indent=1)
    # Brackets within a seat's parameters need no lines of their own.
    return re.sub(r"\n {3,}|\n {2}(?=[}\]])", "", text) + "\n"


def _round(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.4g}")
    if isinstance(value, Mapping):
        return {key: _round(each) for key, each in value.items()}
    return [_round(each) for each in value] if isinstance(value, list | tuple) else value


def read_fitted(file: Path) -> FittedCandidate:
    """Read a file of parameters.

    Raises
    ------
    UserError
        It can't be read, or has another form.
    """
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
        kernels = {key: _kernel(each) for key, each in data["kernels"].items()}
        starts = {
            scenario: {
                key: Start(tuple(each["mean"]), _matrix(each["covariance"]))
                for key, each in seats.items()
            }
            for scenario, seats in data["starts"].items()
        }
        named = {
            part: {name: tuple(each) for name, each in data[part].items()}
            for part in ("options", "designs")
        }
        return FittedCandidate(**(data | named | {"kernels": kernels, "starts": starts}))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise UserError(f"fit: {file} holds no fitted committees: {error}") from None


@cache
def read_published() -> FittedCandidate:
    """Read the parameters that come along."""
    return read_fitted(FILE)


def _kernel(data: Mapping[str, Any]) -> Kernel:
    noise = data["noise"]
    return Kernel(
        terms=tuple(data["terms"]),
        weights=tuple(data["weights"]),
        stays=data["stays"],
        noise=Noise(noise["share"], _matrix(noise["small"]), _matrix(noise["wide"])),
        hazards=(data["hazards"][0], data["hazards"][1]),
    )


def _matrix(rows: Sequence[Sequence[float]]) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(row) for row in rows)
