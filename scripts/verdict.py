"""Judge runs that exist: do they reach the same decision?

python scripts/verdict.py logs=FILE [baseline=FILE] [gate="score >= .80"] [decide=true]
python scripts/verdict.py logs=runs.csv columns.case=task columns.right=passed by=model
python scripts/verdict.py steady=runs.parquet [reference=NAME] [margin=.05] [plan=plan.json]

The verdict is printed, and written as verdict.json, .html, .md, .csv and .xml. Exit status: 0
stable, 1 unstable, 3 undecided (undecided=pass: 0, fail: 1), 2 for bad input. With steady=
protocols are compared: 0 if all are steadier at kept quality, 1 if one is worse (docs/steady.md).
To run a program and judge it: scripts/audit.py.
"""

import sys

try:
    import hydra
    from omegaconf import DictConfig

    from plenum.base.exits import NO_VERDICT
    from plenum.cli import front_door, one_line_errors
    from plenum_verdicts.arguments import quote_argument
except ModuleNotFoundError as missing:  # a Python without the environment that `make` makes
    from environment import explain

    raise explain(missing) from None


@hydra.main(version_base="1.3", config_path="../conf", config_name="verdict")
def main(cfg: DictConfig) -> None:
    with one_line_errors(failed=NO_VERDICT):
        # Either is imported alone: a verdict on a log stands on the screen in two seconds.
        if cfg.steady:
            from plenum_verdicts.protocols import judge_steady_config

            status = judge_steady_config(cfg)
        else:
            from plenum_verdicts.judge import judge_config

            status = judge_config(cfg)
    raise SystemExit(status)


if __name__ == "__main__":
    sys.argv[1:] = map(quote_argument, sys.argv[1:])
    front_door(main, NO_VERDICT, "plenum_verdicts")
