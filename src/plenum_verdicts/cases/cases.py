"""Cases of an audit, from scenarios or a data set; all are checked before any is run."""

import json
import string
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from plenum.base.errors import UserError
from plenum.base.project import project_root
from plenum.base.text import flatten
from plenum.base.yaml_files import read_yaml
from plenum.scenarios.scenario import check_scenario
from plenum_verdicts.cases.case import NO_DECISION, AuditCase
from plenum_verdicts.cases.decision import look_alike
from plenum_verdicts.readers.data_sets import TABLES, Row, Wrong, read_rows

CASE_COLUMNS: Mapping[str, Any] = {field: field for field in ("id", "text", "options", "answer")}
"""Default columns of a data set for the fields of a case."""

Read = Mapping[str, Any] | AuditCase | Wrong
"""A record that was read: a case's fields, a case, or an error."""

WORDINGS = "wordings"
"""The field of a case's text in other words, a list; a data set's column of it must be named."""

_FIELDS = (*CASE_COLUMNS, "extras", WORDINGS)
_SHOWN = 3
"""Number of errors that a message names; it counts the others."""

_LONGEST_ID = 200
_SHOWN_OPTION = 60


def load_cases(
    case: str | Path, columns: Mapping[str, Any] = CASE_COLUMNS
) -> tuple[AuditCase, ...]:
    """Read the cases of a folder of YAML files, of one YAML file, or of a data set.

    Parameters
    ----------
    case
        The path, relative to the working directory or the project's root. A YAML file is a scenario
        (docs/scenarios.md), a mapping of ``id``, ``text``, ``options``, optionally ``answer``,
        ``wordings`` and ``extras``, or a list of such. A data set is a ``.csv``, ``.jsonl`` or
        ``.parquet`` file.
    columns
        The data set's column of each field; for ``options`` several columns, or names by label that
        all rows share. ``id`` may be ``None``: rows are numbered. All other columns are the cases'
        extras.

    Returns
    -------
    tuple
        At least one case, in the order of the file, or of the files' names; ids are unique.

    Raises
    ------
    UserError
        The path, a column or a record is malformed; the message names file, line and error.
    """
    path = Path(case).expanduser()
    try:
        if not path.exists() and (project_root() / path).exists():
            path = project_root() / path
        if not path.exists():
            raise UserError(f"case={case}: there is no such file or folder")
    except OSError as error:  # such as a name that is too long
        raise UserError(f"case={str(case)[:_LONGEST_ID]}: {error.strerror}") from None
    files = _yaml_files(path) if path.is_dir() else [path]
    cases: dict[str, AuditCase] = {}
    places: dict[str, str] = {}
    wrong: list[str] = []
    for file in files:
        for place, record in _records(file, columns):
            where = f"{file}{place and ', '}{place}"
            try:
                read = _case(record)
                if read.id in cases:
                    raise Wrong(f"the id {read.id} stands twice; first in {places[read.id]}")
                cases[read.id], places[read.id] = read, where
            except Wrong as problem:
                wrong.append(f"{where}: {problem}")
    if wrong:
        more = f"; and {len(wrong) - _SHOWN} more" if len(wrong) > _SHOWN else ""
        raise UserError("; ".join(wrong[:_SHOWN]) + more)
    if not cases:
        raise UserError(f"case={case}: it holds no case")
    return tuple(cases.values())


def _yaml_files(folder: Path) -> list[Path]:
    files = [f for f in sorted(folder.iterdir()) if f.suffix in (".yaml", ".yml") and f.is_file()]
    if not files:
        raise UserError(f"case={folder}: the folder holds no YAML file")
    return files


def _records(file: Path, columns: Mapping[str, Any]) -> Iterator[tuple[str, Read]]:
    """Yield the records of a file, each with its place there."""
    if file.suffix in (".yaml", ".yml"):
        if changed := [field for field in columns if columns[field] != CASE_COLUMNS.get(field)]:
            raise UserError(f"columns.{changed[0]}: only for a data set; {file} is YAML")
        yield from _of_yaml(file)
        return
    if file.suffix not in TABLES:
        raise UserError(f"case={file}: give a folder, or a file in .yaml, {', '.join(TABLES)}")
    if unknown := columns.keys() - {*CASE_COLUMNS, WORDINGS}:
        known = ", ".join((*CASE_COLUMNS, WORDINGS))
        raise UserError(f"columns.{min(unknown)}: unknown; the fields are {known}")
    chosen = {**CASE_COLUMNS, **columns}
    for number, (place, row) in enumerate(read_rows(file), 1):
        if isinstance(row, Wrong):
            yield place, row
            continue
        _check_columns(row, chosen, f"{file}, {place}")
        try:
            yield place, _map(row, chosen, number)
        except Wrong as problem:
            yield place, problem


