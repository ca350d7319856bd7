"""Catalogues of released files: reading and validation."""

import csv
import io
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from plenum.base.errors import UserError
from plenum.base.project import resolve_path
from plenum.base.regular_files import read_text
from plenum.base.yaml_files import read_yaml

Texts = str | list[str]
Numbers = int | list[int]


def _format_known(table: str) -> str:
    if not resolve_path(f"reference/{Path(table).name}.csv").is_file():
        raise ValueError("there is no such table in reference/")
    return Path(table).name


class FileSelection(BaseModel):
    """A rule that selects a study's files from a group of folders, by the files' names."""

    model_config = ConfigDict(extra="forbid")

    group: Annotated[str, Field(alias="in")]
    scenario: Texts | None = None
    roles: Texts | None = None
    model: Texts | None = None
    temperature: Texts | None = None
    memory: Texts | None = None
    rounds: Numbers | None = None
    agents: Numbers | None = None


class DesignFiles(BaseModel):
    """The released files that hold the packets, their wordings and the prompts."""

    prompts: str | None = None
    scenarios: str | None = None
    registers: str | None = None
    variants: list[str] | None = None


class Catalogue(BaseModel):
    """A catalogue's entries; the optional ones are only needed by some scripts."""

    repository: str
    commit: str
    replicates: Annotated[int, Field(ge=1)]
    folders: dict[str, list[str]]
    studies: dict[str, list[FileSelection]]
    branching: str
    files: str | None = None
    options: dict[str, Annotated[str, Field(pattern="^[^/]+ / [^/]+ / [^/]+$")]] = {}
    tables: list[Annotated[str, AfterValidator(_format_known)]] = []
    design: DesignFiles | None = None
    explained: dict[str, str] = {}


def read(catalogue: Path) -> dict[str, Any]:
    """Return the entries of a catalogue.

    Raises
    ------
    UserError
        It can't be read, lacks a required entry, or has one of the wrong type.
    """
    try:
        checked = Catalogue.model_validate(read_yaml(catalogue, "catalogue"))
    except ValidationError as error:
        first, where = error.errors()[0], f"catalogue: {catalogue}"
        missing = sorted(str(e["loc"][0]) for e in error.errors() if e["type"] == "missing")
        if len(first["loc"]) == 1 and missing:
            raise UserError(f"{where} says nothing of {', '.join(missing)}") from None
        place = ".".join(map(str, first["loc"])) or "file"
        raise UserError(f"{where}: {place}: {first['msg']}") from None
    for name, chosen in checked.studies.items():
        if unknown := [rule.group for rule in chosen if rule.group not in checked.folders]:
            raise UserError(f"catalogue: {catalogue}: studies.{name}: no folders {unknown[0]}")
    return checked.model_dump(by_alias=True, exclude_none=True)


def blobs(digests: Path) -> dict[str, str]:
    """Return git's digests of released files by path, read from a CSV file.

    Raises
    ------
    UserError
        It can't be read, or lacks a column.
    """
    try:
        rows = csv.DictReader(io.StringIO(read_text(digests)), strict=True)
        if not {"path", "blob"} <= set(rows.fieldnames or ()):
            raise ValueError("it has no columns path and blob")
        return {row["path"]: row["blob"] for row in rows}
    except (OSError, ValueError, csv.Error) as error:
        raise UserError(f"catalogue: files: {digests} can't be read: {error}") from None
