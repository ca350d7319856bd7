"""The remembering loader composes what Hydra's own composes, for every kind of override."""

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hydra import initialize_config_dir
from hydra._internal.callbacks import Callbacks
from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra.core.global_hydra import GlobalHydra
from hydra.types import HydraContext, RunMode
from hypothesis import given, settings
from hypothesis import strategies as st
from omegaconf import DictConfig, OmegaConf

from hydra_plugins._plenum_loader import remembering
from plenum.execution.hydra_jobs import plain_job

ROOT = Path(__file__).resolve().parents[2]

JOBS = [
    [],
    ["seed=1"],
    ["seed=2"],
    ["roles=off", "model=mixed"],
    ["model=mixed", "roles=off"],
    ["seed=3", "seed=4"],
    ["scenario=CL-01"],
    ["scenario=CL-01", "scenario.id=other"],
    ["+experiment=role_ablation"],
    ["+experiment=landscape", "scenario=IM-02", "memory=k3", "rounds=4"],
    ["temperature=t0.7", "sampling.temperature=0.3"],
    ["model=mixed", "~model.seats.Equity"],
    ["~memory"],
    ["~memory=k15"],
    ["+memory@other.place=k1"],
    ["+roles@other=off", "++other.name=again"],
    ["+note=added"],
    ["+note.deep.er=[1,{a:b}]"],
    ["++rounds=7", "++also=new"],
    ["+model.seats={Chair:someone}"],
    ["roles.seats={}"],
    ["study=${model.name}-${roles.name}", "rounds=${replicates}"],
    ["study=${hydra:job.name}"],
    ["study='a b, c'", "journals='x=y'"],
    ["seed=5", "hydra.job.config.override_dirname.exclude_keys=[seed]", "rounds=2"],
    ["hydra/launcher=basic"],
    ["+hydra.job.env_set.SOMETHING=1", "hydra.job.env_copy=[HOME]"],
    ["hydra.sweep.subdir=${hydra.job.override_dirname}"],
    ["tracking.uri=${oc.env:PLENUM_ROOT}/x", "backend=api"],
    ["study=${hydra:job.num}"],
    ["study=${oc.select:model.name}", "model=mixed", "memory=auto"],
    ["hydra.sweep.subdir=${seed}/${hydra.job.id}", "seed=2"],
    ["seed=1"],
]
MISTAKES = [
    ["roles=bogus"],
    ["nonsense=1"],
    ["+rounds=3"],
    ["~nothing"],
    ["~memory=k1"],
    ["rounds=[1"],
    ["experiment=landscape"],
    ["roles=null", "roles.name=x"],
    ["+roles=off"],
    ["roles@other=off"],
]


SWEPT = {
    *("roles=off", "roles=anonymous", "model=mixed", "model=gpt-4o", "memory=k1", "memory=k3"),
    *("protocol=one_shot", "temperature=t0.7", "scenario=CL-01", "task=disaster", "consensus=mean"),
    *("volatility=high", "diversity=low", "perturbation=registers6", "backend=api"),
    *("prompts=published", "tracking=none", "seed=3", "rounds=4", "+note=x", "protocol.window=2"),
}


def outcome(loader: Any, master: DictConfig, overrides: list[str], number: int = 7) -> Any:
    """What composing comes to: a job as plain data, in its order, or an error."""
    context = HydraContext(config_loader=loader, callbacks=Callbacks())
    try:
        return repr(plain_job(context, master, overrides, number))
    except Exception as error:
        return type(error), str(error)


def is_error(outcome: Any) -> bool:
    return isinstance(outcome[0], type)


@pytest.fixture
def project(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Any, DictConfig]]:
    monkeypatch.setenv("PLENUM_ROOT", str(ROOT))
    yield from opened(ROOT / "conf")


def opened(folder: Path) -> Iterator[tuple[Any, DictConfig]]:
    with initialize_config_dir(config_dir=str(folder), version_base="1.3"):
        loader = GlobalHydra.instance().config_loader()
        yield loader, loader.load_configuration("config", ["hydra.job.name=x"], RunMode.MULTIRUN)


def test_every_job_of_a_varied_batch_is_composed_alike(project: tuple[Any, DictConfig]) -> None:
    slow, master = project
    quick = remembering(slow)
    assert quick is not slow
    expected = [outcome(slow, master, job) for job in [*JOBS, *MISTAKES]]
    failed = [
        job for job, result in zip([*JOBS, *MISTAKES], expected, strict=True) if is_error(result)
    ]
    assert failed == MISTAKES
    for job, result in zip([*JOBS, *MISTAKES, *JOBS[1:8]], expected + expected[1:8], strict=True):
        assert outcome(quick, master, job) == result, job


def test_what_usual_sweeps_vary_needs_no_hydra(project: tuple[Any, DictConfig]) -> None:
    slow, master = project
    usual = sorted(SWEPT - {"+note=x"})
    quick: Any = remembering(slow)
    for number, override in enumerate(usual):
        lines = [override, "+experiment=role_ablation"]
        assert str(number) in quick.plain(master, lines, number).hydra["runtime"]["output_dir"]


def test_a_job_that_is_changed_changes_no_other(project: tuple[Any, DictConfig]) -> None:
    slow, master = project
    quick = remembering(slow)
    for _ in range(3):
        config: Any = quick.load_sweep_config(master, ["roles=on"])
        expected = slow.load_sweep_config(master, ["roles=on"])
        assert OmegaConf.to_yaml(config) == OmegaConf.to_yaml(expected)
        OmegaConf.set_struct(config, False)
        config.roles.seats.Chair = "nobody"
        config.roles.seats.Guest = "anybody"
        del config.sampling


def test_a_hydra_that_has_changed_is_left_alone(
    project: tuple[Any, DictConfig], monkeypatch: pytest.MonkeyPatch
) -> None:
    loader, _ = project
    other = type("Other", (ConfigLoaderImpl,), {})
    changed = copy.copy(loader)
    changed.__class__ = other
    assert remembering(changed) is changed
    monkeypatch.delattr(ConfigLoaderImpl, "_compose_config_from_defaults_list")
    with pytest.warns(UserWarning, match="composed anew"):
        assert remembering(loader) is loader


JOB = st.lists(st.sampled_from(sorted(SWEPT)), unique_by=lambda o: o.split("=")[0])


@given(st.lists(JOB, min_size=1, max_size=6))
@settings(max_examples=4, deadline=None)
def test_any_combination_of_options_and_values(batch: list[list[str]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PLENUM_ROOT", str(ROOT))
        for slow, master in opened(ROOT / "conf"):
            quick = remembering(slow)
            for job in batch:
                assert outcome(quick, master, job) == outcome(slow, master, job), job
