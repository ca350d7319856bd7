"""Files that others may have put there: what is no file, or unpacks too far, ends in one line."""

import os
import signal
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from omegaconf import OmegaConf

from plenum.base import regular_files, yaml_files
from plenum.base.errors import UserError
from plenum.scenarios.scenario import load_scenario
from plenum_papers.published.catalogue import Release, find_release
from plenum_verdicts.cases import cases
from plenum_verdicts.logs.case_logs import read_log

BOMB = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]\n"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.fixture(autouse=True)
def bounded() -> Iterator[None]:
    """A test that waits for a pipe fails."""

    def waits(*_: object) -> None:
        raise AssertionError("it waits for ever")

    before = signal.signal(signal.SIGALRM, waits)
    signal.alarm(60)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("made", ["pipe", "device", "folder"])
def test_what_is_no_file_is_told_and_not_waited_for(made: str, tmp_path: Path) -> None:
    path = tmp_path / "it"
    if made == "pipe":
        os.mkfifo(path)
    elif made == "device":
        path.symlink_to("/dev/zero")
    else:
        path.mkdir()
    for read in (
        regular_files.read_bytes,
        regular_files.read_text,
        regular_files.require_regular_file,
    ):
        with pytest.raises(OSError, match="it is no file but a "):
            read(path)


def test_a_file_behind_a_link_is_read_with_any_line_ends(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes("é\r\na\rb\n".encode())
    (tmp_path / "it").symlink_to("real")
    assert regular_files.read_text(tmp_path / "it") == "é\na\nb\n"


def pipe(path: Path) -> Path:
    os.mkfifo(path)
    return path


def test_a_pipe_is_refused_at_every_door(tmp_path: Path) -> None:
    for name in ("case.yaml", "case.csv", "case.jsonl", "case.parquet"):
        with pytest.raises(UserError, match=f"{name}.* it is no file but a pipe"):
            cases.load_cases(pipe(tmp_path / name))
    for name in ("log.jsonl", "log.eval", "log.json"):
        with pytest.raises(UserError, match=f"logs=.*{name}.* it is no file but a pipe"):
            read_log(pipe(tmp_path / name))
    with pytest.raises(UserError, match=r"logs=/dev/zero.* it is no file but a pipe"):
        read_log("/dev/zero")
    with pytest.raises(UserError, match="it is no file but a pipe"):
        load_scenario(pipe(tmp_path / "scenario.yaml"))
    given = {"published": str(tmp_path), "catalogue": str(pipe(tmp_path / "catalogue.yaml"))}
    with pytest.raises(UserError, match="it is no file but a pipe"):
        find_release(OmegaConf.create(given))
    with pytest.raises(UserError, match="it is no file but a pipe"):
        Release(tmp_path).read(pipe(tmp_path / "run.jsonl").relative_to(tmp_path))


def test_aliases_stand_for_as_much_as_a_file_may_hold() -> None:
    shared = "options: &o {A: Grant, B: Refuse}\nmore: [*o, *o]\n"
    assert yaml_files.parse_yaml(shared)["more"] == [{"A": "Grant", "B": "Refuse"}] * 2
    with pytest.raises(
        yaml.YAMLError, match="its aliases stand for more than 1,000,000 characters"
    ):
        yaml_files.parse_yaml(BOMB)
    with pytest.raises(yaml.YAMLError, match="an alias stands inside of what it names"):
        yaml_files.parse_yaml("a: &a [*a]\n")


@pytest.mark.slow
def test_a_long_file_without_aliases_is_read() -> None:
    text = "".join(f"- {{id: {n}, text: {'x' * 100}}}\n" for n in range(20_000))
    assert len(yaml_files.parse_yaml(text)) == 20_000


@pytest.mark.parametrize("merged", [False, True])
def test_an_alias_bomb_in_a_case_is_one_line(merged: bool, tmp_path: Path) -> None:
    (tmp_path / "case.yaml").write_text(
        "text: Grant it?\noptions: [Grant, Refuse]\nextras:\n"
        + "".join(f"  {line}\n" for line in BOMB.splitlines())
        + "  m: {<<: [*b, *b]}\n" * merged
    )
    with pytest.raises(UserError, match=r"case .*case.yaml can't be read as YAML: its aliases"):
        cases.load_cases(tmp_path / "case.yaml")


@pytest.mark.slow
def test_a_log_that_unpacks_too_far_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "log.eval", "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("header.json", '{"eval": {"task": "t"}}')
        for epoch in range(10):
            packed.writestr(f"samples/a_epoch_{epoch}.json", b" " * 20_000_000)
    with pytest.raises(UserError, match=r"it would unpack to 200,000,\d+ bytes, over 100 times"):
        read_log(tmp_path / "log.eval")
