"""The opinions of simulated agents: a documented nonlinear update of their preferences.

The equations stand in ``docs/simulated-backend.md``. All fields over options are centred, so that
only differences between options count.
"""

import hashlib
import re
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from plenum.calls.simulated.prompt_parser import Prompt

Field = NDArray[np.float64]
_WORD = re.compile(r"[a-z0-9]+")
_ADVOCATED = re.compile(r"\boption ([A-Z])\b")
_FLOOR = 2e-3

LEAN = 0.6
"""Weight of the scenario's own pull on the agent."""
MANDATE = 1.6
"""Weight of the mandate's pull."""
PEERS = 2.0
"""Weight of the other seats' preferences."""
ADVOCACY = 1.2
"""Weight of the options that the window's arguments advocate."""
WORDING = 0.9
"""Weight of the wording of the window's arguments."""
SATIETY = 0.5
"""Weight of the counter-pull of an option that the window argues for all the time."""
FIRST = 0.5
"""Share of the pulls in an agent's first preferences; afterwards its openness is that share."""
MEMORY = 0.94
"""Factor by which an argument's weight fades with each later argument."""


@dataclass(frozen=True)
class Persona:
    """The traits of a model id; every trait is drawn from a digest of the id."""

    model: str
    gain: float
    openness: float
    accent: float


@lru_cache(maxsize=256)
def draw_persona(model: str) -> Persona:
    """Make the persona of a model id."""
    u = _uniforms(f"persona {model}", 3)
    return Persona(model, 0.9 + 0.4 * u[0], 0.015 + 0.03 * u[1], 0.3 + 0.4 * u[2])


def update(prompt: Prompt, model: str, gain: float, coupling: float, kick: Field) -> Field:
    """Compute new preferences from everything the agent reads.

    Parameters
    ----------
    prompt
        What the agent reads.
    model
        Its model id, which fixes its persona.
    gain, coupling
        The backend's knobs.
    kick
        Added to the field: sampling noise at a positive temperature, shape (options,).

    Returns
    -------
    array, shape (options,)
        A point of the simplex.
    """
    who = draw_persona(model)
    size = len(prompt.case.labels)
    current = prompt.table[prompt.me].pref
    before = np.log(np.maximum(current, _FLOOR)) if current else np.zeros(size)
    pull = LEAN * measure_pull(who, prompt.case.text, prompt.case.names)
    if prompt.mandate:
        pull = pull + MANDATE * measure_pull(who, prompt.mandate, prompt.case.names)
    pull = pull + PEERS * _peers(prompt, size) + coupling * _window(who, prompt, size) + kick
    step = who.openness if current else FIRST
    logits = (1 - step) * (before - before.mean()) + step * 1.8 * np.tanh(gain * who.gain * pull)
    weights = np.exp(logits - logits.max())
    return np.asarray(weights / weights.sum())


def _peers(prompt: Prompt, size: int) -> Field:
    """Average the other seats' preferences, weighted by confidence, minus 1/K."""
    total, weight = np.zeros(size), 0.0
    for label, row in prompt.table.items():
        if row.pref and label != prompt.me:
            total += row.conf * (np.array(row.pref) - 1 / size)
            weight += row.conf
    return np.asarray(total / weight) if weight else total


def _window(who: Persona, prompt: Prompt, size: int) -> Field:
    """Sum up the effects of the window's arguments: advocacy, persuasion and satiety."""
    advocated, worded, fade = np.zeros(size), np.zeros(size), 1.0
    total = 0.0
    for label, argument in reversed(prompt.arguments):
        if label != prompt.me:
            advocated += fade * _advocacy(argument, prompt.case.labels)
            worded += fade * np.tanh(measure_pull(who, argument, prompt.case.names))
            total += fade
        fade *= MEMORY
    if not total:
        return advocated
    share = advocated / total
    counter = np.tanh(3.0 * share) * len(prompt.arguments) / 15
    persuasion = WORDING * worded / np.sqrt(total)
    return np.asarray(ADVOCACY * share + persuasion - SATIETY * counter)


@lru_cache(maxsize=65536)
def _advocacy(argument: str, labels: tuple[str, ...]) -> Field:
    """Return a unit vector on the option that the argument names first, minus its mean."""
    vector = np.zeros(len(labels))
    named = _ADVOCATED.search(argument)
    if named and named[1] in labels:
        vector[labels.index(named[1])] = 1.0
        vector -= vector.mean()
    return vector


@lru_cache(maxsize=65536)
def measure_pull(who: Persona, text: str, names: tuple[str, ...]) -> Field:
    """Compute the pull of a text: its words' valences over the square root of their number."""
    words = _WORD.findall(text.lower())
    if not words:
        return np.zeros(len(names))
    total = np.sum([_valence(who, word, names) for word in words], axis=0)
    return np.asarray((total - total.mean()) / np.sqrt(len(words)))


@lru_cache(maxsize=262144)
def _valence(who: Persona, word: str, names: tuple[str, ...]) -> Field:
    """Compute how a word speaks for each option: a shared part, and the persona's accent."""
    shared = np.array([_normal(f"{word} {name}") for name in names])
    private = np.array([_normal(f"{who.model} {word} {name}") for name in names])
    return np.asarray(np.sqrt(1 - who.accent) * shared + np.sqrt(who.accent) * private)


def _uniforms(name: str, count: int) -> list[float]:
    data = hashlib.blake2b(name.encode(), digest_size=4 * count).digest()
    return [int.from_bytes(data[4 * i : 4 * i + 4], "big") / 2**32 for i in range(count)]


def _normal(name: str) -> float:
    """Derive a nearly normal number, mean 0 and variance 1, from ``name``."""
    return (sum(_uniforms(name, 6)) - 3.0) * 2**0.5
