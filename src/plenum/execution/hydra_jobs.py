"""Between Hydra and :func:`plenum.execution.run_sweep`: composed jobs in, job returns out."""

import logging
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from hydra.core.hydra_config import HydraConfig
from hydra.core.utils import (
    JobReturn,
    JobStatus,
    configure_log,
    env_override,
    filter_overrides,
    setup_globals,
)
from hydra.types import HydraContext, RunMode, TaskFunction
from omegaconf import DictConfig, OmegaConf, open_dict, read_write

from plenum.base.errors import UserError
from plenum.design.compose import parse_job
from plenum.design.condition import Job
from plenum.execution.outcomes import Undefined, save
from plenum.execution.sweep import run_sweep
from plenum.records.writing import write_whole

NOTHING_RUN = Undefined("dry_run: nothing was run; a sweeper that goes by results needs a run")
MANY = 20
"""From here on composing takes long enough to say that it is being done."""

log = logging.getLogger(__name__)


def run_job(cfg: DictConfig, show: Callable[[Sequence[Job]], None]) -> float:
    """Run the one condition of a composed config; the task of ``run.py``.

    Parameters
    ----------
    show
        Prints what jobs would run, for a dry run.

    Returns
    -------
    float
        The estimate that ``objective`` names, for sweepers that choose values by results; a NaN
        where it isn't defined, and of a dry run (see :class:`Undefined`).
    """
    if HydraConfig.get().mode == RunMode.RUN and HydraConfig.get().sweeper.get("params"):
        raise UserError("experiment: it is a sweep; add -m (python run.py -m +experiment=...)")
    job = parse_job(cfg)
    if HydraConfig.get().mode == RunMode.MULTIRUN and job.budget.limited:
        raise UserError("budget: it holds for a whole sweep only with hydra/launcher=concurrent")
    if job.dry_run:
        show([job])
        return NOTHING_RUN
    (outcome,) = run_sweep([job])
    save(outcome, Path(HydraConfig.get().runtime.output_dir))
    return outcome.returned(job.objective)


def launch(
    context: HydraContext,
    config: DictConfig,
    task: TaskFunction,
    batch: Sequence[Sequence[str]],
    first: int,
    show: Callable[[Sequence[Job]], None],
) -> list[JobReturn]:
    """Compose, check and run the jobs of a multirun; the ``concurrent`` launcher.

    Every job is composed and validated before the first one runs, so that a mistake in the last
    condition costs nothing. A failed condition shows in its outcome, not by an exception: Hydra
    then goes on to its closing callbacks. Those of the jobs are called for all jobs before the
    first one starts, and for all after the last one has ended. A job returns what
    :func:`run_job` does.
    """
    setup_globals()
    configure_log(config.hydra.hydra_logging, config.hydra.verbose)
    before = HydraConfig.instance().cfg
    try:
        composed = _compose_all(context, config, batch, first)
        with env_override(_environment(composed)):
            return _run_all(context, task, composed, show)
    finally:
        HydraConfig.instance().cfg = before


def _compose_all(
    context: HydraContext, config: DictConfig, batch: Sequence[Sequence[str]], first: int
) -> "list[_Composed]":
    began = time.monotonic()
    if len(batch) > MANY:
        print(f"composing {len(batch)} conditions", file=sys.stderr)
    composed = [
        _compose(context, config, list(overrides), number)
        for number, overrides in enumerate(batch, start=first)
    ]
    seconds = time.monotonic() - began
    if len(batch) > MANY and seconds > 2:
        print(f"composed {len(batch)} conditions in {seconds:.0f} s", file=sys.stderr)
    return composed


