"""Wordings that are whole packets, taken word for word from others, in place of a scenario's.

They lie next to a scenario that is itself such a packet, in ``variants/<ID>.yaml`` and
``variants/<ID>.registers.yaml``. The screen of wordings doesn't read them. Each may have an ``id``
that its ballots name in place of the scenario's; ``canonical`` is the id that ballots of the
scenario's own packet name.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from plenum.base.errors import UserError
from plenum.base.yaml_files import read_yaml
from plenum.scenarios.scenario import NAME, Scenario
from plenum.scenarios.variant import FAMILIES, Variant


def load_packets(path: Path, scenario: Scenario, family: str) -> tuple[Variant, ...]:
    """Load a file's wordings of one family, in its order, with the canonical one that it names.

    Raises
    ------
    UserError
        The file can't be read or isn't of the format, or holds none of this family.
    """
    data = read_yaml(path, "variants file")
    variants = check_packets(data, path, scenario.id)
    chosen = [variant for variant in variants if variant.family == family]
    if not chosen:
        raise UserError(f"variants file {path}: it holds no wording of the family {family}")
    if "canonical" in data:
        chosen.insert(0, Variant("canonical", "canonical", scenario.packet, data["canonical"]))
    return tuple(chosen)


def check_packets(data: Any, path: Path, scenario: str) -> tuple[Variant, ...]:
    """Check a file's data and return its wordings.

    Parameters
    ----------
    scenario
        The id of the scenario.

    Raises
    ------
    UserError
        Something is missing, unknown or malformed.
    """
    if not isinstance(data, Mapping) or set(data) - {"canonical"} != {"scenario", "packets"}:
        raise UserError(f"variants file {path}: give it scenario and packets, maybe canonical")
    if data["scenario"] != scenario:
        raise UserError(f"variants file {path}, scenario: {data['scenario']!r}; write {scenario}")
    named = data.get("canonical", scenario)
    if not isinstance(named, str) or not re.fullmatch(NAME, named):
        raise UserError(f"variants file {path}, canonical: {named!r} is no id")
    entries = data["packets"]
    for number, entry in enumerate(entries if isinstance(entries, list) else [None], start=1):
        for problem in _problems(entry):
            raise UserError(f"variants file {path}, packet {number}: {problem}")
    names = [entry["name"] for entry in entries]
    for name in names:
        if names.count(name) > 1:
            raise UserError(f"variants file {path}: {name} stands twice; give each its own name")
    return tuple(Variant(**entry) for entry in entries)


def _problems(entry: Any) -> Iterator[str]:
    """Yield what is wrong with one packet."""
    keys = ("name", "family", "packet")
    if not isinstance(entry, Mapping) or set(entry) - {"id"} != set(keys):
        yield f"malformed; give it {', '.join(keys)}, and id where it has one of its own"
        return
    for key, text in entry.items():
        if not isinstance(text, str) or not text.strip():
            yield f"{key}: {text!r} is no text; put it in quotes"
        elif key in ("name", "id") and not re.fullmatch(NAME, text):
            yield f"{key}: {text!r}; use letters, digits, '.', '_' and '-'"
    # The first family is the scenario's own packet, which no other text can be.
    if entry["family"] not in FAMILIES[1:]:
        yield f"family: {entry['family']!r} is not one of {', '.join(FAMILIES[1:])}"
    # Members' states begin so: a packet that has it would be read as what a member stated.
    if re.search(r"STATE\s*:", str(entry["packet"])):
        yield "packet: it holds 'STATE:'; write that in another way"
