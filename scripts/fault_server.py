"""Serve the simulated committee over OpenAI's API, with faults on request.

python scripts/fault_server.py [port=8123] [faults.all=0.12] [limits.rpm=500] [answers=canned]
"""

import signal

try:
    import hydra
    from omegaconf import DictConfig

    from plenum.base import INTERRUPTED
    from plenum.cli import front_door, one_line_errors
except ModuleNotFoundError as missing:  # a Python without the environment that `make` makes
    from environment import explain

    raise explain(missing) from None


@hydra.main(version_base="1.3", config_path="../conf", config_name="fault_server")
def main(cfg: DictConfig) -> None:
    with one_line_errors():
        from plenum_checks.fault_server import check_fault_settings, serve

        ended_by = serve(check_fault_settings(cfg))
    if ended_by is signal.SIGINT:
        raise SystemExit(INTERRUPTED)


if __name__ == "__main__":
    front_door(main, package="plenum_checks")
