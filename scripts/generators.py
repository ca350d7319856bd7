"""Simulated ensembles whose λ is known, on which an estimator must be right.

A `Process` is drawn with `sample` and returns its true λ with `exponent`. For displacements that
are isotropic Gaussian on the plane of the simplex, with variance v_t per coordinate of the plane,
the expected D(t) is √(π v_t) for the three options that all processes have. The law of D(t) / √v_t
is the same in every round, so the expected λ̂ is exactly the slope of ½ log v_t. Values may leave
the simplex, since λ̂ uses distances only.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import helmert
from scipy.special import hyp1f1

from plenum.dynamics.fit import WINDOW, Floats, slope

ROUNDS = 20
OPTIONS = 3
PLANE = helmert(OPTIONS)
"""An orthonormal basis of the plane of the simplex, shape (options - 1, options)."""

Draw = Callable[[np.random.Generator, int], Floats]


Row = dict[str, float]
"""Of one draw: 1 where something holds, 0 where it doesn't, NaN where it can't be asked."""


def seed(*key: int) -> np.random.Generator:
    """Return a generator that depends on the key alone."""
    return np.random.Generator(np.random.PCG64(list(key)))


def holds(low: float, high: float, truth: float) -> float:
    """Return whether limits hold; missing ones don't."""
    return float(low - 1e-6 <= truth <= high + 1e-6)


@dataclass(frozen=True)
class Process:
    """A process with a known λ.

    `divergence` is the expected D(t), shape (rounds,); `draw` draws an ensemble (R, rounds, K),
    given a generator and R. If it is `unbiased`, the expected λ̂ is exactly `exponent` for every R;
    if it isn't, λ̂ approaches `exponent`, the slope of the log of the expected D(t), as R grows.
    """

    name: str
    divergence: Floats = field(repr=False, compare=False)
    draw: Draw = field(repr=False, compare=False)
    unbiased: bool = True

    def sample(self, replicates: int = 20, seed: int = 0) -> Floats:
        """Draw an ensemble, shape (replicates, rounds, options)."""
        return self.draw(np.random.Generator(np.random.PCG64(seed)), replicates)

    def exponent(self, window: tuple[int, int] = WINDOW) -> float:
        """Return the exact λ over a window of rounds."""
        first, last = window
        expected = self.divergence[first - 1 : last]
        return float(slope(np.arange(first, first + expected.size, dtype=float), expected))


def compute_expected_distance(variance: Floats) -> Floats:
    """Return the mean distance of two independent isotropic Gaussian points: √(π v).

    v is the variance per coordinate on the plane of the simplex.
    """
    return np.asarray(np.sqrt(math.pi * variance))


def gaussian(name: str, variance: Floats, noise: Draw) -> Process:
    """Build a process of Gaussian displacements.

    `variance` is that of a coordinate of the plane, shape (rounds,); `noise` draws coordinates on
    the plane, shape (R, rounds, options - 1).
    """

    def draw(generator: np.random.Generator, replicates: int) -> Floats:
        return np.asarray(1 / OPTIONS + noise(generator, replicates) @ PLANE)

    return Process(name, compute_expected_distance(variance), draw)


def autoregressive(
    rho: float = 0.5, rate: float = 0.0, sd: float = 0.01, rounds: int = ROUNDS
) -> Process:
    """Build a stationary AR(1) times e^{rate · t}: λ = rate exactly, for any memory."""
    return _build_ar1(f"AR(1), ρ = {rho:g}", sd * np.exp(rate * np.arange(1, rounds + 1)), rho)


def random_walk(sd: float = 0.01) -> Process:
    """Build independent random walks, v_t = t · sd²; λ = 0.0509 over rounds 3-20."""

    def noise(generator: np.random.Generator, replicates: int) -> Floats:
        return sd * generator.normal(size=(replicates, ROUNDS, OPTIONS - 1)).cumsum(axis=1)

    return gaussian("random walk", sd**2 * np.arange(1.0, ROUNDS + 1), noise)


def contraction(gain: float = 0.8, wide: float = 0.1, floor: float = 0.01) -> Process:
    """Build a contraction to a noise floor: x' = gain · x + noise, from sd ``wide`` to ``floor``.

    v_t = floor² + (wide² - floor²) gain^{2(t-1)}.
    """
    decay = gain ** (2.0 * np.arange(ROUNDS))

    def noise(generator: np.random.Generator, replicates: int) -> Floats:
        start = wide * generator.normal(size=(replicates, OPTIONS - 1))
        return _iterate(generator, start, gain, floor * math.sqrt(1 - gain**2), ROUNDS)

    return gaussian("contraction", np.asarray(floor**2 + (wide**2 - floor**2) * decay), noise)


def plateau(rate: float = 0.1, until: int = 10, level: float = 0.01, rho: float = 0.5) -> Process:
    """Build exponential growth up to a round, then a plateau; λ is the slope over both."""
    steps = np.minimum(np.arange(1, ROUNDS + 1), until)
    return _build_ar1("plateau", level * np.exp(rate * steps), rho)


def logistic(
    rate: float = 0.3, start: float = 0.02, ceiling: float = 0.9, rho: float = 0.9
) -> Process:
    """Build a logistic saturation: D(t) = ceiling / (1 + (ceiling / start - 1) e^{-rate (t-1)}).

    It starts growing at ``rate``; λ over the window is smaller because of the saturation.
    """
    expected = ceiling / (1 + (ceiling / start - 1) * np.exp(-rate * np.arange(ROUNDS)))
    return _build_ar1("logistic", expected / compute_expected_distance(np.ones(1)), rho)


