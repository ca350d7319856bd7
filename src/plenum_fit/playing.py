"""Fitted agents in live sweeps: ``backend=simulated backend.fit=published``."""

import numpy as np

from plenum.base import UserError
from plenum.models import Prompt, StateRule
from plenum_fit.committees import Floats, name_seat
from plenum_fit.kernels import Kernel, move
from plenum_fit.shipped import Fitted, Start, draw_start, read_published


class PublishedSeats(StateRule):
    """States drawn as seats of the released committees drew theirs."""

    def check(self, models: tuple[str, ...], temperature: float) -> None:
        """Refuse models that weren't released, and other temperatures than 0."""
        known = sorted({key.split()[1] for key in self._fitted.kernels})
        if strange := sorted(set(models) - set(known)):
            raise UserError(
                f"backend.fit: published has no seat of {strange[0]}; the models of its seats are "
                f"{', '.join(known)}, as in model=uniform and model=mixed"
            )
        if temperature:
            raise UserError(
                f"backend.fit: published was fitted at temperature 0, not {temperature:g}"
            )

    def update(self, prompt: Prompt, model: str, generator: np.random.Generator) -> Floats:
        """Draw the state that follows what the seat reads."""
        key = name_seat(prompt.me, model, bool(prompt.mandate))
        kernel = self._kernel(key)
        current = prompt.table[prompt.me].pref
        if not current:
            return np.asarray(draw_start(self._start(prompt.case.names, key), 1, generator)[0])
        own = np.array([current])
        peers = [row.pref for label, row in prompt.table.items() if label != prompt.me and row.pref]
        # The kernels that come along have no pull to first states, which no prompt shows.
        return np.asarray(move(kernel, own, np.array([peers]), own, generator)[0])

    @property
    def _fitted(self) -> Fitted:
        return read_published()

    def _kernel(self, key: str) -> Kernel:
        kernels = self._fitted.kernels
        if key not in kernels:
            raise UserError(
                f"backend.fit: published has no seat {key!r}; it has {', '.join(sorted(kernels))}"
            )
        return kernels[key]

    def _start(self, names: tuple[str, ...], key: str) -> Start:
        fitted = self._fitted
        wanted = [name.strip().casefold() for name in names]
        for scenario, options in fitted.options.items():
            if [name.strip().casefold() for name in options] == wanted:
                return fitted.starts[scenario][key]
        raise UserError(
            f"backend.fit: published knows no case with the options {', '.join(names)}; it knows "
            f"{', '.join(fitted.options)}"
        )


FITTED = PublishedSeats()
