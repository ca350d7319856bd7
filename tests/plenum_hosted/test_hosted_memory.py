"""What models need is known from their files; what is free, from the machine and its containers."""

import dataclasses
from pathlib import Path
from types import SimpleNamespace

import folders
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import AutoModelForCausalLM

from plenum.base.errors import UserError
from plenum_hosted import environment, memory
from plenum_hosted.memory import Need
from plenum_hosted.network import Network
from plenum_hosted.settings import Hosted

HERE = Hosted(device="cpu", threads=1)


def elements(model: Path) -> int:
    """The numbers that the model really has."""
    network = AutoModelForCausalLM.from_pretrained(model)
    return sum(parameter.numel() for parameter in network.parameters())


def caches(model: Path) -> int:
    """The numbers that a batch of the shortest rows keeps in fact."""
    network = Network(AutoModelForCausalLM.from_pretrained(model))
    return sum(kept.numel() for kept in network.empty(HERE.slots, HERE.rung))


@pytest.mark.parametrize(("dtype", "size"), [("float32", 4), ("bfloat16", 2), ("float16", 2)])
def test_the_need_is_that_of_the_weights_in_the_engine(saved: Path, dtype: str, size: int) -> None:
    need = memory.measure(str(saved), dataclasses.replace(HERE, dtype=dtype))
    weights = elements(saved) * size
    assert need == Need(str(saved), weights, caches(saved) * size, weights)


def test_parts_are_counted_once(saved: Path, checkpoint: Path) -> None:
    network = AutoModelForCausalLM.from_pretrained(saved)
    for part in checkpoint.glob("*.safetensors"):
        part.unlink()
    network.save_pretrained(checkpoint, max_shard_size="40KB")
    assert len(list(checkpoint.glob("model-*.safetensors"))) > 2
    whole = (saved / "model.safetensors").read_bytes()
    (checkpoint / "consolidated.safetensors").write_bytes(whole)  # as some repositories have
    assert memory.measure(str(checkpoint), HERE).weights == elements(saved) * 4


def test_what_cannot_be_read_is_left_to_loading(checkpoint: Path) -> None:
    (checkpoint / "model.safetensors").write_bytes(b"hello")
    assert memory.measure(str(checkpoint), HERE).weights == 0


@pytest.mark.parametrize(("free", "limit"), [(100, 50), (10 << 30, 4096 << 20)])
def test_prefixes_take_half_of_what_is_free_at_most(
    monkeypatch: pytest.MonkeyPatch, free: int, limit: int
) -> None:
    monkeypatch.setattr(memory, "free_here", lambda: free)
    assert memory.limit_prefixes(HERE, torch.device("cpu")) == limit


def refusal(wanted: list[tuple[Hosted, str]]) -> str:
    with pytest.raises(UserError) as refused:
        memory.require(wanted)
    assert "\n" not in str(refused.value)
    return str(refused.value)