def _of_yaml(file: Path) -> Iterator[tuple[str, Read]]:
    data = read_yaml(file, "case")
    if isinstance(data, Mapping) and {"situation", "packet"} & data.keys():
        read = check_scenario(data, file)
        yield "", AuditCase(read.id, read.packet, {o.label: o.name for o in read.options})
        return
    several = isinstance(data, list)
    for number, record in enumerate(data if several else [data], 1):
        place = f"case {number}" if several else ""
        if not isinstance(record, Mapping):
            yield place, Wrong(f"it is no mapping; give it {', '.join(_FIELDS)}")
        elif unknown := [field for field in record if field not in _FIELDS]:
            yield place, Wrong(f"field {unknown[0]}: unknown; the fields are {', '.join(_FIELDS)}")
        else:
            yield place, {"id": None if several else file.stem, **record}


def _check_columns(row: Row, columns: Mapping[str, Any], where: str) -> None:
    for field, chosen in columns.items():
        for column in _several(chosen):
            if column not in row and (field, column) != ("answer", CASE_COLUMNS["answer"]):
                columns_known = f"columns.{field} is one of: {', '.join(map(str, row))}"[:500]
                raise UserError(f"{where}: no column {column}; {columns_known}")


def _several(column: Any) -> list[str]:
    """Return the names of a field's columns."""
    if isinstance(column, Mapping):
        return []
    return [column] if isinstance(column, str) else list(column or ())


def _map(row: Row, columns: Mapping[str, Any], number: int) -> dict[str, Any]:
    """Convert a row to a case's fields."""
    used = {name for chosen in columns.values() for name in _several(chosen)}
    cells = {f: row.get(columns[f]) for f in ("id", "text", "answer") if columns[f] is not None}
    match columns["options"]:
        case str(column):
            options = row[column]
        case Mapping() as options:
            pass
        case several:
            options = _of_columns(row, several)
    extras = {name: value for name, value in row.items() if name not in used}
    fields = {"id": number, **cells, "options": options, "extras": extras}
    if WORDINGS in columns:
        fields[WORDINGS] = _of_columns(row, columns[WORDINGS])
    return fields


def _of_columns(row: Row, column: Any) -> Any:
    """Return the cells of one column or of several, without empty ones."""
    if isinstance(column, str):
        return row[column]
    return [row[name] for name in _several(column) if row[name] not in ("", None)]


def _case(record: Read) -> AuditCase:
    """Return the case of a record.

    Raises
    ------
    Wrong
        The record isn't a valid case.
    """
    if isinstance(record, Wrong):
        raise record
    if isinstance(record, AuditCase):
        return apart(record)
    fields = plain(record)
    name = _text(fields, "id")
    if name != flatten(name) or len(name) > _LONGEST_ID:
        raise Wrong(f"id: {name[:60]!r}; one line of at most {_LONGEST_ID} printable characters")
    if not isinstance(fields.get("text"), str):
        raise Wrong("text: it is no text")
    options = read_options(fields.get("options"))
    extras = fields.get("extras") or {}
    if not isinstance(extras, dict):
        raise Wrong("extras: it is no mapping")
    answer = find_option(fields.get("answer"), options)
    text = _text(fields, "text")
    return apart(
        AuditCase(name, text, options, answer, extras, _wordings(fields.get(WORDINGS), text))
    )


def _wordings(data: Any, text: str) -> tuple[str, ...]:
    """Return other wordings of a text: a list of texts, or JSON of one.

    Raises
    ------
    Wrong
        One is no text, or the same as another or as the text itself.
    """
    if data is None or data == "":
        return ()
    if isinstance(data, str):
        try:
            data = json.loads(data)
        except (ValueError, RecursionError):
            raise Wrong(f"{WORDINGS}: {data[:60]!r} is no JSON list of texts") from None
    if not isinstance(data, list):
        raise Wrong(f"{WORDINGS}: they are a list of texts")
    wordings = tuple(_text({WORDINGS: each}, WORDINGS) for each in data)
    if len({text, *wordings}) <= len(wordings):
        raise Wrong(f"{WORDINGS}: two of them, or one and the text, are the same")
    return wordings


