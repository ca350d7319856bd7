"""Ensembles whose λ is known: what an estimator must get right before it is believed.

A `Process` is drawn with `sample` and says its truth with `exponent`. For displacements that are
isotropic Gaussian on the plane of the simplex, with variance v_t per coordinate of the plane, the
expected D(t) is √v_t times a constant, √π for three options; and since the law of D(t) / √v_t is
the same in every round, the expected λ̂ is exactly the slope of ½ log v_t. Values are not cut to
the simplex: λ̂ reads distances alone.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from plenum.dynamics.divergence import ZERO
from plenum.dynamics.fit import WINDOW, Floats, slope

ROUNDS = 20
OPTIONS = 3


@dataclass(frozen=True)
class Process:
    """A process with a known λ.

    Attributes
    ----------
    name
        For tables.
    divergence
        The expected D(t), shape (rounds,).
    draw
        Draws an ensemble (R, rounds, K) from a generator and R.
    unbiased
        Whether the expected λ̂ is exactly `exponent`. Otherwise that is the slope of log of the
        expected D(t), which λ̂ approaches as R grows.
    """

    name: str
    divergence: Floats = field(repr=False, compare=False)
    draw: Callable[[np.random.Generator, int], Floats] = field(repr=False, compare=False)
    unbiased: bool = True

    def sample(self, replicates: int = 20, seed: int = 0) -> Floats:
        """An ensemble, shape (replicates, rounds, options)."""
        return self.draw(np.random.Generator(np.random.PCG64(seed)), replicates)

    def exponent(self, window: tuple[int, int] = WINDOW) -> float:
        """The exact λ over a window of rounds."""
        first, last = window
        level = self.divergence[first - 1 : last]
        return float(slope(np.arange(first, first + level.size, dtype=float), level))


def expected_distance(variance: Floats, options: int = OPTIONS) -> Floats:
    """Mean distance of two independent isotropic Gaussian points on the plane of the simplex.

    2 √v Γ(K/2) / Γ((K-1)/2) with v the variance per coordinate: √(π v) for K = 3.
    """
    return (
        2 * np.sqrt(variance) * math.exp(math.lgamma(options / 2) - math.lgamma((options - 1) / 2))
    )


def gaussian(
    name: str, variance: Floats, options: int, noise: Callable[[np.random.Generator, int], Floats]
) -> Process:
    """A process of Gaussian displacements.

    Parameters
    ----------
    variance
        Per coordinate of the plane, shape (rounds,).
    noise
        Draws coordinates on the plane, shape (R, rounds, K - 1).
    """
    basis = plane(options)

    def draw(generator: np.random.Generator, replicates: int) -> Floats:
        return np.asarray(1 / options + noise(generator, replicates) @ basis)

    return Process(name, expected_distance(variance, options), draw)


def plane(options: int) -> Floats:
    """An orthonormal basis of the plane of the simplex, shape (options - 1, options)."""
    if options < 2:
        raise ValueError(f"options: {options}; at least 2")
    basis = np.zeros((options - 1, options))
    for k in range(1, options):
        basis[k - 1, :k] = 1
        basis[k - 1, k] = -k
        basis[k - 1] /= math.sqrt(k * (k + 1))
    return basis


def oracle(
    rate: float = 0.05, level: float = 0.01, rounds: int = ROUNDS, options: int = OPTIONS
) -> Process:
    """Exact exponential separation, with zero variance: D(t) = level · e^{rate · t}, λ = rate.

    Replicates leave the centre along two opposite directions, half of them along each (one more
    along the first where R is odd), in even steps, so that the mean distance is exact.
    """
    growth = level * np.exp(rate * np.arange(1, rounds + 1))
    direction = plane(options)[0]

    def draw(generator: np.random.Generator, replicates: int) -> Floats:
        steps = np.arange(replicates, dtype=float)
        apart = np.abs(steps[:, None] - steps).sum() / (replicates * (replicates - 1))
        places = (steps - steps.mean()) / apart
        return np.asarray(1 / options + places[:, None, None] * growth[:, None] * direction)

    return Process("oracle", growth, draw)


def autoregressive(
    rho: float = 0.5,
    rate: float = 0.0,
    sd: float = 0.01,
    rounds: int = ROUNDS,
    options: int = OPTIONS,
) -> Process:
    """A stationary AR(1) times e^{rate · t}: λ = rate exactly, however long the memory."""
    _within("rho", rho, -1, 1)
    scale = sd * np.exp(rate * np.arange(1, rounds + 1))
    return _scaled(f"AR(1), ρ = {rho:g}", scale, rho, options)


def random_walk(sd: float = 0.01, rounds: int = ROUNDS, options: int = OPTIONS) -> Process:
    """Independent random walks, v_t = t · sd²: λ = 0.0509 over rounds 3-20, nothing amplified."""

    def noise(generator: np.random.Generator, replicates: int) -> Floats:
        return sd * generator.normal(size=(replicates, rounds, options - 1)).cumsum(axis=1)

    return gaussian("random walk", sd**2 * np.arange(1.0, rounds + 1), options, noise)


def contraction(
    gain: float = 0.8,
    wide: float = 0.1,
    floor: float = 0.01,
    rounds: int = ROUNDS,
    options: int = OPTIONS,
) -> Process:
    """Contraction to a noise floor: x' = gain · x + noise, from sd ``wide`` to sd ``floor``.

    v_t = floor² + (wide² - floor²) gain^{2(t-1)}; λ is the slope of ½ log v_t.
    """
    _within("gain", gain, -1, 1)
    steps = np.arange(rounds)
    variance = np.asarray(floor**2 + (wide**2 - floor**2) * gain ** (2.0 * steps), dtype=float)

    def noise(generator: np.random.Generator, replicates: int) -> Floats:
        start = wide * generator.normal(size=(replicates, options - 1))
        return _recursion(generator, start, gain, floor * math.sqrt(1 - gain**2), rounds)

    return gaussian("contraction", variance, options, noise)


def plateau(
    rate: float = 0.1,
    until: int = 10,
    level: float = 0.01,
    rho: float = 0.5,
    rounds: int = ROUNDS,
    options: int = OPTIONS,
) -> Process:
    """Exponential growth up to a round, then a plateau; λ is the slope over both."""
    steps = np.minimum(np.arange(1, rounds + 1), until)
    return _scaled("plateau", level * np.exp(rate * steps), rho, options)


def logistic(
    rate: float = 0.3,
    start: float = 0.02,
    ceiling: float = 0.9,
    rho: float = 0.9,
    rounds: int = ROUNDS,
    options: int = OPTIONS,
) -> Process:
    """Logistic saturation: D(t) = ceiling / (1 + (ceiling / start - 1) e^{-rate (t-1)}).

    It starts growing at ``rate``; λ over the window is what saturation leaves of it.
    """
    level = ceiling / (1 + (ceiling / start - 1) * np.exp(-rate * np.arange(rounds)))
    return _scaled("logistic", level / expected_distance(np.ones(1), options), rho, options)


def decision_flips(
    hazard: float = 0.03,
    jump: float = 0.5,
    sd: float = 0.0,
    rounds: int = ROUNDS,
    options: int = OPTIONS,
) -> Process:
    """Random decision flips: with ``hazard`` per round a replicate moves to another option, once.

    Before the flip all replicates stand at one point, after it ``jump`` towards one of the other
    options, and ``sd`` adds independent Gaussian noise in every round. The points are equally far
    from each other, so that with q = 1 - (1 - hazard)^t two replicates are ``jump`` apart with
    probability 1 - (1 - q)² - q² / (K - 1), but for the noise (a noncentral chi law).
    """
    _within("hazard", hazard, 0, 1)
    q = 1 - (1 - hazard) ** np.arange(1, rounds + 1)
    apart = 1 - (1 - q) ** 2 - q**2 / (options - 1)
    level = apart * _noisy(jump, sd, options) + (1 - apart) * _noisy(0.0, sd, options)
    targets = jump / math.sqrt(2) * (np.eye(options)[1:] - np.eye(options)[0])
    base = np.r_[0.5, np.full(options - 1, 0.5 / (options - 1))]

    def draw(generator: np.random.Generator, replicates: int) -> Floats:
        onset = generator.geometric(hazard, replicates)
        flipped = np.arange(1, rounds + 1) >= onset[:, None]
        target = targets[generator.integers(0, options - 1, replicates)]
        noise = sd * generator.normal(size=(replicates, rounds, options - 1)) @ plane(options)
        return np.asarray(base + flipped[..., None] * target[:, None] + noise)

    return Process(f"decision flips, hazard {hazard:g}", level, draw, unbiased=False)


def _noisy(gap: float, sd: float, options: int) -> float:
    """Mean distance of two Gaussian points whose centres are ``gap`` apart."""
    if sd == 0:
        return gap
    from scipy.special import hyp1f1

    shape = (options - 1) / 2
    return float(expected_distance(np.array(sd**2), options)) * float(
        hyp1f1(-0.5, shape, -((gap / sd) ** 2) / 4)
    )


def committee_preferences(
    generator: np.random.Generator,
    replicates: int,
    gain: float,
    sd: float,
    rounds: int,
    options: int,
    seats: int,
) -> Floats:
    """Preferences of every seat of the linear committee, shape (R, rounds, seats, options).

    Each seat keeps half of its own deviation and takes the rest of the gain from the committee's
    mean: x_i' = ½ x_i + (gain - ½) x̄ + noise.
    """
    state = sd * generator.normal(size=(replicates, seats, options - 1))
    path = np.empty((replicates, rounds, seats, options - 1))
    path[:, 0] = state
    for t in range(1, rounds):
        fresh = sd * generator.normal(size=state.shape)
        state = state / 2 + (gain - 0.5) * state.mean(axis=1, keepdims=True) + fresh
        path[:, t] = state
    return np.asarray(1 / options + path @ plane(options))


def committee(
    gain: float = 1.05,
    sd: float = 0.02,
    rounds: int = ROUNDS,
    options: int = OPTIONS,
    seats: int = 5,
) -> Process:
    """Five seats that follow their mean, with a tunable gain.

    Seats keep half of their own deviation and follow the mean with gain - ½, each with noise. The
    mean obeys x̄' = gain · x̄ + noise of variance sd² / seats, so v_1 = sd² / seats and
    v_{t+1} = gain² v_t + sd² / seats: the committee grows for a gain above 1, walks at 1, settles
    below. λ is the slope of ½ log v_t.
    """
    powers = gain ** (2.0 * np.arange(rounds))
    variance = sd**2 / seats * np.cumsum(powers)

    def draw(generator: np.random.Generator, replicates: int) -> Floats:
        every = committee_preferences(generator, replicates, gain, sd, rounds, options, seats)
        return np.asarray(every.mean(axis=2))

    return Process(f"committee, gain {gain:g}", expected_distance(variance, options), draw)


def chaotic_map(rounds: int = ROUNDS, options: int = OPTIONS) -> Process:
    """The doubling map x' = 2x mod 1 next to its cycle {1/3, 2/3}: λ = log 2 exactly.

    Replicates begin at random multiples of a step so small that none wraps round apart from the
    others within the run: distances double in every round. All values are dyadic, and so exact in
    floating point; they share half of the simplex between the first two options. There are 32
    places; beyond 32 replicates they are shared, and D is below `divergence`.

    Raises
    ------
    ValueError
        The run is so long that its first distances would fall below 1e-9 and count as zero.
    """
    step, places = 2.0 ** -(rounds + 7), 32
    if step * math.sqrt(0.5) < ZERO:
        raise ValueError(f"rounds: {rounds}; the doubling map is exact for at most 22 rounds")
    apart = (places + 1) / 3
    share = 0.5 if options > 2 else 1.0
    level = share * math.sqrt(2) * step * apart * np.exp2(np.arange(rounds, dtype=float))

    def draw(generator: np.random.Generator, replicates: int) -> Floats:
        place = np.resize(generator.permutation(places), replicates)
        x = 2.0**-50 * (2**50 // 3) + step * place
        path = np.empty((replicates, rounds))
        for t in range(rounds):
            path[:, t] = x
            x = 2 * x % 1
        rest = np.full((options - 2, replicates, rounds), 0.5 / max(options - 2, 1))
        return np.moveaxis(np.stack([share * path, share * (1 - path), *rest]), 0, 2)

    return Process("chaotic map", level, draw)


def _within(name: str, value: float, low: float, high: float) -> None:
    if not low <= value <= high:
        raise ValueError(f"{name}: {value}; from {low} to {high}")


def _scaled(name: str, sd: Floats, rho: float, options: int) -> Process:
    """A stationary AR(1) of variance 1 times a given standard deviation, shape (rounds,)."""

    def noise(generator: np.random.Generator, replicates: int) -> Floats:
        start = generator.normal(size=(replicates, options - 1))
        path = _recursion(generator, start, rho, math.sqrt(1 - rho**2), len(sd))
        return np.asarray(sd[:, None] * path)

    return gaussian(name, sd**2, options, noise)


def _recursion(
    generator: np.random.Generator, start: Floats, gain: float, sd: float, rounds: int
) -> Floats:
    """x' = gain · x + sd · noise, shape (R, rounds, coordinates)."""
    path = np.empty((len(start), rounds, start.shape[1]))
    path[:, 0] = start
    for t in range(1, rounds):
        path[:, t] = gain * path[:, t - 1] + sd * generator.normal(size=start.shape)
    return path
