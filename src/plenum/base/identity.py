"""Stable digests, and the random generators that are seeded from them.

Every random draw of the project comes from :func:`make_generator`, named by the identity of what is
drawn for and by the purpose of the draw. There is no global random state.
"""

import hashlib
import json
from typing import Any

import numpy as np

_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode


def canonical_json(value: Any) -> bytes:
    """Encode a value as its one JSON text: sorted keys, no spaces, UTF-8."""
    return _encode(value).encode()


def digest(value: Any) -> str:
    """Hash a value to 16 hexadecimal characters (BLAKE2b of its canonical JSON)."""
    return hashlib.blake2b(canonical_json(value), digest_size=8).hexdigest()


def name_folder(identity: str, rerun: int) -> str:
    """Name the folder that holds a condition's journals; each rerun has its own."""
    return f"{identity}-rerun{rerun}" if rerun else identity


def derive_seed(*names: str | int) -> int:
    """Derive a 63-bit seed for the random stream that ``names`` name."""
    return int(digest(list(names)), 16) >> 1


def make_generator(*names: str | int) -> np.random.Generator:
    """Make the random generator of the stream that ``names`` name.

    Parameters
    ----------
    *names
        Identity of the condition, index of the replicate, purpose of the draw.
    """
    return np.random.Generator(np.random.PCG64(derive_seed(*names)))
