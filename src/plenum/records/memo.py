"""Results kept on disk under a digest of everything that they depend on."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from plenum.records.atomic_files import write_whole


def recall(path: Path, key: str) -> Any:
    """Read the value that was kept under the key; ``None`` if there is none."""
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        return kept["value"] if kept["key"] == key else None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def remember(path: Path, key: str, value: Any) -> None:
    """Keep a value in place of the last one; do nothing if the file can't be written."""
    with suppress(OSError):
        write_whole(path, json.dumps({"key": key, "value": value}))