def decision_flips(hazard: float = 0.03, jump: float = 0.5, sd: float = 0.0) -> Process:
    """Build random flips: each round, with ``hazard``, a replicate moves to another option, once.

    All replicates start at one position; a flip moves one by ``jump`` towards another option. These
    K positions are equally far from each other. By round t a replicate has flipped with probability
    q = 1 - (1 - hazard)^t, and two replicates have different positions, ``jump`` apart, with
    probability 1 - (1 - q)² - q² / (K - 1). ``sd`` adds independent Gaussian noise in every round,
    with which distances have a noncentral chi law.
    """
    others, rounds = OPTIONS - 1, np.arange(1.0, ROUNDS + 1)
    expected = _mix_distances(1 - (1 - hazard) ** rounds, jump, np.full(ROUNDS, sd))
    targets = jump / math.sqrt(2) * (np.eye(OPTIONS)[1:] - np.eye(OPTIONS)[0])
    base = np.r_[0.5, np.full(others, 0.5 / others)]

    def draw(generator: np.random.Generator, replicates: int) -> Floats:
        onset = generator.geometric(hazard, replicates)
        flipped = rounds >= onset[:, None]
        target = targets[generator.integers(0, others, replicates)]
        noise = sd * generator.normal(size=(replicates, ROUNDS, others)) @ PLANE
        return np.asarray(base + flipped[..., None] * target[:, None] + noise)

    return Process(f"decision flips, hazard {hazard:g}", expected, draw, unbiased=False)


def leaps(share: float = 0.2, jump: float = 0.5, sd: float = 0.01, walks: bool = False) -> Process:
    """Build replicates of which a share jumps once, in a round that is drawn evenly.

    Positions before and after are ``jump`` apart from each other, as in `decision_flips`. ``sd`` is
    that of independent noise in every round, or with ``walks`` of the steps of random walks.
    """
    rounds = np.arange(1, ROUNDS + 1)
    noise = sd * np.sqrt(rounds) if walks else np.full(ROUNDS, sd)
    corners = jump * np.array([[1.0, 0.0], [0.5, math.sqrt(0.75)]])

    def draw(generator: np.random.Generator, replicates: int) -> Floats:
        steps = sd * generator.normal(size=(replicates, ROUNDS, OPTIONS - 1))
        path = steps.cumsum(axis=1) if walks else steps
        begun = generator.integers(1, ROUNDS + 1, replicates)
        begun[generator.random(replicates) >= share] = ROUNDS + 1
        target = corners[generator.integers(0, 2, replicates)]
        jumped = (rounds >= begun[:, None])[..., None] * target[:, None]
        return np.asarray(1 / OPTIONS + (path + jumped) @ PLANE)

    expected = _mix_distances(share * rounds / ROUNDS, jump, noise)
    return Process(f"leaps, share {share:g}", expected, draw, unbiased=False)


def _mix_distances(moved: Floats, jump: float, sd: Floats) -> Floats:
    """Return the expected D(t) of replicates that have moved to one of two places, or haven't.

    ``moved`` is the share that has by each round, ``sd`` the noise around the places.
    """
    apart = 1 - (1 - moved) ** 2 - moved**2 / (OPTIONS - 1)
    far, near = ([_noisy_distance(gap, s) for s in sd] for gap in (jump, 0.0))
    return np.asarray(apart * far + (1 - apart) * near)


def _noisy_distance(gap: float, sd: float) -> float:
    """Return the mean distance of two Gaussian points whose centres are ``gap`` apart."""
    if sd == 0:
        return gap
    spread = float(compute_expected_distance(np.array(sd**2)))
    return spread * float(hyp1f1(-0.5, 1, -((gap / sd) ** 2) / 4))


def committee(
    gain: float = 1.05, sd: float = 0.02, rounds: int = ROUNDS, seats: int = 5
) -> Process:
    """Build a committee whose seats follow their mean, with an adjustable gain.

    Seats keep half of their own deviation and follow the mean with gain - ½, each with noise:
    x_i' = ½ x_i + (gain - ½) x̄ + noise. So the mean obeys x̄' = gain · x̄ + noise of variance
    sd² / seats, with v_1 = sd² / seats and v_{t+1} = gain² v_t + sd² / seats. The committee
    diverges for a gain above 1, is a random walk at 1, and settles below.
    """
    variance = sd**2 / seats * np.cumsum(gain ** (2.0 * np.arange(rounds)))

    def noise(generator: np.random.Generator, replicates: int) -> Floats:
        state = sd * generator.normal(size=(replicates, seats, OPTIONS - 1))
        path = np.empty((replicates, rounds, OPTIONS - 1))
        path[:, 0] = state.mean(axis=1)
        for t in range(1, rounds):
            fresh = sd * generator.normal(size=state.shape)
            state = state / 2 + (gain - 0.5) * state.mean(axis=1, keepdims=True) + fresh
            path[:, t] = state.mean(axis=1)
        return path

    return gaussian(f"committee, gain {gain:g}", variance, noise)


def _build_ar1(name: str, sd: Floats, rho: float) -> Process:
    """Build a stationary AR(1) of variance 1 times a given standard deviation, shape (rounds,)."""

    def noise(generator: np.random.Generator, replicates: int) -> Floats:
        start = generator.normal(size=(replicates, OPTIONS - 1))
        path = _iterate(generator, start, rho, math.sqrt(1 - rho**2), len(sd))
        return np.asarray(sd[:, None] * path)

    return gaussian(name, sd**2, noise)


def _iterate(
    generator: np.random.Generator, start: Floats, gain: float, sd: float, rounds: int
) -> Floats:
    """Simulate x' = gain · x + sd · noise, shape (R, rounds, coordinates)."""
    path = np.empty((len(start), rounds, start.shape[1]))
    path[:, 0] = start
    for t in range(1, rounds):
        path[:, t] = gain * path[:, t - 1] + sd * generator.normal(size=start.shape)
    return path
