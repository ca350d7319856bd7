"""YAML that others may have written, read in bounded time and memory."""

from collections.abc import Hashable, Iterable
from pathlib import Path
from typing import Any

import yaml

from plenum.base import regular_files
from plenum.base.errors import UserError

_LEAST = 1_000_000
"""Values and characters that any document may have after its aliases are expanded."""
_RATIO = 10
"""Times its own length that a longer document may have after its aliases are expanded."""


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """A YAML loader that refuses duplicate keys, of which the later would silently win.

    It also refuses a document that aliases make endless, or far longer than it is. It uses the
    parser in C if there is one.
    """

    most = _LEAST

    def construct_document(self, node: Any) -> Any:
        if _count_written(node, {}) > self.most:
            raise yaml.YAMLError(f"its aliases stand for more than {self.most:,} characters")
        return super().construct_document(node)

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key in (self.construct_object(key, deep) for key, _ in node.value):
            if not isinstance(key, Hashable):
                continue  # told by what is called below
            if key in seen:
                raise yaml.YAMLError(f"the key {key} stands twice")
            seen.add(key)
        mapping: dict[Any, Any] = super().construct_mapping(node, deep)
        return mapping


def read_yaml(path: Path, kind: str) -> Any:
    """Read a YAML file; ``kind`` names the file in errors.

    Raises
    ------
    UserError
        It can't be read, a key stands twice, or its aliases make it too long.
    """
    try:
        return parse_yaml(regular_files.read_text(path))
    except FileNotFoundError:
        raise UserError(f"{kind} {path} does not exist") from None
    except RecursionError:
        raise UserError(f"{kind} {path} can't be read as YAML: nested too deeply") from None
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise UserError(f"{kind} {path} can't be read as YAML: {error}") from None


def parse_yaml(text: str) -> Any:
    """Parse a YAML text; raise :class:`yaml.YAMLError` if it can't be read."""
    loader = _Loader(text)
    loader.most = max(_LEAST, _RATIO * len(text))
    try:
        return loader.get_single_data()
    finally:
        loader.dispose()


def _count_written(node: Any, known: dict[int, int]) -> int:
    """Count the values and characters below a node, as often as aliases name them."""
    if isinstance(node, yaml.ScalarNode):
        return 1 + len(node.value)
    if id(node) not in known:
        known[id(node)] = -1
        below: Iterable[Any] = node.value
        if isinstance(node, yaml.MappingNode):
            below = (each for pair in node.value for each in pair)
        known[id(node)] = 1 + sum(_count_written(each, known) for each in below)
    if known[id(node)] < 0:
        raise yaml.YAMLError("an alias stands inside of what it names")
    return known[id(node)]