def _run_all(
    context: HydraContext,
    task: TaskFunction,
    composed: "Sequence[_Composed]",
    show: Callable[[Sequence[Job]], None],
) -> list[JobReturn]:
    jobs = [job.job for job in composed]
    if any(job.budget.limited for job in jobs) and not _launched_at_once(composed[0].config):
        raise UserError("budget: it holds for a whole sweep only with hydra/sweeper=plenum")
    for job in composed:
        context.callbacks.on_job_start(config=job.config, task_function=task)
    if any(job.dry_run for job in jobs):
        show(jobs)
        return [job.completed(context, NOTHING_RUN) for job in composed]
    log.info(f"Launching {len(composed)} jobs in one process")
    for job in composed:
        log.info(f"\t#{job.config.hydra.job.num} : {job.overrides}")
        job.save_configs()
    outcomes = run_sweep(jobs)
    for job, outcome in zip(composed, outcomes, strict=True):
        save(outcome, job.folder)
    return [
        job.completed(context, outcome.returned(job.job.objective))
        for job, outcome in zip(composed, outcomes, strict=True)
    ]


def _launched_at_once(config: DictConfig) -> bool:
    """Whether the sweeper knows all jobs beforehand; others launch some, and go by their results.

    Each launch has a budget of its own.
    """
    return str(config.hydra.sweeper._target_).endswith(("PlenumSweeper", "BasicSweeper"))


def _environment(composed: "Sequence[_Composed]") -> dict[str, str]:
    """The environment variables that Hydra is to set for the jobs; they share one process."""
    wanted = [dict(job.config.hydra.job.env_set) for job in composed]
    if any(variables != wanted[0] for variables in wanted):
        raise UserError("hydra.job.env_set: the jobs differ in it; use hydra/launcher=basic")
    return wanted[0] if wanted else {}


@dataclass(frozen=True)
class _Composed:
    """A composed job with what Hydra keeps of it."""

    config: DictConfig
    task: DictConfig
    job: Job

    @property
    def overrides(self) -> str:
        """Its overrides on the command line."""
        return " ".join(self.config.hydra.overrides.task)

    @property
    def folder(self) -> Path:
        """The job's output folder."""
        return Path(self.config.hydra.runtime.output_dir)

    def save_configs(self) -> None:
        """Write the files that Hydra keeps of a job."""
        if self.config.hydra.output_subdir is None:
            return
        folder = self.folder / self.config.hydra.output_subdir
        folder.mkdir(parents=True, exist_ok=True)
        kept = {
            "config": self.task,
            "hydra": {"hydra": self.config.hydra},
            "overrides": self.config.hydra.overrides.task,
        }
        for name, config in kept.items():
            write_whole(folder / f"{name}.yaml", OmegaConf.to_yaml(config))

    def completed(self, context: HydraContext, result: float) -> JobReturn:
        """What the sweeper gets back."""
        returned = JobReturn(
            overrides=list(self.config.hydra.overrides.task),
            cfg=self.task,
            hydra_cfg=self.config,
            working_dir=str(Path.cwd()),
            task_name=self.config.hydra.job.name,
            status=JobStatus.COMPLETED,
        )
        returned.return_value = result
        context.callbacks.on_job_end(config=self.config, job_return=returned)
        return returned


def _compose(
    context: HydraContext, config: DictConfig, overrides: list[str], number: int
) -> _Composed:
    composed = context.config_loader.load_sweep_config(config, overrides)
    with open_dict(composed):
        composed.hydra.job.id = str(number)
        composed.hydra.job.num = number
    HydraConfig.instance().set_config(composed)
    folder = Path(composed.hydra.sweep.dir) / composed.hydra.sweep.subdir
    with read_write(composed.hydra.runtime), open_dict(composed.hydra.runtime):
        composed.hydra.runtime.output_dir = str(folder.resolve())
    if composed.hydra.sweeper.get("params") and not config.hydra.sweeper.get("params"):
        raise UserError("experiment: each is a sweep of its own; run one at a time")
    if composed.hydra.job.chdir:
        raise UserError("hydra.job.chdir: jobs share one process; use hydra/launcher=basic")
    task = OmegaConf.masked_copy(composed, [str(key) for key in composed if key != "hydra"])
    try:
        with env_override(composed.hydra.job.env_set):
            job = parse_job(task)
    except UserError as error:
        line = " ".join(filter_overrides(overrides))
        raise UserError(f"{error} (job {number}: {line})") from None
    return _Composed(composed, task, job)
