"""The opinions of simulated agents: a documented nonlinear update of their preferences.

What an agent reads is text alone; of the preamble only the first ``at most N words``. K is the
number of options, k runs over them; i is the agent, j are the other seats, with preferences p_j and
confidence c_j in the committee table; m = 1, 2, ..., n are the arguments of the window, m = 1 the
newest; <x> is the mean of x over the options. All fields over options are centred, so that only
differences between options count.

**Persona.** Three uniform numbers u1, u2, u3 in [0, 1), from a BLAKE2b digest of ``persona `` and
the model's id, give it traits. A persona has nothing to do with the model whose id it bears::

    g_i = 0.90 + 0.40 u1        gain
    o_i = 0.015 + 0.03 u2       openness: the weight of what is new
    a_i = 0.30 + 0.40 u3        accent: how much it reads words in its own way

**How a text pulls.** Every word speaks for or against every option, by a fixed number without
meaning. z is a nearly normal number with mean 0 and variance 1, made from a digest of its
arguments. A text has w words: maximal runs of a-z and 0-9, in lower case, repeats included::

    v_k(word) = sqrt(1 - a_i) z(word, name_k) + sqrt(a_i) z(model id, word, name_k)
    s_k       = sum of v_k(word) over the w words
    r(text)   = (s - <s>) / sqrt(w)                      0 for an empty text

**The update.** T is the temperature, x are K independent standard normal numbers, drawn for each
attempt at a call; a seat without a mandate has no such term::

    u    = LEAN r(scenario) + MANDATE r(mandate) + PEERS q + coupling h + T x
    b    = log(max(p_i, 0.002)) - <log(max(p_i, 0.002))>     0 before the agent's first turn
    l    = (1 - o) b + o 1.8 tanh(gain g_i u)                o = o_i; 0.5 in its first turn
    p_i' = softmax(l)

**Peers** are weighted by their confidence. **The window** has what the others' arguments advocate
(A), how they are worded (W), and how they tire; h is 0 where it holds no other's argument. The 15
is fixed: with a window of 3, satiety has a fifth of its weight at the default window::

    q   = sum of c_j (p_j - 1/K) / sum of c_j, over j other than i; 0 before anybody has spoken
    f_m = MEMORY^(m-1)                           own arguments count in m, not in the sums
    F   = sum of f_m
    A   = sum of f_m e_m / F                     e_m: 1 on the first option that argument m names
                                                 as "option X", else 0; minus 1/K
    W   = sum of f_m tanh(r(argument_m)) / sqrt(F)
    h   = ADVOCACY A + WORDING W - SATIETY tanh(3 A) n / 15

Advocacy pulls towards what the others argue for, satiety away from it, and more so the more they
agree. Wording is what makes small differences matter: another sentence is another pull.
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
"""The least preference that is felt: two steps of the thousandths that answers state."""

# Chosen so that committees are similar to published ones in D, flips and switches: docs/simulated-
# backend.md compares them.
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


# More models than a study calls: traits are drawn once for each.
@lru_cache(maxsize=256)
def draw_persona(model: str) -> Persona:
    """Make the persona of a model id."""
    u = _uniforms(f"persona {model}", 3)
    # The ranges are the model's own choice, as the weights above are: agents differ, and all stay
    # near a gain of 1.1.
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
    # A preference of 0 has no logarithm, and could never come back.
    before = np.log(np.maximum(current, _FLOOR)) if current else np.zeros(size)
    pull = LEAN * measure_pull(who, prompt.case.text, prompt.case.names)
    if prompt.mandate:
        pull = pull + MANDATE * measure_pull(who, prompt.mandate, prompt.case.names)
    pull = pull + PEERS * _peers(prompt, size) + coupling * _window(who, prompt, size) + kick
    step = who.openness if current else FIRST
    # 1.8 bounds the pull: of three options one that wins it all ends at 95 %, e^3.6 times each
    # other, so that no agent is ever certain. The number was chosen with the weights above.
    logits = (1 - step) * (before - before.mean()) + step * 1.8 * np.tanh(gain * who.gain * pull)
    # Less the largest, so that no exponential overflows.
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
    # Backwards from the last argument, so that older ones have faded more.
    for label, argument in reversed(prompt.arguments):
        if label != prompt.me:
            advocated += fade * _advocacy(argument, prompt.case.labels)
            worded += fade * np.tanh(measure_pull(who, argument, prompt.case.names))
            total += fade
        # Own arguments fade those before them too: they take up memory.
        fade *= MEMORY
    if not total:
        return advocated
    share = advocated / total
    # At 3 an option that all argue for (2/3 over the mean of three) has nearly the full
    # counter-pull, tanh 2 = 0.96; 15 is the default window.
    counter = np.tanh(3.0 * share) * len(prompt.arguments) / 15
    persuasion = WORDING * worded / np.sqrt(total)
    return np.asarray(ADVOCACY * share + persuasion - SATIETY * counter)


# An argument is read by every seat whose window holds it, in turn after turn.
@lru_cache(maxsize=65536)
def _advocacy(argument: str, labels: tuple[str, ...]) -> Field:
    """Return a unit vector on the option that the argument names first, minus its mean."""
    vector = np.zeros(len(labels))
    named = _ADVOCATED.search(argument)
    if named and named[1] in labels:
        vector[labels.index(named[1])] = 1.0
        vector -= vector.mean()
    return vector


# As above; the scenario and the mandate return in every prompt besides.
@lru_cache(maxsize=65536)
def measure_pull(who: Persona, text: str, names: tuple[str, ...]) -> Field:
    """Compute the pull of a text: its words' valences over the square root of their number."""
    words = _WORD.findall(text.lower())
    if not words:
        return np.zeros(len(names))
    total = np.sum([_valence(who, word, names) for word in words], axis=0)
    return np.asarray((total - total.mean()) / np.sqrt(len(words)))


# An entry a word, model and scenario: the vocabulary of simulated agents is small, so that a large
# sweep fits. Without it every word of every prompt would be digested again.
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
    # Six, since four bytes each fit one digest of 24, and the sum is nearly normal up to 4.2.
    # Six uniforms have the mean 3 and the variance 1/2.
    return (sum(_uniforms(name, 6)) - 3.0) * 2**0.5
