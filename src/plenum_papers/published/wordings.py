"""The released packets and wordings: reading and validation of their JSON files."""

from collections import Counter
from pathlib import Path
from typing import Annotated

from pydantic import AliasChoices, BaseModel, Field

from plenum.base.errors import UserError
from plenum.scenarios.scenario import NAME
from plenum_papers.published.catalogue import Release
from plenum_papers.published.records import parse_released

FAMILIES = {"surface_rephrasing": "rephrase", "formatting_changes": "format"}
"""Names of the released families in plenum."""

Name = Annotated[str, Field(pattern=f"^{NAME}$")]


class Packet(BaseModel):
    """A released scenario."""

    scenario_id: Name
    domain: str
    text: str


class Packets(BaseModel):
    """The released scenarios."""

    scenarios: Annotated[list[Packet], Field(min_length=1)]


class Wording(BaseModel):
    """A released wording; registers have no family."""

    variant_id: Name
    label: str
    family: str | None = None
    text: str


class ReleasedWordings(BaseModel):
    """The released wordings of a scenario, or its registers, the canonical one first."""

    scenario_id: Annotated[
        Name, Field(validation_alias=AliasChoices("scenario_id", "base_scenario_id"))
    ]
    variants: Annotated[list[Wording], Field(min_length=2)]


class WordingSets(BaseModel):
    """A file of wordings of several scenarios."""

    variant_sets: list[ReleasedWordings]


def packets(release: Release) -> list[Packet]:
    """Return the released scenarios.

    Raises
    ------
    UserError
        The file can't be read, was changed, has another form, or holds a scenario twice.
    """
    path = Path(release.rules["design"]["scenarios"])
    scenarios = parse_released(release, path, Packets).scenarios
    for name, count in Counter(packet.scenario_id for packet in scenarios).items():
        if count > 1:
            raise UserError(f"published: {path} holds {name} {count} times")
    return scenarios


def wordings(release: Release) -> dict[str, tuple[Path, list[Wording]]]:
    """Return all wordings and the path of their released file, by the name of the file to write.

    Raises
    ------
    UserError
        As for :func:`packets`.
    """
    rules = release.rules["design"]
    path = Path(rules["registers"])
    registers = parse_released(release, path, ReleasedWordings)
    files = {f"{registers.scenario_id}.registers.yaml": (path, registers.variants)}
    for path in map(Path, rules["variants"]):
        for each in parse_released(release, path, WordingSets).variant_sets:
            name = f"{each.scenario_id}.yaml"
            if name in files:
                raise UserError(f"published: {path} holds wordings of {each.scenario_id} again")
            files[name] = (path, each.variants)
    return files
