"""GGUF files: quantised models in one file, whose numbers are written out once."""

import os
from contextlib import suppress
from functools import partial
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
import transformers
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoTokenizer,
    modeling_gguf_pytorch_utils,
)
from transformers.utils import logging as transformers_logging

from plenum.base.errors import UserError
from plenum.base.terminal import say
from plenum.base.text import flatten
from plenum_hosted import checkpoints


def write_out(model: str, file: Path, content: str, dtype: str) -> Path:
    """Return the folder of a GGUF file's checkpoint, and write it if it isn't there yet.

    Parameters
    ----------
    model
        The model's name, for messages.
    content
        The digest of the file.
    dtype
        The precision in which its numbers are written.

    Raises
    ------
    UserError
        A package is missing, or the file holds a model that transformers can't read.
    """
    folder = folder_of(content, dtype)
    if folder.is_dir():
        return folder
    if find_spec("gguf") is None:
        raise UserError(
            f"model {model}: a GGUF file needs the package gguf; "
            "install it with sh scripts/install.sh .venv/bin/python hosted"
        )
    folder.parent.mkdir(parents=True, exist_ok=True)
    say(f"model {model}: writing the numbers of {file.name} to {folder.parent}, once")
    with TemporaryDirectory(dir=folder.parent) as fresh:
        try:
            _convert(model, file, Path(fresh) / "whole", dtype)
        except UserError:
            raise
        except Exception as error:  # libraries raise whatever they like
            why = flatten(str(error))[:300] or type(error).__name__
            raise UserError(f"model {model}: {file.name} can't be loaded: {why}") from None
        with suppress(OSError):  # another process was faster, and wrote the same
            os.rename(Path(fresh) / "whole", folder)
    return folder


def folder_of(content: str, dtype: str) -> Path:
    """Return the folder in which the checkpoint of a GGUF file's content is, or will be."""
    reader = metadata.version("gguf") if find_spec("gguf") else "none"
    name = f"{content}-{dtype}-{transformers.__version__}-{reader}"
    return Path("mlruns/checkpoints").resolve() / name


def list_tensors(file: Path) -> dict[str, int]:
    """Count the numbers of each tensor of a GGUF file; none if loading it is to refuse it."""
    with suppress(Exception):  # of the library, on whatever stands there
        from gguf import GGUFReader

        return {str(each.name): int(each.n_elements) for each in GGUFReader(file).tensors}
    return {}


def count_numbers(config: Any, **trusted: bool) -> int:
    """Count the numbers of the network that a config asks for, without taking memory for them."""
    with torch.device("meta"):
        whole = AutoModelForCausalLM.from_config(config, **trusted)  # type: ignore[no-untyped-call]
    return int(whole.num_parameters())


def _convert(model: str, file: Path, folder: Path, dtype: str) -> None:
    at: dict[str, Any] = {"gguf_file": file.name}
    # Its bar would be drawn even where bars are off; this one heeds the setting.
    reading: Any = modeling_gguf_pytorch_utils
    reading.tqdm = transformers_logging.tqdm
    config = AutoConfig.from_pretrained(file.parent, **at)
    checkpoints.refuse_larger(model, config, list_tensors(file), partial(count_numbers, config))
    tokenizer = AutoTokenizer.from_pretrained(file.parent, **at)
    loaded: Any = AutoModelForCausalLM.from_pretrained(
        file.parent, dtype=getattr(torch, dtype), output_loading_info=True, **at
    )
    network, info = loaded
    checkpoints.refuse_parts(model, info)
    # The numbers are plain now; transformers would refuse to save a model that is still marked.
    network.hf_quantizer, network.is_quantized = None, False
    if hasattr(network.config, "quantization_config"):
        del network.config.quantization_config
    network.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
