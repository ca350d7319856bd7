"""What stands between Hydra and :func:`plenum.execution.conduct`: jobs in, job returns out."""

import logging
from collections.abc import Sequence
from pathlib import Path

from hydra.core.hydra_config import HydraConfig
from hydra.core.utils import (
    JobReturn,
    JobStatus,
    configure_log,
    filter_overrides,
    setup_globals,
)
from hydra.types import HydraContext
from omegaconf import DictConfig, OmegaConf, open_dict, read_write

from plenum import conditions
from plenum.errors import UserError
from plenum.execution.conduct import conduct
from plenum.execution.outcomes import save
from plenum.execution.plan import plan

_LOG = logging.getLogger(__name__)


def run_job(cfg: DictConfig) -> None:
    """Run the one condition of a composed config; the task of ``run.py``."""
    job = conditions.job(cfg)
    if job.dry_run:
        print(plan([job]))
        return
    (outcome,) = conduct([job])
    save(outcome, Path(HydraConfig.get().runtime.output_dir))


def launch(
    context: HydraContext, config: DictConfig, batch: Sequence[Sequence[str]], first: int
) -> list[JobReturn]:
    """Compose, check and run the jobs of a multirun; the ``concurrent`` launcher.

    Every job is composed and validated before the first one runs, so that a mistake in the last
    condition costs nothing. A failed condition is told by its outcome, not by an exception: Hydra
    then goes on to its closing callbacks.
    """
    setup_globals()
    configure_log(config.hydra.hydra_logging, config.hydra.verbose)
    returns, jobs = [], []
    for number, overrides in enumerate(batch, start=first):
        composed = _compose(context, config, list(overrides), number)
        told = " ".join(filter_overrides(overrides))
        try:
            jobs.append(conditions.job(composed.cfg))
        except UserError as error:
            raise UserError(f"{error} (job {number}: {told})") from None
        returns.append(composed)
    if any(job.dry_run for job in jobs):
        print(plan(jobs))
        return _completed(context, returns, [None] * len(jobs))
    for composed in returns:
        _save_configs(composed)
    outcomes = conduct(jobs)
    for composed, outcome in zip(returns, outcomes, strict=True):
        save(outcome, _folder(composed))
    return _completed(context, returns, outcomes)


def _compose(
    context: HydraContext, config: DictConfig, overrides: list[str], number: int
) -> JobReturn:
    composed = context.config_loader.load_sweep_config(config, overrides)
    with open_dict(composed):
        composed.hydra.job.id = str(number)
        composed.hydra.job.num = number
    HydraConfig.instance().set_config(composed)
    folder = Path(composed.hydra.sweep.dir) / composed.hydra.sweep.subdir
    with read_write(composed.hydra.runtime), open_dict(composed.hydra.runtime):
        composed.hydra.runtime.output_dir = str(folder.resolve())
    task = OmegaConf.create(
        {k: v for k, v in OmegaConf.to_container(composed, resolve=True).items() if k != "hydra"}  # type: ignore[union-attr]
    )
    return JobReturn(
        overrides=list(composed.hydra.overrides.task),
        cfg=task,
        hydra_cfg=OmegaConf.create({"hydra": composed.hydra}),
        working_dir=str(Path.cwd()),
        task_name=composed.hydra.job.name,
    )


def _folder(composed: JobReturn) -> Path:
    assert composed.hydra_cfg is not None
    return Path(composed.hydra_cfg.hydra.runtime.output_dir)


def _save_configs(composed: JobReturn) -> None:
    """The files that Hydra keeps of a job."""
    assert composed.hydra_cfg is not None
    if composed.hydra_cfg.hydra.output_subdir is None:
        return
    folder = _folder(composed) / composed.hydra_cfg.hydra.output_subdir
    folder.mkdir(parents=True, exist_ok=True)
    OmegaConf.save(composed.cfg, folder / "config.yaml")
    OmegaConf.save(composed.hydra_cfg, folder / "hydra.yaml")
    OmegaConf.save(OmegaConf.create(composed.overrides), folder / "overrides.yaml")


def _completed(
    context: HydraContext, returns: list[JobReturn], results: Sequence[object]
) -> list[JobReturn]:
    for composed, result in zip(returns, results, strict=True):
        composed.return_value = result
        composed.status = JobStatus.COMPLETED
        context.callbacks.on_job_end(config=composed.hydra_cfg, job_return=composed)
    return returns
