"""What is kept of the configs is what Hydra reads, and only where nothing can change it."""

from pathlib import Path

from config_files import READ, read_configs
from hydra import compose, initialize_config_dir
from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra.core.global_hydra import GlobalHydra


def test_what_is_kept_is_what_hydra_reads(root: Path) -> None:
    read_configs()
    with initialize_config_dir(str(root / "conf"), version_base="1.3"):
        loader = GlobalHydra.instance().config_loader()
        assert isinstance(loader, ConfigLoaderImpl)
        for file in (root / "conf").rglob("*.yaml"):
            name = str(file.relative_to(root / "conf").with_suffix(""))
            kept = [loader.repository.load_config(name) for _ in range(2)]
            assert kept[0] == kept[1] == READ(loader.repository, name)
            assert kept[0] is not kept[1]


def test_a_folder_of_a_test_s_own_is_read_each_time(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("rounds: 3")
    with initialize_config_dir(str(tmp_path), version_base="1.3"):
        assert compose("config").rounds == 3
        (tmp_path / "config.yaml").write_text("rounds: 4")
        assert compose("config").rounds == 4
