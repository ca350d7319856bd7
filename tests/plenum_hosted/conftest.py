"""Models with random weights, in memory and in a folder, made once for all tests."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import folders
import networks
import pytest
import torch


@pytest.fixture(scope="session")
def model() -> Callable[..., torch.nn.Module]:
    """``model("llama")``: a model of a kind."""
    return cache(networks.model)


@pytest.fixture(scope="session")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkpoint that no test may change."""
    return folders.save(tmp_path_factory.mktemp("checkpoint") / "random")


@pytest.fixture
def checkpoint(saved: Path, tmp_path: Path) -> Path:
    """A checkpoint of the test's own."""
    return folders.copy(saved, tmp_path / "random")
