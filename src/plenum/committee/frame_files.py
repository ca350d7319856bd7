"""Frames that a user wrote, read from files and checked.

A set of prompts is a folder with ``preamble.txt``, ``preamble_alone.txt``, ``mandates/`` and,
where its frame isn't plenum's, ``frame/`` with a file for each template that differs.
"""

from collections.abc import Iterator
from dataclasses import fields
from string import Template

from plenum.base.errors import UserError
from plenum.base.project import resolve_path
from plenum.base.regular_files import read_bytes
from plenum.committee.frame import Frame

FRAME_TEMPLATES = tuple(field.name for field in fields(Frame) if field.name != "answers")
"""The names of the templates, and of their files."""

_FIXED = frozenset(
    {
        "scenario", "labels", "columns", "order", "members", "argument_words", "k", "rounds",
        "state_format", "ballot_form", "clerk_form", "window", "table",
    }
)  # fmt: skip
_SEAT = _FIXED | {"packet", "label", "mandate", "round", "last", "round_line"}

PLACEHOLDERS: dict[str, frozenset[str]] = {
    **dict.fromkeys(("system", "ballot_system"), frozenset({"preamble", "label", "mandate"})),
    **dict.fromkeys(("turn", "ballot", "ballot_alone"), _SEAT),
    **dict.fromkeys(("clerk_system", "nothing", "withheld", "last"), frozenset[str]()),
    "round_line": frozenset({"round", "rounds", "last"}),
    "clerk": _FIXED | {"ballots"},
    "mandate": frozenset({"mandate"}),
    "remark": frozenset({"label", "argument", "quoted", "round", "round02"}),
    "row": frozenset({"label", "cells", "pref", "conf", "first_tag", "second_tag"}),
    "blank": frozenset({"label", "blanks"}),
    "repair": frozenset({"problem", "state_format"}),
    **dict.fromkeys(("repair_ballot", "repair_clerk"), frozenset({"problem", "form"})),
}
"""The placeholders that each template may hold."""


def load_frame(folder: str, answers: str) -> Frame:
    """Load the frame of a set of prompts: its templates, and plenum's for those that it lacks.

    A file holds its template and a line break after it.

    Parameters
    ----------
    folder
        Where the set lies, relative to the project.
    answers
        As :attr:`Frame.answers`.

    Raises
    ------
    UserError
        There is no such folder, a file can't be read, is no template, or holds a placeholder that
        it can't have.
    """
    place = resolve_path(folder)
    if not place.is_dir():
        raise UserError(
            f"prompts.folder: {folder} does not exist; docs/published-design.md says what writes it"
        )
    texts = {}
    # Sorted, so that of several mistakes the same one is told each time.
    for file in sorted((place / "frame").glob("*.txt")):
        try:
            # Editors end a file with a newline, which is no part of the prompt.
            texts[file.stem] = read_bytes(file).decode("utf-8").removesuffix("\n")
        except (OSError, UnicodeDecodeError) as error:
            raise UserError(f"prompts.folder: {file} can't be read: {error}") from None
        for problem in list_template_problems(file.stem, texts[file.stem]):
            raise UserError(f"prompts.folder: {file}: {problem}")
    return Frame(**texts, answers=answers)


def list_template_problems(name: str, text: str) -> Iterator[str]:
    """List the mistakes in a template.

    Parameters
    ----------
    name
        Of :data:`FRAME_TEMPLATES`, or another one, which is a problem too.
    """
    if name not in FRAME_TEMPLATES:
        yield f"no such template; the templates are {', '.join(FRAME_TEMPLATES)}"
        return
    template, allowed = Template(text), PLACEHOLDERS[name]
    if not template.is_valid():
        yield "a $ that begins no placeholder; write $$"
    for placeholder in template.get_identifiers() if template.is_valid() else ():
        if placeholder not in allowed:
            names = ", ".join(f"${each}" for each in sorted(allowed)) or "none"
            yield f"${placeholder} is no placeholder of it; it may hold {names}"
