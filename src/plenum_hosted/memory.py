"""The memory that models need, which is compared with what is free before one is loaded."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import torch
from transformers import AutoConfig

from plenum.base.errors import UserError
from plenum_hosted import checkpoints, environment, gguf_weights
from plenum_hosted.loader import list_tensors, locate
from plenum_hosted.network import CacheSizes
from plenum_hosted.settings import Hosted

ROOT = Path("/")
"""The folder in which ``proc`` and ``sys`` are."""

_WHOLE = 4
"""Bytes of a number while a GGUF file is converted, on top of those of the finished checkpoint.
They are single precision there, whatever is written."""

_CGROUPS = {
    True: ("memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
    False: ("", "memory.max", "memory.current", "inactive_file"),
}
"""Folder, limit, use, and what of the use can be freed at once: of version 1 (true) and 2."""


@dataclass(frozen=True)
class Need:
    """The memory that a model takes, in bytes.

    Parameters
    ----------
    model
        The model's name.
    weights
        Its weights in the engine's precision.
    caches
        The keys and values of one batch of the shortest rows; longer rows and prefixes take more.
    peak
        The most that loading it takes: more than the weights if a GGUF file has to be converted.
    """

    model: str
    weights: int
    caches: int
    peak: int

    @property
    def stays(self) -> int:
        """Bytes that it takes while it answers, at least."""
        return self.weights + self.caches

    def __str__(self) -> str:
        need = f"{self.model} needs {_size(self.stays)}"
        if self.peak <= self.stays:
            return need
        return f"{need} ({_size(self.peak)} while its numbers are written out)"


def require(wanted: Iterable[tuple[Hosted, str]]) -> None:
    """Refuse models that aren't loaded yet, and don't fit this machine's memory together.

    The line (``UserError``) names the need of each model, and what is free.
    """
    by_device: dict[torch.device, list[Need]] = {}
    for settings, model in dict.fromkeys(wanted):
        device = environment.choose(settings.device)
        environment.settle(settings, device)  # before CUDA starts, which what is free asks for
        by_device.setdefault(device, []).append(measure(model, settings))
    for device, needs in by_device.items():
        together = sum(need.stays for need in needs)
        if device.type == "cuda":
            free, _ = torch.cuda.mem_get_info(device)
            _compare(needs, together, free, f"on {device}")
            # Each one passes through the machine's own memory, one after the other.
            _compare(needs, max(need.peak for need in needs), free_here(), "of the machine")
            continue
        loaded, most = 0, together
        for need in needs:  # caches come when all are loaded
            most = max(most, loaded + need.peak)
            loaded += need.weights
        _compare(needs, most, free_here(), "here")


def _compare(needs: list[Need], total: int, free: int, where: str) -> None:
    if total > free:
        raise UserError(
            f"backend: the models don't fit the memory {where}: "
            f"{', '.join(map(str, needs))}, and {_size(free)} are free; "
            "take fewer or smaller models, fewer backend.slots, or backend.dtype=bfloat16"
        )


def measure(model: str, settings: Hosted) -> Need:
    """Compute the memory of a model from its config and the headers of its files.

    What can't be read counts nothing here, since loading refuses it.

    Raises
    ------
    UserError
        Its files aren't here and can't be downloaded.
    """
    path, content = locate(model, settings.revision)
    bytes_each = getattr(torch, settings.dtype).itemsize
    loading, named = bytes_each, {}
    if checkpoints.is_gguf(path):
        written = gguf_weights.folder_of(content, settings.dtype)
        if written.is_dir():
            path = written
        else:
            loading += _WHOLE
            path, named = path.parent, {"gguf_file": path.name}
    numbers = (
        sum(gguf_weights.list_tensors(path / named["gguf_file"]).values())
        if named
        else sum(list_tensors(path).values())
    )
    places = settings.slots * settings.rung
    caches = places * _numbers_a_place(path, settings, named) * bytes_each
    return Need(model, numbers * bytes_each, caches, numbers * loading)


def _numbers_a_place(path: Path, settings: Hosted, named: dict[str, Any]) -> int:
    """Return how many numbers a model keeps for one token: keys and values of all layers."""
    with suppress(Exception):  # of transformers, or of a model's own code
        trusted = settings.trust_remote_code
        config = AutoConfig.from_pretrained(path, trust_remote_code=trusted, **named)
        sizes = CacheSizes.of(config.get_text_config())
        return 2 * sizes.layers * sizes.groups * sizes.d
    return 0


def limit_prefixes(settings: Hosted, device: torch.device) -> int:
    """Return the bytes that a loaded model's prefixes may take: half of what is free at most.

    What is found in the cache and what is computed anew have the same bytes, so that the size is
    free to follow the machine.
    """
    free = torch.cuda.mem_get_info(device)[0] if device.type == "cuda" else free_here()
    # The other half is left to caches of longer rows, which come while rows decode.
    return min(settings.prefix_cache_mb << 20, free // 2)


def free_here() -> int:
    """Return the bytes of main memory that this process can still take.

    Limits of a container (cgroups of version 1 and 2) count like the machine's own.
    """
    available = int(psutil.virtual_memory().available)
    return max(0, min([available, *_rooms_of_cgroups()]))


def _rooms_of_cgroups() -> Iterator[int]:
    """Yield what each limit on this process's groups leaves, from its own group upwards."""
    with suppress(OSError):
        for line in (ROOT / "proc/self/cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            # Version 1 has a line for each group of controllers, version 2 a single one that names
            # none.
            if controllers and "memory" not in controllers.split(","):
                continue
            base, *names = _CGROUPS[bool(controllers)]
            top = ROOT / "sys/fs/cgroup" / base
            # In a container the path may be the host's, and the folder above all the container's.
            own = top / path.lstrip("/")
            for folder in (own, *own.parents):
                with suppress(OSError, ValueError):
                    yield _room(folder, *names)
                if folder == top:
                    break


def _room(folder: Path, limit: str, use: str, freed: str) -> int:
    """Return what one limit leaves (``OSError`` or ``ValueError`` if there is none)."""
    kept = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
    used = int((folder / use).read_text()) - int(kept.get(freed, 0))
    return int((folder / limit).read_text()) - used


def _size(size: int) -> str:
    """Write a number of bytes, in GB or MB."""
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.1f} MB"
