"""A catalogue of released files that somebody else wrote: what it says wrongly is named."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from released import CATALOGUE

from plenum.base.errors import UserError
from plenum_papers.published import rules
from plenum_papers.published.catalogue import REFERENCE, Release

RULE = {"in": "deployed"}


def written(folder: Path, said: Any) -> Path:
    path = folder / "catalogue.yaml"
    path.write_text(yaml.safe_dump(said))
    return path


@pytest.mark.parametrize(
    ("entries", "problem"),
    [
        ({"replicates": "x"}, "replicates: Input should be a valid integer"),
        ({"replicates": 0}, "replicates: Input should be greater than or equal to 1"),
        ({"folders": ["a"]}, "folders: Input should be a valid dictionary"),
        ({"folders": {"deployed": "a"}}, "folders.deployed: Input should be a valid list"),
        ({"studies": 7}, "studies: Input should be a valid dictionary"),
        ({"studies": {"s": [7]}}, "studies.s.0: Input should be a valid dictionary"),
        ({"studies": {"s": [{}]}}, "studies.s.0.in: Field required"),
        ({"studies": {"s": [{**RULE, "colour": "red"}]}}, "studies.s.0.colour: Extra inputs"),
        ({"studies": {"s": [{**RULE, "roles": True}]}}, "studies.s.0.roles.str: "),
        ({"studies": {"s": [{"in": "elsewhere"}]}}, "studies.s: no folders elsewhere"),
        ({"files": 7}, "files: Input should be a valid string"),
        ({"options": {"HL-01": "one"}}, "options.HL-01: String should match"),
        ({"tables": ["../x"]}, "tables.0: Value error, there is no such table"),
        ({"design": {"variants": "x"}}, "design.variants: Input should be a valid list"),
        ({"explained": [1]}, "explained: Input should be a valid dictionary"),
    ],
)
def test_an_entry_of_another_type_is_named(
    tmp_path: Path, entries: dict[str, Any], problem: str
) -> None:
    with pytest.raises(UserError, match=r"^catalogue: .*catalogue.yaml: ") as raised:
        rules.read(written(tmp_path, {**CATALOGUE, **entries}))
    assert problem in str(raised.value)


def test_what_is_no_mapping_or_lacks_entries_is_named(tmp_path: Path) -> None:
    for said in (7, [1], None):
        with pytest.raises(UserError, match="file: Input should be a valid dictionary"):
            rules.read(written(tmp_path, said))
    with pytest.raises(UserError, match="says nothing of branching, commit, folders, replicates"):
        rules.read(written(tmp_path, {"repository": "a/b", "studies": {}}))


@pytest.mark.parametrize("text", ["a,b\n1,2\n", "", "path,blob\n\udcff,1\n"])
def test_digests_of_another_format_are_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "digests.csv").write_bytes(text.encode(errors="surrogateescape"))
    catalogue = written(tmp_path, {**CATALOGUE, "files": "digests.csv"})
    with pytest.raises(UserError, match=r"^catalogue: files: .*digests.csv can't be read: "):
        Release(tmp_path, catalogue).absent()


def test_the_papers_catalogue_is_read_as_it_stands() -> None:
    assert rules.read(REFERENCE) == yaml.safe_load(REFERENCE.read_text())
