"""The environment: which device, which settings, and what names them."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import folders
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plenum.base.errors import UserError
from plenum.base.processes import ONE_THREAD
from plenum.calls.backends import check_backends
from plenum.design.job import Job
from plenum_hosted import checkpoints, environment
from plenum_hosted.settings import Hosted

CPU = torch.device("cpu")
Patch = pytest.MonkeyPatch


@pytest.fixture
def gpus(monkeypatch: Patch) -> Callable[[int], None]:
    """``gpus(2)``: torch says that it sees two."""

    def seen(number: int) -> None:
        monkeypatch.setattr(torch.cuda, "is_available", lambda: number > 0)
        monkeypatch.setattr(torch.cuda, "device_count", lambda: number)

    return seen


@pytest.mark.parametrize(
    ("number", "asked", "chosen"),
    [
        (0, "auto", "cpu"),
        (0, "cpu", "cpu"),
        (2, "auto", "cuda:0"),
        (2, "cpu", "cpu"),
        (2, "cuda", "cuda:0"),
        (2, "cuda:1", "cuda:1"),
    ],
)
def test_the_device(gpus: Callable[[int], None], number: int, asked: str, chosen: str) -> None:
    gpus(number)
    assert environment.choose(asked) == torch.device(chosen)


@pytest.mark.parametrize(
    ("number", "asked", "told"),
    [
        (0, "cuda", "sees no CUDA GPU; set backend.device=cpu"),
        (0, "cuda:1", "sees no CUDA GPU"),
        (2, "cuda:2", "the GPUs here are 0 to 1"),
    ],
)
def test_a_device_that_is_not_here(
    gpus: Callable[[int], None], number: int, asked: str, told: str
) -> None:
    gpus(number)
    with pytest.raises(UserError, match=f"^backend.device: {asked}.*{told}"):
        environment.choose(asked)


@pytest.mark.parametrize("device", ["tpu", "cuda:", "cuda:-1", "mps", "gpu"])
def test_a_device_that_there_is_not(job: Any, device: str) -> None:
    with pytest.raises(UserError, match=r"backend\.device: .*auto, cpu, cuda or cuda:N"):
        job("backend=hosted", f"backend.device='{device}'")


@pytest.mark.parametrize(
    ("found", "started", "told"),
    [
        (":4096:8", True, None),
        (":16:8", True, None),
        (":16:8", False, None),
        (None, False, None),
        (None, True, "not set"),
        (":8:8", False, ":8:8"),
        (":8:8", True, ":8:8"),
        ("", False, "not set"),
    ],
)
def test_cublas(monkeypatch: Patch, found: str | None, started: bool, told: str | None) -> None:
    """The variable is set where that is still in time, and refused where it is wrong."""
    name = "CUBLAS_WORKSPACE_CONFIG"
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: started)
    monkeypatch.setenv(name, found or "")
    if found is None:
        monkeypatch.delenv(name)
    if told is None:
        environment._settle_cublas(deterministic=True)
        assert os.environ[name] == (found or ":4096:8")
        return
    with pytest.raises(UserError, match=f"{name}: {told}.*backend.deterministic=false"):
        environment._settle_cublas(deterministic=True)
    environment._settle_cublas(deterministic=False)
    assert os.environ.get(name) == found


def test_settings_hold_for_the_process() -> None:
    environment.settle(Hosted(threads=1), CPU)
    assert torch.are_deterministic_algorithms_enabled()
    assert torch.get_num_threads() == 1
    assert torch.get_float32_matmul_precision() == "highest"
    assert not torch.backends.cuda.matmul.allow_tf32


def fingerprint(**values: Any) -> dict[str, str]:
    """The environment of settings on the CPU."""
    return environment.fingerprint(Hosted(**values), CPU)


def test_slots_far_above_the_rows_are_said_with_the_better_number(job: Callable[..., Job]) -> None:
    hosted = ("backend=hosted", "model=tiny")
    few = [job(*hosted, "replicates=2"), job(*hosted, "replicates=3", "roles=off")]
    (line,) = check_backends("warn_idle_slots", few)
    assert "backend.slots=16: at most 5 of these rows" in line
    assert "backend.slots=5 takes less time" in line
    enough = [job(*hosted, "replicates=12"), job("replicates=1")]
    assert check_backends("warn_idle_slots", enough) == []


def test_what_it_names(monkeypatch: Patch) -> None:
    for name in ("OMP_WAIT_POLICY", *ONE_THREAD):  # the tests' own
        monkeypatch.delenv(name, raising=False)
    found = fingerprint()
    assert found.keys() == {
        *("device", "instructions", "processor", "torch", "transformers", "tokenizers", "numpy"),
        *("dtype", "attention", "deterministic", "threads"),
    }
    assert all(isinstance(value, str) and value for value in found.values())
    assert found == fingerprint()


@pytest.mark.parametrize(
    ("key", "values"),
    [
        ("threads", {"threads": 7}),
        ("dtype", {"dtype": "bfloat16"}),
        ("deterministic", {"deterministic": False}),
    ],
)
def test_what_changes_it(key: str, values: dict[str, Any]) -> None:
    before, after = fingerprint(), fingerprint(**values)
    assert {name for name in before if before[name] != after[name]} == {key}


def test_versions_change_it(monkeypatch: Patch) -> None:
    for library in ("torch", "transformers", "tokenizers"):
        monkeypatch.setattr(getattr(environment, library), "__version__", "0.0")
        assert fingerprint()[library] == "0.0"


def test_processors_of_one_name_differ(monkeypatch: Patch, tmp_path: Path) -> None:
    told = "model name : X\ncpu family : 25\nmodel : {}\nstepping : 1\nflags : avx {}\n\nmore"
    found = []
    for number, flag in ((1, "avx2"), (2, "avx2"), (1, "avx512f")):
        file = tmp_path / "cpuinfo"
        file.write_text(told.format(number, flag))
        monkeypatch.setattr(environment, "CPUINFO", file)
        found.append(fingerprint())
    assert {f["device"] for f in found} == {"X"}
    assert len({f["processor"] for f in found}) == 3


@pytest.mark.parametrize("name", ["ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA", "MKL_CBWR"])
def test_variables_that_choose_kernels_are_named(monkeypatch: Patch, name: str) -> None:
    before = fingerprint()
    monkeypatch.setenv(name, "AVX2")
    assert fingerprint() == before | {name: "AVX2"}


@pytest.mark.parametrize("name", ["NVIDIA_TF32_OVERRIDE", "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE"])
def test_what_turns_tf32_on_from_outside_is_refused_on_a_gpu(monkeypatch: Patch, name: str) -> None:
    monkeypatch.setenv("CUBLAS_WORKSPACE_CONFIG", ":16:8")
    monkeypatch.setenv(name, "1")
    with pytest.raises(UserError, match=name):
        environment.settle(Hosted(), torch.device("cuda", 0))


def test_of_a_gpu(monkeypatch: Patch) -> None:
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda _: "NVIDIA X")
    monkeypatch.setenv("CUBLAS_WORKSPACE_CONFIG", ":16:8")
    monkeypatch.setattr(torch, "version", SimpleNamespace(cuda="13.0"))
    found = environment.fingerprint(Hosted(), torch.device("cuda:0"))
    assert (found["device"], found["cuda"], found["cublas_workspace"]) == (
        *("NVIDIA X", "13.0", ":16:8"),
    )
    assert "driver" in found
    assert "instructions" not in found


# --- digests ------------------------------------------------------------------------------------

FILES = ("config.json", "model.safetensors", "tokenizer.json", "chat_template.jinja")


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(FILES), st.floats(0, 1, exclude_max=True), st.integers(1, 255))
def test_any_byte_of_any_file_counts(checkpoint: Path, name: str, where: float, flip: int) -> None:
    file = checkpoint / name
    whole, time_ns = bytearray(file.read_bytes()), file.stat().st_mtime_ns
    before = checkpoints.digest(checkpoint)
    at = int(where * len(whole))
    file.write_bytes(bytes([*whole[:at], whole[at] ^ flip, *whole[at + 1 :]]))
    os.utime(file, ns=(time_ns, time_ns + 1_000_000))  # clocks of file systems are coarse
    assert checkpoints.digest(checkpoint) != before
    file.write_bytes(whole)
    os.utime(file, ns=(time_ns, time_ns))
    assert checkpoints.digest(checkpoint) == before


@pytest.mark.parametrize("name", ["own.py", "merges.txt", "special_tokens_map.json"])
def test_files_that_come_and_go_count(checkpoint: Path, name: str) -> None:
    before = checkpoints.digest(checkpoint)
    (checkpoint / name).write_text("{}")
    after = checkpoints.digest(checkpoint)
    (checkpoint / name).rename(checkpoint / f"other_{name}")
    assert len({before, after, checkpoints.digest(checkpoint)}) == 3


def test_where_a_folder_lies_does_not_count(saved: Path, tmp_path: Path) -> None:
    moved = folders.copy(saved, tmp_path / "elsewhere")
    (moved / "README.md").write_text("not read")
    assert checkpoints.digest(moved) == checkpoints.digest(saved)


def test_folders_and_hub_ids(saved: Path, monkeypatch: Patch) -> None:
    names = [str(saved), "Qwen/Qwen2.5-7B-Instruct", str(saved)]
    assert checkpoints.digests(names) == ((str(saved), checkpoints.digest(saved)),)
    monkeypatch.setenv("PLENUM_ROOT", str(saved.parent))
    assert checkpoints.folder(saved.name) == saved
    assert checkpoints.folder(f"./{saved.name}") == saved
    with pytest.raises(UserError, match=r"model \./none: the folder .* does not exist"):
        checkpoints.digests(["./none"])


@pytest.mark.parametrize(("given", "seen"), [(None, "PASSIVE"), ("active", "ACTIVE")])
def test_threads_sleep_while_they_wait_unless_a_user_says_so(given: str | None, seen: str) -> None:
    code = """
import os, sys, types
for name in ("llguidance", "transformers", "plenum_hosted.backend"):  # seconds; torch has OpenMP
    sys.modules[name] = types.SimpleNamespace(HostedBackend=str)
from plenum_hosted.settings import Hosted
from plenum_hosted.host import build
build(Hosted())
print(os.environ.get("OMP_WAIT_POLICY"))
assert "torch.nn" in sys.modules
"""
    kept = {name: value for name, value in os.environ.items() if name != "OMP_WAIT_POLICY"}
    env = kept | {"OMP_DISPLAY_ENV": "true"} | ({"OMP_WAIT_POLICY": given} if given else {})
    command = [sys.executable, "-c", code]
    ended = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    assert ended.stdout.split() == [str(given)]
    if "OMP_WAIT_POLICY" in ended.stderr:  # another OpenMP may show nothing
        assert f"OMP_WAIT_POLICY = '{seen}'" in ended.stderr
