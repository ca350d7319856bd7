"""The adapter between Hydra and :func:`plenum.execution.sweep.run_sweep`."""

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, cast

from hydra.core.hydra_config import HydraConfig
from hydra.core.utils import (
    JobReturn,
    JobStatus,
    configure_log,
    env_override,
    filter_overrides,
    setup_globals,
)
from hydra.experimental.callback import Callback
from hydra.types import HydraContext, RunMode, TaskFunction
from omegaconf import DictConfig, OmegaConf, open_dict

from plenum.base.environment import close_environment
from plenum.base.errors import UserError
from plenum.base.terminal import say
from plenum.design.compose import format_yaml, parse_job
from plenum.design.job import Job
from plenum.execution.executors import Deliberations, choose_executor
from plenum.execution.outcomes import save_outcome
from plenum.execution.resumption import keep_readings
from plenum.execution.sweep import run_sweep
from plenum.records.atomic_files import write_whole

MANY = 20
"""Sweeps with more jobs than this announce that they are being composed. Composing takes some 160
ms a job, so that 20 make a user wait for three seconds."""


def run_job(cfg: DictConfig, show: Callable[[Sequence[Job]], None]) -> None:
    """Run the one condition of a composed config, as the task of ``run.py``.

    Parameters
    ----------
    show
        Prints what jobs would run, for a dry run.

    """
    close_environment()  # of a process that another launcher has started, too
    hydra = HydraConfig.get()
    if hydra.mode == RunMode.RUN and hydra.sweeper.get("params"):
        raise UserError("experiment: it is a sweep; add -m (python run.py -m +experiment=...)")
    if hydra.mode == RunMode.RUN and hydra.runtime.choices.get("hydra/launcher") == "ray":
        raise UserError("hydra/launcher: ray runs sweeps only; add -m, even for one condition")
    (job,) = keep_readings([parse_job(cfg)])
    if hydra.mode == RunMode.MULTIRUN and job.budget.limited:
        raise UserError("budget: it holds for a whole sweep only with hydra/launcher=concurrent")
    choose_executor([job]).check([job])
    if job.dry_run:
        show([job])
        return
    (outcome,) = run_sweep([job])
    save_outcome(outcome, Path(hydra.runtime.output_dir))


def launch_jobs(
    context: HydraContext,
    config: DictConfig,
    task: TaskFunction,
    batch: Sequence[Sequence[str]],
    first: int,
    show: Callable[[Sequence[Job]], None],
    play: Callable[[Sequence[Job]], Deliberations] | None = None,
) -> list[JobReturn]:
    """Compose, check and run the jobs of a multirun, for the launchers ``concurrent`` and ``ray``.

    Every job is composed and validated before the first one runs, so that a mistake in the last
    condition costs nothing. A failed condition shows in its outcome, not by an exception, so that
    Hydra goes on to its closing callbacks. Those of the jobs are called for all jobs before the
    first one starts, and for all after the last one has ended. A job returns what :func:`run_job`
    does. ``play`` makes the executor of the replicates, if this process doesn't run them.
    """
    setup_globals()
    configure_log(config.hydra.hydra_logging, config.hydra.verbose)
    before = HydraConfig.instance().cfg  # each composed job takes its place
    try:
        composed = _compose_all(context, config, batch, first)
        with env_override(_environment(composed)):
            return _run_all(context, config, task, composed, show, play)
    finally:
        HydraConfig.instance().cfg = before


def _compose_all(
    context: HydraContext, config: DictConfig, batch: Sequence[Sequence[str]], first: int
) -> "list[_ComposedJob]":
    began = time.monotonic()
    if len(batch) > MANY:
        print(f"composing {len(batch)} conditions", file=sys.stderr)
    composed = [
        _compose(context, config, list(overrides), number)
        for number, overrides in enumerate(batch, start=first)
    ]
    seconds = time.monotonic() - began
    # A shorter wait needs no second line.
    if len(batch) > MANY and seconds > 2:
        print(f"composed {len(batch)} conditions in {seconds:.0f} s", file=sys.stderr)
    kept = keep_readings([each.job for each in composed])
    return [replace(each, job=job) for each, job in zip(composed, kept, strict=True)]


def _run_all(
    context: HydraContext,
    config: DictConfig,
    task: TaskFunction,
    composed: "Sequence[_ComposedJob]",
    show: Callable[[Sequence[Job]], None],
    play: Callable[[Sequence[Job]], Deliberations] | None,
) -> list[JobReturn]:
    jobs = [job.job for job in composed]
    if any(job.budget.limited for job in jobs) and not _launches_at_once(config):
        raise UserError("budget: it holds for a whole sweep only with hydra/sweeper=plenum")
    if _follow_jobs(context):
        for job in composed:
            context.callbacks.on_job_start(config=job.config(), task_function=task)
    executor = play(jobs) if play and jobs else None
    (executor or choose_executor(jobs)).check(jobs)
    if any(job.dry_run for job in jobs):
        show(jobs)
        return [job.complete() for job in composed]
    outcomes = run_sweep(jobs, executor, begin=partial(_begin, composed, bool(play)))
    for job, outcome in zip(composed, outcomes, strict=True):
        save_outcome(outcome, job.folder)
    return [job.complete() for job in composed]


