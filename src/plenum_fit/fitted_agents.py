"""Fitted agents in live sweeps: ``backend=simulated backend.fit=published``."""

import re

import numpy as np

from plenum.base import UserError
from plenum.committee import CommitteeCondition, make_even_state, require_committee
from plenum.design import Condition
from plenum.models import Prompt, StateRule
from plenum_fit.committees import Floats, name_seat
from plenum_fit.kernels import Kernel, move
from plenum_fit.parameter_file import FittedCandidate, Start, draw_start, read_published


class PublishedSeats(StateRule):
    """States drawn as seats of the released committees drew theirs."""

    def check(self, condition: Condition) -> None:
        """Refuse seats and scenarios that weren't released, and settings that have no effect.

        Raises
        ------
        UserError
            The agents can't play the condition, or would ignore what distinguishes it.
        """
        committee = require_committee(condition)
        for key, allowed in _differences(committee):
            raise UserError(f"{key}; backend.fit=published was fitted to {allowed} alone")
        for seat in committee.seats:
            self._kernel(name_seat(seat.label, seat.model, bool(seat.mandate)))
        scenario = committee.scenario
        names = tuple(option.name for option in scenario.options)
        if _fold(names) != _fold(self._fitted.options.get(scenario.id, ())):
            raise UserError(
                f"scenario: backend.fit=published has no {scenario.id} with the options "
                f"{', '.join(names)}; it has {', '.join(self._fitted.options)}"
            )

    def update(self, prompt: Prompt, model: str, generator: np.random.Generator) -> Floats:
        """Draw the state that follows what the seat reads."""
        key = name_seat(prompt.me, model, bool(prompt.mandate))
        kernel = self._kernel(key)
        current = prompt.table[prompt.me].pref
        # The papers' prompts give a seat that hasn't spoken an even state.
        if not current or _is_unspoken(prompt):
            return np.asarray(draw_start(self._start(prompt, key), 1, generator)[0])
        own = np.array([current])
        peers = [row.pref for label, row in prompt.table.items() if label != prompt.me and row.pref]
        # The kernels that come along have no pull to first states, which no prompt shows.
        return np.asarray(move(kernel, own, np.array([peers]), own, generator)[0])

    @property
    def _fitted(self) -> FittedCandidate:
        return read_published()

    def _kernel(self, key: str) -> Kernel:
        kernels = self._fitted.kernels
        if key not in kernels:
            raise UserError(
                f"backend.fit: published has no seat {key!r} (its name, its model, whether it has "
                "a mandate); its seats are those of model=uniform and model=mixed"
            )
        return kernels[key]

    def _start(self, prompt: Prompt, key: str) -> Start:
        fitted = self._fitted
        for scenario, options in fitted.options.items():
            named = re.search(rf"(?<![\w-]){scenario}(?![\w-])", prompt.case.text)
            if named or _fold(options) == _fold(prompt.case.names):
                return fitted.starts[scenario][key]
        raise UserError(
            f"backend.fit: published knows no case with the options "
            f"{', '.join(prompt.case.names)}; it knows {', '.join(fitted.options)}"
        )


def _differences(committee: CommitteeCondition) -> list[tuple[str, str]]:
    """List settings under which real committees may differ and these agents can't."""
    protocol = committee.protocol
    held = (
        (committee.sampling.temperature, 0, "temperature: {:g}", "temperature 0"),
        (protocol.window, 15, "memory: k{}", "memory=k15"),
        (protocol.order, "listed", "protocol.order: {}", "protocol.order=listed"),
        (protocol.name, "deliberation", "protocol: {}", "protocol=deliberation"),
        (committee.perturbation, "none", "perturbation: {}", "perturbation=none"),
    )
    return [(key.format(value), allowed) for value, one, key, allowed in held if value != one]


def _fold(names: tuple[str, ...]) -> list[str]:
    return [name.strip().casefold() for name in names]


def _is_unspoken(prompt: Prompt) -> bool:
    row, even = prompt.table[prompt.me], make_even_state(len(prompt.case.labels))
    return row.pref == even.pref and row.conf == even.conf


FITTED = PublishedSeats()
