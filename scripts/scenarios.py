"""Write the tasks of a published benchmark as scenarios.

python scripts/scenarios.py hiddenbench=FILE.json out=FOLDER
python scripts/scenarios.py benchform=FOLDER/val_data.json out=FOLDER
"""

import os
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

try:
    import hydra
    import yaml
    from omegaconf import DictConfig

    from plenum.base.errors import UserError
    from plenum.base.file_locks import require_writable
    from plenum.cli import front_door, one_line_errors
    from plenum.design.ranges import StrictSettings
    from plenum.design.validation import read_settings
except ModuleNotFoundError as missing:  # a Python without the environment that `make` makes
    from environment import explain

    raise explain(missing) from None


@dataclass(frozen=True)
class BenchmarkSettings(StrictSettings):
    """The file of one benchmark, and the folder to write to."""

    hiddenbench: Path | None
    benchform: Path | None
    out: Path | None


def count_cases(cases: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Count cases by their private facts, and by their answer: a constant one may do well."""
    facts = Counter(len(case.get("private", ())) for case in cases.values())
    yield from (f"{n} with {number or 'no'} private facts" for number, n in sorted(facts.items()))
    answers = Counter(case["answer"] for case in cases.values())
    yield "answers: " + ", ".join(f"{label} {n}" for label, n in sorted(answers.items()))


def write(cases: Mapping[str, Mapping[str, Any]], folder: Path) -> None:
    """Write the scenario files of a new folder: all of them, or none.

    Raises
    ------
    UserError
        The folder exists or can't be written.
    """
    if folder.exists():
        raise UserError(f"out: {folder} exists; name another folder")
    require_writable("out", folder.parent)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".plenum-", dir=folder.parent) as scratch:
            whole = Path(scratch) / folder.name
            whole.mkdir()
            for name, case in cases.items():
                text = yaml.safe_dump(dict(case), allow_unicode=True, sort_keys=False, width=96)
                (whole / f"{name}.yaml").write_text(text, encoding="utf-8")
            os.rename(whole, folder)
    except OSError as error:
        raise UserError(f"out: {folder} can't be written: {error.strerror}") from None


@hydra.main(version_base="1.3", config_path="../conf", config_name="scenarios")
def main(cfg: DictConfig) -> None:
    with one_line_errors():
        from benchmarks import read_benchform, read_hiddenbench

        chosen = read_settings(BenchmarkSettings, cfg)
        readers = {
            read_hiddenbench: chosen.hiddenbench,
            read_benchform: chosen.benchform,
        }
        files = {read: file for read, file in readers.items() if file is not None}
        if len(files) != 1 or chosen.out is None:
            need = "hiddenbench=FILE or benchform=FILE, and out=FOLDER"
            raise UserError(f"hiddenbench: {chosen.hiddenbench}; give {need}")
        ((read, file),) = files.items()
        cases, folder = read(file), chosen.out / "scenarios"
        write(cases, folder)
        print(f"{file}: {len(cases)} of {len(cases)} read; {'; '.join(count_cases(cases))}")
        print(f"written: {folder}, for run.py --config-dir {chosen.out}")


if __name__ == "__main__":
    front_door(main)