def _begin(composed: "Sequence[_ComposedJob]", on_workers: bool) -> None:
    """Announce the sweep, and write its configs as Hydra does."""
    jobs = [job.job for job in composed]
    replicates = sum(job.replicates for job in jobs)
    calls = sum(job.condition.calls * job.replicates for job in jobs)
    what = ", ".join(
        f"{count:,} {noun}{'s' if count != 1 else ''}"
        for count, noun in ((len(jobs), "condition"), (replicates, "replicate"), (calls, "call"))
    )
    say(f"running {what}{' on workers' if on_workers else ''}")
    for job in composed:
        job.save_configs()


def _launches_at_once(config: DictConfig) -> bool:
    """Return whether the sweeper knows all jobs beforehand.

    Others launch some, and choose the next by their results. Each launch has a budget of its own.
    """
    return str(config.hydra.sweeper._target_).endswith(("PlenumSweeper", "BasicSweeper"))


def _environment(composed: "Sequence[_ComposedJob]") -> dict[str, str]:
    """Collect the environment variables that Hydra sets for the jobs, which share one process."""
    wanted = [job.env_set for job in composed]
    if any(variables != wanted[0] for variables in wanted):
        raise UserError("hydra.job.env_set: the jobs differ in it; use hydra/launcher=basic")
    return wanted[0] if wanted else {}


@dataclass(frozen=True)
class _ComposedJob:
    """A composed job; it keeps the configs as text, since thousands of objects fill memory."""

    context: HydraContext
    master: DictConfig
    overrides: Sequence[str]
    number: int
    env_set: dict[str, str]
    folder: Path
    files: dict[str, str]
    """The texts that Hydra keeps of a job, by the names of their files."""
    job: Job

    def config(self) -> DictConfig:
        """Compose the whole config anew."""
        return _config(self.context, self.master, self.overrides, self.number)

    def save_configs(self) -> None:
        """Write the files that Hydra keeps of a job."""
        for name, text in self.files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, text)

    def complete(self) -> JobReturn:
        """Make the sweeper's result, with the configs if a callback may want them."""
        returned = JobReturn(
            overrides=list(self.overrides),
            working_dir=str(Path.cwd()),
            task_name=HydraConfig.get().job.name,
            status=JobStatus.COMPLETED,
        )
        returned.return_value = None
        if _follow_jobs(self.context):
            config = self.config()
            returned.hydra_cfg, returned.cfg = config, _task(config)
            self.context.callbacks.on_job_end(config=config, job_return=returned)
        return returned


def _follow_jobs(context: HydraContext) -> bool:
    """Return whether a callback is called for each job."""
    return any(
        getattr(type(each), name, None) is not getattr(Callback, name)
        for each in context.callbacks.callbacks
        for name in ("on_job_start", "on_job_end")
    )


def _compose(
    context: HydraContext, master: DictConfig, overrides: Sequence[str], number: int
) -> _ComposedJob:
    try:
        config = _config(context, master, overrides, number)
        hydra, task = config.hydra, _task(config)
        if hydra.sweeper.get("params") and not master.hydra.sweeper.get("params"):
            raise UserError("experiment: each is a sweep of its own; run one at a time")
        if hydra.job.chdir:
            raise UserError("hydra.job.chdir: jobs share one process; use hydra/launcher=basic")
        env_set = dict(hydra.job.env_set)
        # Settings may name variables that the job sets, as in ${oc.env:...}.
        with env_override(env_set):
            job = parse_job(task)
    except UserError as error:
        line = " ".join(filter_overrides(overrides))
        raise UserError(f"{error} (job {number}: {line})") from None
    folder, files = Path(hydra.runtime.output_dir), _render_kept(hydra, task)
    return _ComposedJob(context, master, overrides, number, env_set, folder, files, job)


def _render_kept(hydra: DictConfig, task: DictConfig) -> dict[str, str]:
    """Write the texts that Hydra keeps of a job, by file; none if it is told to keep none."""
    if hydra.output_subdir is None:
        return {}
    kept = {"overrides": hydra.overrides.task, "hydra": {"hydra": hydra}, "config": task}
    return {
        f"{hydra.output_subdir}/{name}.yaml": format_yaml(
            OmegaConf.to_container(OmegaConf.create(node), enum_to_str=True)
        )
        for name, node in kept.items()
    }


def _config(
    context: HydraContext, master: DictConfig, overrides: Sequence[str], number: int
) -> DictConfig:
    """Compose a job's whole config, which becomes Hydra's current one."""
    config = context.config_loader.load_sweep_config(master, list(overrides))
    hydra = config.hydra
    with open_dict(config):
        hydra.job.id, hydra.job.num = str(number), number
    HydraConfig.instance().cfg = cast(Any, config)  # as set_config does, but without a copy
    sweep, runtime = hydra.sweep, hydra.runtime
    folder = Path(sweep.dir) / sweep.subdir
    with open_dict(runtime):
        runtime.output_dir = str(folder.resolve())
    OmegaConf.set_readonly(hydra, True)
    return config


def _task(config: DictConfig) -> DictConfig:
    """Take the config without Hydra's own part; its values are moved, not copied."""
    task = DictConfig({}, flags={"no_deepcopy_set_nodes": True})
    for key in config:
        if key != "hydra":
            task[key] = config._get_node(key)
    return task
