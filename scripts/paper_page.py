"""The generated page `docs/papers-results.md`, and the output of `scripts/papers.py`."""

from collections.abc import Iterable

from plenum.show.phrases import join_items, make_environment
from plenum_papers.items import items
from plenum_papers.items.items import Experiment, PaperItem


def page() -> str:
    """Return a page with every item in a table, and the commands of every study."""
    studies = {
        study: [i for i in items.items() if study in i.studies] for study in items.experiments()
    }
    template = make_environment().get_template("plenum_papers.items/page.j2")
    return template.render(
        items=items.items(), studies=studies, needs=_needs, shown_by=_group_by_command
    )


def format_items() -> str:
    """List the items, one line each: its id, its title, and the studies that produce it."""
    rows = [
        (item.id, item.title, ", ".join(s.name for s in item.studies)) for item in items.items()
    ]
    wide = [max(len(row[column]) for row in rows) for column in (0, 1)]
    return "\n".join(
        f"{name:<{wide[0]}}  {title:<{wide[1]}}  {studies}".rstrip()
        for name, title, studies in rows
    )


def commands(item: PaperItem) -> str:
    """Return the commands that make one item, from the runs to its figure or table."""
    lines = [f"# {item.paper}, {item.label}: {item.title}"]
    lines += [study.command() for study in item.studies]
    whole = "  # all of the study" if item.studies else ""
    lines += [item.made_by, *(command + whole for command in item.shown_by)]
    for study in (study for study in item.studies if study.needs):
        needs = _needs(study).replace("`", "")
        lines.append(f"# on the papers' models: {study.command(study.real)} ({needs})")
    return "\n".join(lines)


def _group_by_command(served: Iterable[PaperItem]) -> dict[str, list[PaperItem]]:
    """Return the commands that show some items, without duplicates, with their items."""
    by_command: dict[str, list[PaperItem]] = {}
    for item in served:
        for command in item.shown_by:
            by_command.setdefault(command, []).append(item)
    return by_command


def _needs(study: Experiment) -> str:
    return join_items(items.NEEDS[name] for name in study.needs)
