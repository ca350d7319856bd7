"""The counts of ``architecture.py`` see what they are there for."""

from pathlib import Path

import architecture
import pytest


@pytest.mark.parametrize(
    "source",
    [
        "isinstance(job.condition, WorldCondition)",
        "isinstance(task, Committee | World)",
        "world_query.holds(study, uri)",
        "episodes.of_world(transcript)",
        "condition.is_world",
        "'task' not in condition",
        "typed.task.name != 'none'",
        "condition.task is None",
        "study.kind == 'world'",
        "x = 1 if condition.task else 2",
        "[c for c in conditions if not c.task and c.n]",
        "if task:\n    pass",
        "if head.get('task'):\n    pass",
        "match condition.kind:\n    case 'world':\n        pass",
    ],
)
def test_a_question_after_the_kind_is_counted(source: str) -> None:
    assert architecture.branches(source) == [1]


@pytest.mark.parametrize(
    "source",
    [
        "KINDS[condition.kind].tables(study)",
        "isinstance(entry, Mapping)",
        "store.holds(study)",
        "prompt.task == 'ballot'",
        "entry['kind'] == 'turn'",
        "import asyncio\nassert task is not None",
        "task = condition.task",
    ],
)
def test_what_asks_for_no_kind_is_not_counted(source: str) -> None:
    assert architecture.branches(source) == []


def test_circles_are_found_under_type_checking_and_not_inside_functions(tmp_path: Path) -> None:
    package = tmp_path / "src/plenum"
    package.mkdir(parents=True)
    (package / "a.py").write_text("from plenum.b import B\n")
    (package / "b.py").write_text("if TYPE_CHECKING:\n    from plenum import a\n")
    (package / "c.py").write_text("from plenum import d\n")
    (package / "d.py").write_text("def f():\n    from plenum import c\n")
    assert architecture.import_circles(tmp_path) == [["plenum.a", "plenum.b"]]


def test_a_world_is_named_by_code_and_not_by_a_docstring() -> None:
    assert "a disaster" not in list(architecture.words('"""Of a disaster."""\n'))
    assert "disaster" in list(architecture.words("METRICS = {'disaster': 1}"))
