"""Plan how many replicates a study needs.

python scripts/plan.py study=NAME [difference=0.2] [delta=0.03]
python scripts/plan.py margin=.05 [cases=65] [runs=5] [accuracy=.45] [price=.01]  # docs/steady.md
"""

try:
    import hydra
    from omegaconf import DictConfig

    from plenum.cli import front_door, one_line_errors
except ModuleNotFoundError as missing:  # a Python without the environment that `make` makes
    from environment import explain

    raise explain(missing) from None


@hydra.main(version_base="1.3", config_path="../conf", config_name="plan")
def main(cfg: DictConfig) -> None:
    with one_line_errors():
        if cfg.margin is not None:
            from plenum_verdicts.protocols import publish_steady_plan

            publish_steady_plan(cfg)
            return
        from plenum.reports import plans
        from plenum.reports.settings import check_plan_settings

        plans.publish_plan(check_plan_settings(cfg))


if __name__ == "__main__":
    front_door(main)
