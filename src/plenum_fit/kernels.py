"""A seat's turn: from its state and those of the others to its next state.

The next state is the present one plus pulls towards targets plus noise, back on the simplex; or the
present one as it is; or, in a jump, the present one with its top exchanged.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from plenum_fit.committees import Floats, Options, Turns
from plenum_fit.noise import SILENT, Noise, draw_noise, fit_noise

REACH = 0.3
"""Peers farther away than this have no pull in models of bounded confidence."""

JUMP = 0.15
"""A turn jumps if its top changes, and a preference by at least this."""

_STILL = 1e-6

Target = Callable[[Floats, Floats, Floats], list[Floats]]


def _mean(own: Floats, peers: Floats, first: Floats) -> list[Floats]:
    return [peers.mean(axis=1)]


def _near(own: Floats, peers: Floats, first: Floats) -> list[Floats]:
    """Average the peers within reach; without one the seat stays with itself."""
    apart = np.sqrt(((peers - own[:, None]) ** 2).sum(axis=-1))
    close = (apart <= REACH).astype(float)[..., None]
    count = close.sum(axis=1)
    return [np.where(count > 0, (peers * close).sum(axis=1) / np.maximum(count, 1), own)]


def _vertex(states: Floats) -> Floats:
    return np.asarray(np.eye(states.shape[-1])[states.argmax(axis=-1)])


def _options(own: Floats, peers: Floats, first: Floats) -> list[Floats]:
    return [np.broadcast_to(vertex, own.shape) for vertex in np.eye(own.shape[-1])]


TARGETS: dict[str, Target] = {
    "peers": _mean,
    "near": _near,
    "first": lambda own, peers, first: [first],
    "anchor": _options,
    "own": lambda own, peers, first: [_vertex(own)],
    "group": lambda own, peers, first: [_vertex(own + peers.sum(axis=1))],
}
"""Targets of pulls: the mean of the others, or of those near; the seat's first state; an anchor of
its own, which is a pull to each option; certainty of its own top, or of the committee's."""


@dataclass(frozen=True)
class Kernel:
    """The law of a seat's turns after the first round.

    Attributes
    ----------
    terms
        Names of :data:`TARGETS`.
    weights
        The share of the way to each target that a turn goes, in their order, 0 or more.
    stays
        The probability that a turn repeats the state.
    noise
        The law of what is added.
    hazards
        Of a jump to another option, a turn: of its own accord, and for each share of the others
        that has the option on top.
    """

    terms: tuple[str, ...]
    weights: tuple[float, ...]
    stays: float
    noise: Noise
    hazards: tuple[float, float] = (0.0, 0.0)


def aim(terms: tuple[str, ...], own: Floats, peers: Floats, first: Floats) -> Floats:
    """Compute the ways to all targets, shape (targets, turns, options)."""
    targets = [each - own for name in terms for each in TARGETS[name](own, peers, first)]
    return np.stack(targets) if targets else np.zeros((0, *own.shape))


def fit_kernel(turns: Turns, terms: tuple[str, ...] = (), jumps: bool = False) -> Kernel:
    """Fit a kernel to recorded turns.

    Weights are those of least squares without negative ones, over turns that moved and didn't
    jump; staying and jumping are shares and hazards of most likelihood.

    Parameters
    ----------
    turns
        One or more turns of one key.
    terms
        Names of :data:`TARGETS`.
    jumps
        True if jumps are apart from noise.
    """
    from scipy.optimize import nnls

    steps = turns.steps
    moved = np.abs(steps).max(axis=-1) > _STILL
    jumped = _draw_jump(turns) if jumps else np.zeros_like(moved)
    used = moved & ~jumped
    ways = aim(terms, turns.before, turns.peers, turns.first)
    weights = np.zeros(len(ways))
    if len(ways) and used.any():
        weights, _ = nnls(ways[:, used].reshape(len(ways), -1).T, steps[used].reshape(-1))
    rest = steps - np.tensordot(weights, ways, axes=1)
    return Kernel(
        terms=terms,
        weights=tuple(map(float, weights)),
        # Half a turn more on either side, so that what wasn't seen isn't impossible.
        stays=float(((~moved).sum() + 0.5) / ((~jumped).sum() + 1)),
        noise=fit_noise(turns.before[used], rest[used]) if used.any() else SILENT,
        hazards=_fit_hazards(turns, jumped) if jumps else (0.0, 0.0),
    )


def move(
    kernel: Kernel, own: Floats, peers: Floats, first: Floats, generator: np.random.Generator
) -> Floats:
    """Draw the states after a turn, shape (turns, options); arguments as in :class:`Turns`."""
    ways = aim(kernel.terms, own, peers, first)
    step = np.tensordot(np.array(kernel.weights), ways, axes=1) if len(ways) else np.zeros_like(own)
    after = to_simplex(own + step + draw_noise(kernel.noise, own, generator))
    after = np.where((generator.random(len(own)) < kernel.stays)[:, None], own, after)
    return _jump(kernel.hazards, own, peers, after, generator) if any(kernel.hazards) else after


def to_simplex(states: Floats) -> Floats:
    """Cut what is negative, and rescale to a sum of 1."""
    cut = np.maximum(states, 0.0)
    return np.asarray(cut / cut.sum(axis=-1, keepdims=True))


def _draw_jump(turns: Turns) -> Options:
    other = turns.before.argmax(axis=-1) != turns.after.argmax(axis=-1)
    return np.asarray(other & (np.abs(turns.steps).max(axis=-1) >= JUMP))


def _share_followed(own: Floats, peers: Floats) -> Floats:
    """Return the share of the others that has each other option on top, (turns, options)."""
    share = np.asarray(_vertex(peers).mean(axis=1))
    return np.where(_vertex(own) > 0, 0.0, share)


def _fit_hazards(turns: Turns, jumped: Options) -> tuple[float, float]:
    """Maximise the likelihood of jumps and of where they go, by EM over the two causes."""
    if not jumped.any():
        return (0.0, 0.0)
    followed = np.asarray(_share_followed(turns.before, turns.peers))
    exposed = np.array([len(jumped), followed.sum()])
    to = turns.after[jumped].argmax(axis=-1)
    lone = np.full(len(to), 1 / (turns.before.shape[-1] - 1))
    causes = np.stack([lone, followed[jumped, to]])
    hazards = np.full(2, len(to) / exposed.sum())
    for _ in range(200):
        parts = hazards[:, None] * causes
        hazards = (parts / parts.sum(axis=0)).sum(axis=1) / np.maximum(exposed, 1e-9)
    return (float(hazards[0]), float(hazards[1]))


def _jump(
    hazards: tuple[float, float],
    own: Floats,
    peers: Floats,
    after: Floats,
    generator: np.random.Generator,
) -> Floats:
    """Let some seats jump: the top's preference and that of another option change places."""
    turns, options = own.shape
    top = own.argmax(axis=-1)
    rates = _share_followed(own, peers) * hazards[1] + hazards[0] / (options - 1)
    rates = np.where(_vertex(own) > 0, 0.0, rates)
    to = (generator.random((turns, 1)) > rates.cumsum(axis=1)).sum(axis=1)
    jumps = np.flatnonzero(to < options)
    swapped = own[jumps].copy()
    each = np.arange(len(jumps))
    swapped[each, top[jumps]] = own[jumps, to[jumps]]
    swapped[each, to[jumps]] = own[jumps, top[jumps]]
    found = after.copy()
    found[jumps] = swapped
    return found
