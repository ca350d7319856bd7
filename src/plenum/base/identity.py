"""Stable digests, and the random generators that are seeded from them.

Every random draw of the project comes from :func:`generator`, named by the identity of what is
drawn for and by the purpose of the draw. There is no global random state.
"""

import hashlib
import json
from typing import Any

import numpy as np


def canonical(value: Any) -> bytes:
    """One JSON text per value: sorted keys, no spaces, UTF-8."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def digest(value: Any) -> str:
    """Sixteen hexadecimal characters that name ``value`` (BLAKE2b of its canonical JSON)."""
    return hashlib.blake2b(canonical(value), digest_size=8).hexdigest()


def folder_of(identity: str, rerun: int) -> str:
    """The name of the folder that holds a condition's journals: reruns have one of their own."""
    return f"{identity}-rerun{rerun}" if rerun else identity


def seed_for(*names: str | int) -> int:
    """A 63-bit seed for the stream that ``names`` name."""
    return int(digest(list(names)), 16) >> 1


def generator(*names: str | int) -> np.random.Generator:
    """A generator of its own for the stream that ``names`` name.

    Parameters
    ----------
    *names
        Identity of the condition, index of the replicate, purpose of the draw.
    """
    return np.random.Generator(np.random.PCG64(seed_for(*names)))