def test_models_are_added_up_and_named(
    saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = folders.save(tmp_path / "other", seed=1)
    one = memory.measure(str(saved), HERE).stays
    wanted = [(HERE, str(saved)), (HERE, str(other)), (HERE, str(saved))]
    monkeypatch.setattr(memory, "free_here", lambda: 2 * one)
    memory.require(wanted)  # a model that is named twice is loaded once
    monkeypatch.setattr(memory, "free_here", lambda: 2 * one - 1)
    told = refusal(wanted)
    assert f"{saved} needs {one / 1e6:.1f} MB, {other} needs {one / 1e6:.1f} MB, and " in told
    memory.require(wanted[:1])


def test_what_is_written_out_takes_more_until_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second file is converted beside the first, which is loaded by then."""
    needs = {"a.gguf": Need("a.gguf", 10, 0, 20), "b.gguf": Need("b.gguf", 4, 0, 8)}
    monkeypatch.setattr(memory, "measure", lambda model, settings: needs[model])
    for order, peak in ((("a.gguf", "b.gguf"), 20), (("b.gguf", "a.gguf"), 24)):
        wanted = [(HERE, model) for model in order]
        monkeypatch.setattr(memory, "free_here", lambda peak=peak: peak)
        memory.require(wanted)
        monkeypatch.setattr(memory, "free_here", lambda peak=peak: peak - 1)
        assert "a.gguf needs 0.0 MB (0.0 MB while its numbers are written out)" in refusal(wanted)


def test_caches_come_when_all_models_are_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    needs = {"a.gguf": Need("a.gguf", 10, 5, 12), "b.gguf": Need("b.gguf", 10, 5, 14)}
    monkeypatch.setattr(memory, "measure", lambda model, settings: needs[model])
    wanted = [(HERE, model) for model in needs]
    monkeypatch.setattr(memory, "free_here", lambda: 30)
    memory.require(wanted)
    monkeypatch.setattr(memory, "free_here", lambda: 29)
    refusal(wanted)


@pytest.mark.parametrize(
    ("card", "here", "told"),
    [(14, 20, ""), (13, 20, "the memory on cuda:0: "), (14, 19, "the memory of the machine: ")],
)
def test_a_gpu_holds_all_of_them_and_the_machine_one_at_a_time(
    monkeypatch: pytest.MonkeyPatch, card: int, here: int, told: str
) -> None:
    needs = {"a.gguf": Need("a.gguf", 7, 3, 20), "b": Need("b", 3, 1, 3)}
    monkeypatch.setattr(environment, "choose", lambda device: torch.device(device))
    monkeypatch.setattr(environment, "settle", lambda settings, device: None)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (card, 1000))
    monkeypatch.setattr(memory, "free_here", lambda: here)
    monkeypatch.setattr(memory, "measure", lambda model, settings: needs[model])
    wanted = [(dataclasses.replace(HERE, device="cuda:0"), model) for model in needs]
    if not told:
        memory.require(wanted)
    else:
        assert told in refusal(wanted)


# --- containers -----------------------------------------------------------------------------------


def group(folder: Path, version: int, limit: object, use: int, cached: int = 0) -> None:
    """A group's files, as Linux shows them."""
    limit_file, use_file, key = {
        1: ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
        2: ("memory.max", "memory.current", "inactive_file"),
    }[version]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / limit_file).write_text(f"{limit}\n")
    (folder / use_file).write_text(f"{use}\n")
    (folder / "memory.stat").write_text(f"anon 5\n{key} {cached}\nfile 9\n")


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The root of a machine with 1000 bytes left."""
    monkeypatch.setattr(memory, "ROOT", tmp_path)
    available = SimpleNamespace(available=1000)
    monkeypatch.setattr(memory.psutil, "virtual_memory", lambda: available)
    (tmp_path / "proc/self").mkdir(parents=True)
    return tmp_path


def belongs(machine: Path, lines: str) -> None:
    (machine / "proc/self/cgroup").write_text(lines)


def test_without_a_container_the_machine_counts(machine: Path) -> None:
    assert memory.free_here() == 1000
    belongs(machine, "0::/user.slice\n")
    assert memory.free_here() == 1000


def test_a_limit_of_version_2_counts_and_so_do_those_above(machine: Path) -> None:
    belongs(machine, "0::/a/b\n")
    top = machine / "sys/fs/cgroup"
    group(top / "a/b", 2, "max", 700)
    assert memory.free_here() == 1000
    group(top / "a", 2, 900, 700)
    assert memory.free_here() == 200
    group(top / "a", 2, 900, 700, cached=300)  # what is cached makes room
    assert memory.free_here() == 500
    group(top / "a/b", 2, 100, 90)
    assert memory.free_here() == 10


@pytest.mark.parametrize("path", ["/", "/docker/0123"])
def test_a_limit_of_version_1_counts_wherever_the_path_is_that_of_the_host(
    machine: Path, path: str
) -> None:
    belongs(machine, f"12:cpu,cpuacct:/x\n5:memory:{path}\n1:name=systemd:/\n")
    group(machine / "sys/fs/cgroup/memory", 1, 9223372036854771712, 700)
    assert memory.free_here() == 1000
    group(machine / "sys/fs/cgroup/memory", 1, 800, 700, cached=50)
    assert memory.free_here() == 150


@given(limit=st.integers(0, 2000), use=st.integers(0, 3000))
def test_never_less_than_none_nor_more_than_there_is(limit: int, use: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory, "_rooms_of_cgroups", lambda: iter([limit - use]))
        assert 0 <= memory.free_here() <= max(0, limit - use)


def test_this_machine_has_some() -> None:
    assert 0 < memory.free_here() <= memory.psutil.virtual_memory().total
