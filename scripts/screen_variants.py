"""Check the variants of scenarios by rules, and let a judge model score their meaning.

python scripts/screen_variants.py ['scenarios=[IM-01]'] [combine=true] [judge=gpt-4o] [out=FOLDER]
"""

import os
from pathlib import Path

try:
    import hydra
    from omegaconf import DictConfig

    from plenum.base import FAILED, INTERRUPTED, say
    from plenum.cli import front_door, one_line_errors
except ModuleNotFoundError as missing:  # a Python without the environment that `make` makes
    from environment import explain

    raise explain(missing) from None

os.environ.setdefault("PLENUM_ROOT", str(Path(__file__).resolve().parents[1]))


@hydra.main(version_base="1.3", config_path="../conf", config_name="screen_variants")
def main(cfg: DictConfig) -> None:
    with one_line_errors():
        from plenum.design import read_settings
        from plenum_checks import variants

        chosen = read_settings(variants.ScreenSettings, cfg)
        if cfg.judge is not None:
            from plenum_checks import meaning_judge

            request = meaning_judge.settings(cfg)  # refused before anything is printed
        if chosen.combine:
            variants.combine(chosen)
        surveys, failed = variants.publish(chosen)
        stopped = ""
        if cfg.judge is not None:
            pairs = meaning_judge.pairs(surveys)
            if request.job.dry_run:
                print(meaning_judge.plan(request, pairs))
            else:
                judged, stopped = meaning_judge.judge(request, pairs)
                low = variants.publish_scores(request.out, judged, request.flag_below)
                failed = "; ".join(filter(None, (failed, low)))
    if stopped:
        failed = "; ".join(filter(None, (f"stopped: {stopped}", failed)))
    if failed:
        say(failed)
        raise SystemExit(INTERRUPTED if stopped == "interrupted" else FAILED)


if __name__ == "__main__":
    front_door(main, package="plenum_checks")
