"""Conditions: one cell of a design, with an identity.

A condition fixes every factor and leaves the replicates free. Its identity is a digest over all
that can change an outcome, and over nothing else: no path, no worker count, no date, and not the
number of replicates, so that a study can grow. :mod:`plenum.design.compose` builds it; each kind
of condition (:mod:`plenum.design.kinds`) says what is studied and adds its factors.
"""

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

from plenum.base.identity import digest, name_folder

if TYPE_CHECKING:
    from plenum.design.settings import Backend, Branch, Sampling


@dataclass(frozen=True, kw_only=True)
class Condition(ABC):
    """One cell of a design, of any kind.

    Attributes
    ----------
    kind
        The name in :data:`plenum.design.kinds.KINDS` of what is studied.
    model
        The name of the model assignment, a factor.
    weights
        Digests of the hosted models that lie in a folder, by model.
    branch
        Of continuations: where they part from the replicates that they continue.
    rerun
        Which time this is run; not part of the identity, since it must change nothing.
    reading
        How answers are read: ``strict`` or ``lenient``. Identities are older than it, so that only
        ``lenient`` is part of one.
    """

    kind: ClassVar[str]

    model: str
    sampling: "Sampling"
    backend: "Backend"
    rounds: int
    seed: int
    weights: tuple[tuple[str, str], ...] = ()
    branch: "Branch | None" = None
    rerun: int = 0
    reading: str = "strict"

    @abstractmethod
    def collect_identity(self) -> dict[str, Any]:
        """All that can change an outcome, as plain data."""

    @property
    @abstractmethod
    def labels(self) -> tuple[str, ...]:
        """Names of factor levels that the identity doesn't cover."""

    @property
    @abstractmethod
    def calls(self) -> int:
        """Model calls of one replicate without repairs, at most."""

    @property
    @abstractmethod
    def models(self) -> tuple[str, ...]:
        """The distinct models that are called."""

    @property
    @abstractmethod
    def factors(self) -> dict[str, str | int]:
        """The design factors of this cell by name, by which tables group."""

    @property
    @abstractmethod
    def settings(self) -> str:
        """Settings off their defaults that no other factor names, such as ``gain=2``."""

    @abstractmethod
    def as_mapping(self) -> dict[str, Any]:
        """Return plain data: the head of a journal and the params of a tracking run."""

    @cached_property
    def identity(self) -> str:
        """Sixteen hexadecimal characters over all that can change an outcome."""
        return digest(self.collect_identity())

    @property
    def cell(self) -> str:
        """Names the condition under these labels: one condition may stand in two cells."""
        again = [self.rerun] if self.rerun else []
        return digest([self.identity, *self.labels, *again])

    @property
    def constrained(self) -> bool:
        """True if the backend holds answers to their form."""
        return False

    @property
    def folder(self) -> str:
        """The name of the folder that holds the journals: the identity, and which rerun it is."""
        return name_folder(self.identity, self.rerun)

    @property
    def base(self) -> Self:
        """The condition whose replicates a branch continues; without branches, the condition."""
        return dataclasses.replace(self, branch=None)

    @property
    def last_speaker(self) -> str:
        """The seat whose turn ends a round; empty where the journal has an entry for that."""
        return ""

    def variant(self, replicate: int) -> Any:
        """Return the wording that a replicate reads; ``None`` if the words aren't varied."""
        return None

    def _describe(self, names: Sequence[str]) -> str:
        """Return these factors and the changed settings in one line."""
        factors = self.factors
        shown = " ".join(f"{name}={factors[name]}" for name in names)
        return shown if self.settings == "default" else f"{shown} {self.settings}"


def format_value(value: Any) -> str:
    """Format a setting's value for a line of settings."""
    return f"{value:g}" if isinstance(value, float) else str(value)


def list_changed_settings(
    parts: Sequence[Any], *, except_for: Sequence[str] = (), defaults: dict[str, Any] | None = None
) -> list[str]:
    """List settings off their defaults that no factor names, as ``key=value``.

    Parameters
    ----------
    parts
        Dataclasses of settings.
    except_for
        Settings that factors name, besides the temperature.
    defaults
        Defaults that differ from the dataclasses', by name.
    """
    named = ("name", "temperature", "api_base", *except_for)
    return [
        line
        for part in parts
        for field in dataclasses.fields(part)
        if field.name not in (*named, *getattr(part, "elsewhere", ()))
        and getattr(part, field.name) != (defaults or {}).get(field.name, field.default)
        for line in _list_values(field.name, getattr(part, field.name))
    ]


def _list_values(name: str, value: Any) -> Iterator[str]:
    """Yield a setting as ``key=value``; of a mapping each of its values, and no spaces."""
    if not isinstance(value, dict):
        yield f"{name}={format_value(value)}"
    for key, each in value.items() if isinstance(value, dict) else ():
        plain = isinstance(each, dict)
        yield from _list_values(f"{name}.{key}", each if plain else str(each).replace(" ", ""))


def temperature_label(temperature: float) -> str:
    """``t0``, ``t1e-5``, ``t0.7``: the name of a temperature, as its config option has it."""
    if temperature and abs(temperature) < 1e-3:
        mantissa, exponent = f"{temperature:e}".split("e")
        return f"t{float(mantissa):g}e{int(exponent)}"
    return f"t{temperature:g}"
