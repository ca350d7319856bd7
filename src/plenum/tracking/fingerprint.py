"""A digest of all that a study's tables are read from, taken without MLflow."""

import hashlib
from pathlib import Path

from plenum.tracking import database, store

_RUNS = """
    SELECT run_uuid, runs.name, status, artifact_uri, start_time,
        EXISTS (
            SELECT 1 FROM tags WHERE tags.run_uuid = runs.run_uuid
            AND key = 'plenum.kind' AND value = 'replicate'
        )
    FROM runs JOIN experiments USING (experiment_id)
    WHERE experiments.name = ? AND experiments.lifecycle_stage = 'active'
      AND runs.lifecycle_stage = 'active'
    ORDER BY run_uuid
"""
_VALUES = """
    SELECT '{table}', run_uuid, key, CAST(value AS TEXT){more}
    FROM {table} JOIN runs USING (run_uuid) JOIN experiments USING (experiment_id)
    WHERE experiments.name = ? AND experiments.lifecycle_stage = 'active'
      AND runs.lifecycle_stage = 'active'
    ORDER BY run_uuid, key
"""


def of_study(study: str, uri: str) -> str | None:
    """A digest of a study's runs and of the artifacts of its conditions.

    Returns
    -------
    str or None
        Equal digests mean equal contents; ``None`` where that can't be known without MLflow: of a
        server, or of artifacts that lie elsewhere.
    """
    path = store.local(store.absolute(uri))
    if path is None:
        return None
    runs = database.rows(path, _RUNS, study)
    found = hashlib.blake2b(repr(runs).encode(), digest_size=16)
    for table, more in (("tags", ""), ("params", ""), ("latest_metrics", ", is_nan, step")):
        rows = database.rows(path, _VALUES.format(table=table, more=more), study)
        found.update(repr(rows).encode())
    for _, _, _, artifacts, _, replicate in runs:
        folder = store.folder(artifacts)
        if folder is None:
            return None
        if not replicate:
            found.update(_of_files(folder))
    return found.hexdigest()


def _of_files(folder: Path) -> bytes:
    """A digest of the names and contents of all files in a folder."""
    found = hashlib.blake2b(digest_size=16)
    for file in sorted(folder.rglob("*")):
        if file.is_file():
            data = file.read_bytes()
            found.update(f"{file.relative_to(folder)} {len(data)} ".encode() + data)
    return found.digest()
