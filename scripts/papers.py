"""List the figures and tables of the papers, or make them.

python scripts/papers.py [item=001/fig-1a] ['item=Table S5'] [markdown=true]
python scripts/papers.py draw=true [item=...]       from the runs that are tracked
python scripts/papers.py run=reduced|full           run their studies first
python scripts/papers.py published=CLONE check=true     published and recomputed values
python scripts/papers.py released=true              the released rules of a world, without a model

With ``run``, studies go to a tracking store in the folder ``out``; finished ones are not run again.
"""

from pathlib import Path

try:
    import hydra
    from omegaconf import DictConfig

    from plenum.cli import front_door, one_line_errors
except ModuleNotFoundError as missing:  # a Python without the environment that `make` makes
    from environment import explain

    raise explain(missing) from None


@hydra.main(version_base="1.3", config_path="../conf", config_name="papers")
def main(cfg: DictConfig) -> None:
    with one_line_errors():
        import paper_page

        from plenum_papers.items import items

        if cfg.released:
            import released_rules

            released_rules.publish(cfg.released_runs, Path(cfg.out))
        elif cfg.check:
            import paper_check

            from plenum_papers.published.catalogue import find_release

            paper_check.publish_check(find_release(cfg), Path(cfg.out))
        elif cfg.run is not None or cfg.draw:
            from papers_run import make

            make(cfg)
        elif cfg.item is not None:
            print(paper_page.commands(items.item(str(cfg.item))))
        else:
            print(paper_page.page() if cfg.markdown else paper_page.format_items())


if __name__ == "__main__":
    front_door(main, package="plenum_papers")
