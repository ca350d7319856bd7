"""Extraction of texts from a released Python file, which is parsed and never executed."""

import ast
import string
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plenum.base.errors import UserError
from plenum_papers.published.catalogue import Release


@dataclass(frozen=True)
class PythonFile:
    """The constants of a Python file.

    Attributes
    ----------
    path
        Path relative to the clone.
    tree
        The parsed module.
    """

    path: Path
    tree: ast.Module

    def constant(self, name: str) -> Any:
        """Return the value of a name that the module sets exactly once, to a literal.

        Raises
        ------
        UserError
            It doesn't, or a text contains characters that can't be kept in a text file.
        """
        return self._literal(name, list(_list_assigned(self.tree.body, name)))

    def text(self, name: str) -> str:
        """Return a constant that is a text; raises as :meth:`constant`."""
        return self._text(name, self.constant(name))

    def texts(self, name: str) -> dict[str, str]:
        """Return a constant that maps names to texts; raises as :meth:`constant`."""
        value = self.constant(name)
        if not isinstance(value, dict) or not value:
            raise self._make_refusal(name, "is no mapping of names to texts")
        return {self._text(name, key): self._text(name, text) for key, text in value.items()}

    def find_assigned_text(self, function: str, name: str) -> str:
        """Return the only non-empty text that a function assigns to a variable."""
        values = [v for v in _list_assigned(self._body(function), name) if not _is_empty(v)]
        return self._text(f"{name} in {function}", self._literal(name, values))

    def find_added_text(self, function: str, name: str) -> str:
        """Return the only text that a function adds to a variable, in ``name + text``."""
        values = [
            node.right
            for node in ast.walk(ast.Module(self._body(function), []))
            if isinstance(node, ast.BinOp)
            and isinstance(node.op, ast.Add)
            and isinstance(node.left, ast.Name)
            and node.left.id == name
            and isinstance(node.right, ast.Constant)
        ]
        return self._text(f"{name} in {function}", self._literal(name, values))

    def _body(self, function: str) -> list[ast.stmt]:
        for node in self.tree.body:
            if isinstance(node, ast.FunctionDef) and node.name == function:
                return node.body
        raise self._make_refusal(function, "is missing")

    def _literal(self, name: str, values: Sequence[ast.expr]) -> Any:
        if len(values) != 1:
            raise self._make_refusal(name, "stands more than once" if values else "is missing")
        try:
            return ast.literal_eval(values[0])
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            raise self._make_refusal(name, "is no plain constant") from None

    def _text(self, name: str, value: Any) -> str:
        if not isinstance(value, str) or not value.strip():
            raise self._make_refusal(name, "is no text")
        if any(unicodedata.category(c) in ("Cc", "Cs") and c not in "\n\t" for c in value):
            raise self._make_refusal(name, "holds a control character")
        return value

    def _make_refusal(self, name: str, problem: str) -> UserError:
        return UserError(f"published: {self.path}: {name} {problem}")

    def template(self, name: str, placeholders: Mapping[str, str]) -> str:
        """Convert a constant for ``str.format`` to a template with ``$`` placeholders.

        Parameters
        ----------
        placeholders
            The placeholder for each of its fields.

        Raises
        ------
        UserError
            As :meth:`constant`; or it has another field, or one with a format specification.
        """
        parts = []
        try:
            for literal, field, form, conversion in string.Formatter().parse(self.text(name)):
                parts.append(escape(literal))
                if field is None:
                    continue
                if field not in placeholders or form or conversion:
                    raise self._make_refusal(name, f"holds {{{field}}}, which is not known")
                parts.append(f"${{{placeholders[field]}}}")
        except ValueError as error:
            raise self._make_refusal(name, f"is no template: {error}") from None
        return "".join(parts)


def read(release: Release, path: Path) -> PythonFile:
    """Parse a Python file of a release.

    Raises
    ------
    UserError
        It can't be read, was changed, or isn't Python.
    """
    data = release.read(path)
    try:
        return PythonFile(path, ast.parse(data))
    except (SyntaxError, ValueError, LookupError, RecursionError, MemoryError) as error:
        raise UserError(f"published: {path} is no Python: {error}") from None


def escape(text: str) -> str:
    """Escape a text, so that filling it as a template returns it unchanged."""
    return text.replace("$", "$$")


def _list_assigned(body: list[ast.stmt], name: str) -> Iterator[ast.expr]:
    """Yield the values that statements, including nested ones, assign to a name."""
    for node in ast.walk(ast.Module(body, [])):
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(target, ast.Name) and target.id == name for target in targets):
                yield node.value


def _is_empty(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value == ""