def require_apart(case: AuditCase) -> AuditCase:
    """Check a case that doesn't come from a file as :func:`apart`; raises :class:`UserError`."""
    try:
        return apart(case)
    except Wrong as problem:
        raise UserError(str(problem)) from None


def apart(case: AuditCase) -> AuditCase:
    """Return the case after checking that no text can name two of its options.

    Raises
    ------
    Wrong
        Two of them look alike, so decisions for one would count as decisions for the other.
    """
    if (alike := look_alike(case.options)) is None:
        return case
    *labels, text = alike
    first, second = (f"{label} ({case.options[label]})"[:_SHOWN_OPTION] for label in labels)
    read = f"both are read as {text[:_SHOWN_OPTION]!r}" if text else "nothing but marks names them"
    raise Wrong(
        f"case {case.id}: options {first} and {second} look alike: {read}; give labels and names "
        "that differ in more than case, width and punctuation, also crosswise"
    )


def plain(record: Mapping[str, Any]) -> dict[str, Any]:
    """Convert a record to JSON values: numbers like NaN become null, dates become text."""
    if all(_is_plain(value) for value in record.values()):
        return dict(record)
    try:
        text = json.dumps(record, default=str, ensure_ascii=False)
        text.encode()
        fields: dict[str, Any] = json.loads(text, parse_constant=lambda _: None)
    except (TypeError, ValueError, RecursionError):
        raise Wrong("it holds what no JSON text can hold, such as half a surrogate pair") from None
    return fields


def _is_plain(value: Any) -> bool:
    """Return whether a value is certainly a JSON value; most are, and need no conversion."""
    if isinstance(value, str):
        return value.isascii()
    if type(value) is dict:
        return all(map(_is_plain, value)) and all(map(_is_plain, value.values()))
    if type(value) is list:
        return all(map(_is_plain, value))
    return (
        value is None or type(value) in (bool, int) or (type(value) is float and value - value == 0)
    )


def _text(record: Mapping[str, Any], field: str) -> str:
    """Return a text, or a number as text.

    Raises
    ------
    Wrong
        It is empty, or of another type.
    """
    value = record.get(field)
    if value is None or (isinstance(value, str) and not value.strip()):
        raise Wrong(f"{field}: empty; give it a text")
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        why = " (YAML reads yes and no as true and false)" if isinstance(value, bool) else ""
        raise Wrong(f"{field}: {json.dumps(value)[:60]} is no text{why}; put it in quotes")
    return value.strip() if isinstance(value, str) else str(value)


def read_options(data: Any) -> dict[str, str]:
    """Return names by label, given those, names (labelled ``A``, ...), or JSON of these.

    Raises
    ------
    Wrong
        There are fewer than two, duplicates, or they are malformed.
    """
    if isinstance(data, str) and data.strip():
        try:
            data = json.loads(data)
        except (ValueError, RecursionError):
            raise Wrong(
                f'options: {data[:60]!r} is no JSON list, such as ["Approve", "Reject"]; or name '
                "several columns: columns.options=[option_a,option_b]"
            ) from None
    if isinstance(data, Sequence) and not isinstance(data, str):
        labels = string.ascii_uppercase[: len(data)]
        if len(data) > len(labels):
            raise Wrong(f"options: {len(data)} names; give more than {len(labels)} their labels")
        data = dict(zip(labels, data, strict=True))
    if not isinstance(data, Mapping) or len(data) < 2:
        raise Wrong("options: fewer than two; give a list of names, or names by label")
    options = {label.strip(): _text(data, label) for label in data}
    for label in options:
        if label != flatten(label) or label in ("", NO_DECISION):
            raise Wrong(f"options: {label!r} can't be a label; {NO_DECISION} means no decision")
    names = list(options.values())
    if len(options) < len(data) or len(set(names)) < len(names):
        twice = next((name for name in names if names.count(name) > 1), "a label")
        raise Wrong(f"options: {twice} stands twice")
    return options


def find_option(answer: Any, options: Mapping[str, str]) -> str | None:
    """Return the label of an option, given its label or name; ``None`` if empty.

    Raises
    ------
    Wrong
        It names none of the options.
    """
    if answer is None or answer == "":
        return None
    text = _text({"answer": answer}, "answer")
    labels = [label for label, name in options.items() if text == name]
    if text not in options and not labels:
        known = ", ".join(f"{label} ({name})" for label, name in options.items())
        raise Wrong(f"answer: {text[:60]!r} is no option; the options are {known}"[:500])
    return text if text in options else labels[0]
