"""The files of a condition's run: tables, config, identity, environments and accounts."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from plenum.design.kinds import find_kind
from plenum.records.transcript import Transcript
from plenum.tracking import states

ACCOUNTS = "accounts.json"
"""The file with the usage of a condition's calls."""

_EMPTY: dict[tuple[str, ...], bytes] = {}
"""The files of tables without rows, by their columns, since many conditions have the same ones."""


def make_files(
    condition: dict[str, Any],
    transcripts: Sequence[Transcript],
    config: str,
    environments: Mapping[str, Any],
    accounts: dict[str, Any] | None,
) -> Iterator[tuple[str, bytes]]:
    """Yield the names and contents of a condition's files.

    Parameters
    ----------
    environments
        What the bytes of hosted answers depend on, as the transcripts name it.
    accounts
        The usage of its calls; ``None`` where none is known.
    """
    for name, frame in find_kind(condition).tabulate(transcripts).items():
        yield f"{name}.parquet", _parquet(frame)
    texts = {"config.yaml": config, "condition.json": json.dumps(condition, indent=1)}
    if environments:
        texts["environment.json"] = json.dumps(environments, indent=1)
    if accounts is not None:
        texts[ACCOUNTS] = states.accounts_text(accounts)
    for name, text in texts.items():
        yield name, text.encode()


def _parquet(frame: Any) -> bytes:
    key = () if len(frame) else (*frame.columns, *map(str, frame.dtypes))
    data = _EMPTY.get(key) or bytes(frame.to_parquet())
    return _EMPTY.setdefault(key, data) if key else data
