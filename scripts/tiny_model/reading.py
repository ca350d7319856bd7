"""What the teacher sees: a prompt of this protocol, taken apart from its text alone."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import yaml

from plenum.base import prompts_folder, resolve_path
from plenum.models import Message, PromptRow, read_arguments, read_rows

_LABELS = re.compile(r"The preferences stand for ([A-Z](?:, [A-Z])*) in this order")
_SEAT = re.compile(r"^Your seat: (.+)$", re.MULTILINE)
_STAND = re.compile(r"\b(\w+) (?:backs|favours|prefers) ([A-Z]) \([^()]*\) over ([A-Z])\b")


@dataclass(frozen=True)
class View:
    """A view of a scenario: preferences, reasons, tags and names of its options."""

    place: str
    homes: dict[str, str]
    lean: str
    rival: str
    reasons: dict[str, tuple[str, ...]]
    tags: dict[str, tuple[str, ...]]
    names: dict[str, str]


@dataclass(frozen=True)
class Remark:
    """A remark and the label of its speaker."""

    label: str
    argument: str

    @property
    def stand(self) -> tuple[str, str, str] | None:
        """How firmly it is for which option over which other, where it says so."""
        match = _STAND.search(self.argument)
        return (match[1], match[2], match[3]) if match else None

    @property
    def choice(self) -> str:
        """The option that it is for; empty where it names none."""
        return self.stand[1] if self.stand else ""


@dataclass(frozen=True)
class Prompt:
    """Everything that a seat reads; ``rejected`` is its own answer that is to be repaired."""

    view: View
    labels: tuple[str, ...]
    mandate: str
    me: str
    window: tuple[Remark, ...]
    table: dict[str, PromptRow]
    task: str
    rejected: Remark | None

    @property
    def row(self) -> PromptRow | None:
        """The seat's own row, once it has spoken."""
        return self.table.get(self.me)


def read(messages: Sequence[Message]) -> Prompt:
    """Take the prompt of a turn, a ballot or a repair apart."""
    system, user = messages[0].content, messages[1].content
    packet, _, dynamic = user.rpartition("\n\n## Recent arguments\n")
    window, _, after = dynamic.rpartition("\n\n## Committee table\n")
    table, _, task = after.partition("\n\n## ")
    labels = labels_of(system)
    me = _SEAT.search(system)
    assert me is not None
    answer = messages[2].content if len(messages) > 2 else None
    return Prompt(
        view=view_of(packet),
        labels=labels,
        mandate=mandate_of(system),
        me=me[1],
        window=tuple(Remark(label, answer) for label, answer in read_arguments(window)),
        table={label: row for label, row in read_rows(table, len(labels)).items() if row.pref},
        task="ballot" if task.startswith("Private ballot") else "turn",
        rejected=None if answer is None else Remark(me[1], answer),
    )


@lru_cache(maxsize=4096)
def labels_of(system: str) -> tuple[str, ...]:
    """The option labels that a system message names."""
    match = _LABELS.search(" ".join(system.split()))
    assert match is not None
    return tuple(match[1].split(", "))


@lru_cache(maxsize=4096)
def mandate_of(system: str) -> str:
    """The mandate in a system message, by the name of its file; empty without one."""
    text = system.partition("\nYour mandate: ")[2]
    return next((name for name, mandate in _mandates().items() if mandate == text), "")


@lru_cache(maxsize=4096)
def view_of(packet: str) -> View:
    """The view of the scenario that a packet words: it names the place.

    Names of options that the packet doesn't hold are left out.
    """
    view = next(view for view in views().values() if view.place in packet)
    names = {label: name for label, name in view.names.items() if name.lower() in packet.lower()}
    return View(**{**vars(view), "names": names})


@lru_cache(maxsize=1)
def views() -> dict[str, View]:
    """The views of all scenarios, by id."""
    data = yaml.safe_load(Path(__file__).with_name("views.yaml").read_text(encoding="utf-8"))
    return {key: _view(key, entry) for key, entry in data.items()}


def _view(key: str, entry: dict[str, object]) -> View:
    from plenum import scenarios

    scenario = scenarios.load_scenario(resolve_path(f"scenarios/{key}.yaml"))
    options = entry.pop("options")
    assert isinstance(options, dict)
    return View(
        **entry,  # type: ignore[arg-type]
        reasons={label: tuple(option["reasons"]) for label, option in options.items()},
        tags={label: tuple(option["tags"]) for label, option in options.items()},
        names={option.label: option.name for option in scenario.options},
    )


@lru_cache(maxsize=1)
def _mandates() -> dict[str, str]:
    folder = prompts_folder() / "mandates"
    return {path.stem: path.read_text().strip() for path in sorted(folder.glob("*.txt"))}
