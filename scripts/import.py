"""Check an archive, or the authors' runs, and import it.

python scripts/import.py archive=FILE [study=NEW] [tracking=server] [journals=FOLDER]
python scripts/import.py published=CLONE [study=landscape] [tracking=server]
python scripts/import.py published=CLONE what=design [target=FOLDER]

The same command continues an import that was stopped.
"""

try:
    import hydra
    from omegaconf import DictConfig

    from plenum.cli import front_door, one_line_errors
    from plenum.design.ranges import require_one_of
except ModuleNotFoundError as missing:  # a Python without the environment that `make` makes
    from environment import explain

    raise explain(missing) from None


@hydra.main(version_base="1.3", config_path="../conf", config_name="import")
def main(cfg: DictConfig) -> None:
    with one_line_errors():
        require_one_of("what", cfg.what, ("runs", "design"))
        if cfg.what == "design":
            from plenum_papers.published import design

            design.bring_in(design.read_config(cfg))
            return
        if cfg.published is not None:
            from plenum_papers.published import importer

            importer.bring_in(importer.read_config(cfg))
            return
        from plenum_archive import import_

        import_.bring_back(import_.read_config(cfg))


if __name__ == "__main__":
    front_door(main, package="plenum_archive")
