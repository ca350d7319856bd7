"""Run the papers' studies and write their results, for `scripts/papers.py`."""

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Literal

import paper_results
from omegaconf import DictConfig

from plenum.base.errors import UserError
from plenum.base.file_locks import require_writable
from plenum.base.project import project_root
from plenum.design.kinds import Kind
from plenum.reports.explorer.publish import ExploredStudy, publish_explorer
from plenum.reports.page.publish import publish_report
from plenum.reports.settings import Settings, read_names, read_study_settings
from plenum.reports.study import find_study_kind
from plenum_papers.items import items
from plenum_papers.items.items import Experiment, PaperItem


@dataclass(frozen=True)
class MadeItems(Settings):
    """Settings whose study is filled in later; runs have a store of their own in ``out``."""

    run: Literal["reduced", "full"] | None = None
    only: Literal["simulated", "hosted"] | None = None


def make(cfg: DictConfig) -> None:
    """Run studies where that is asked for, then write what the items show.

    Raises
    ------
    UserError
        A value is malformed, or a study's run failed.
    """
    chosen = read_study_settings(MadeItems, cfg, study="papers")
    if chosen.run is not None:
        database = (chosen.out / "mlruns" / "mlflow.db").resolve()
        chosen = replace(chosen, uri=f"sqlite:///{database}")
    wanted = [item for item in _items(cfg) if chosen.only is None or _of(item, chosen.only)]
    studies = list(dict.fromkeys(study for item in wanted for study in item.studies))
    require_writable("out", chosen.out)
    began = time.monotonic()
    if chosen.run is not None:
        _run_all(studies, chosen.run, chosen)
    collected = paper_results.collect(wanted, chosen, _say)
    files = paper_results.write_index(collected, chosen.out, _lead(chosen.run), _notice(collected))
    if chosen.run is not None:
        _pages(studies, chosen)
    _say(f"written: {', '.join(map(str, files))}, after {time.monotonic() - began:.0f} s")


def _items(cfg: DictConfig) -> list[PaperItem]:
    if cfg.item is None or cfg.item == "all":
        return list(items.items())
    return [items.item(name) for name in read_names(cfg.item)]


def _of(item: PaperItem, backend: str) -> bool:
    return all(study.backend == backend for study in item.studies)


def _run_all(studies: Sequence[Experiment], size: str, chosen: Settings) -> None:
    for number, study in enumerate(studies, 1):
        began = time.monotonic()
        _say(f"[{number}/{len(studies)}] {study.command(study.reduced * (size == 'reduced'))}")
        _run(study, size, chosen)
        _say(f"[{number}/{len(studies)}] {study.name}: {time.monotonic() - began:.0f} s")


def _run(study: Experiment, size: str, chosen: Settings) -> None:
    """Run a study as a user would; what it prints goes to a file."""
    log = chosen.out / "logs" / f"{study.name}.txt"
    log.parent.mkdir(parents=True, exist_ok=True)
    folder = (chosen.out / "mlruns").resolve()
    command = [
        *(sys.executable, str(project_root() / "run.py"), "-m"),
        *study.overrides(study.reduced * (size == "reduced")),
        *(f"tracking.uri={chosen.uri}", f"journals={folder / 'journals'}"),
    ]
    with log.open("w", encoding="utf-8") as output:
        done = subprocess.run(
            command,
            cwd=chosen.out,
            env=dict(os.environ),  # its keys, which a process that is started by itself hasn't
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    if done.returncode:
        last = log.read_text(encoding="utf-8").strip().splitlines()[-1:]
        raise UserError(f"run: {study.name} ended with status {done.returncode}: {''.join(last)} "
                        f"({log} has the rest)")  # fmt: skip


def _pages(studies: Sequence[Experiment], chosen: Settings) -> None:
    """Tables, report and explorer of every study, in a folder of its own."""
    for name in dict.fromkeys(study.study for study in studies):
        began = time.monotonic()
        one_study = replace(chosen, study=name, out=chosen.out / name)
        shown = {field.name: getattr(one_study, field.name) for field in fields(Settings)}
        page = ExploredStudy(**shown | {"out": one_study.out / "explorer.html"})
        log = chosen.out / "logs" / f"{name}_pages.txt"
        with log.open("w", encoding="utf-8") as output, contextlib.redirect_stdout(output):
            kind = find_study_kind(name, chosen.uri)
            kind.publish_tables(one_study)
            publish_report(one_study)
            if explored := kind.has(Kind.explore):
                publish_explorer(page)
        made_of_it = "tables, report" + ", explorer" * explored
        _say(f"{one_study.out}: {made_of_it}, {time.monotonic() - began:.0f} s")


def _lead(size: str | None) -> str:
    extent = {
        "reduced": "all studies at a reduced size",
        "full": "all studies at the papers' size",
        None: "from the runs that were tracked",
    }
    return f"Numbered results of the papers, {extent[size]}; published values stand next to them."


def _notice(collected: Sequence[paper_results.ShownItem]) -> str:
    """What is simulated or tiny says so first."""
    warned = ("no evidence", "stands for no real model")
    lines = dict.fromkeys(shown.provenance for shown in collected)
    return "; ".join(line for line in lines if any(text in line for text in warned))


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
