"""Ask a model one prompt n times, and report how far the answers differ (section S1).

python scripts/probe.py model=gpt-4.1-mini [n=20] [scenario=HL-01] [temperature=t0] [tracking=none]
"""

import os
from pathlib import Path

import hydra
from omegaconf import DictConfig

from plenum.cli import FAILED, INTERRUPTED, front_door, told
from plenum.terminal import say

os.environ.setdefault("PLENUM_ROOT", str(Path(__file__).resolve().parents[1]))


@hydra.main(version_base="1.3", config_path="../conf", config_name="probe")
def main(cfg: DictConfig) -> None:
    with told():
        from plenum.execution import probe
        from plenum.reports import probes

        asked = probe.settings(cfg)
        if asked.job.dry_run:
            print(probe.plan(asked))
            return
        document = probe.probe(asked)
        if probe.answered(document) or not document["stopped"]:
            probes.publish(document, asked.out, asked.job.tracking_uri)
    if why := probe.cut_short(document):
        say(why)
        raise SystemExit(INTERRUPTED if document["stopped"] == probe.INTERRUPTED else FAILED)


if __name__ == "__main__":
    front_door(main)
