"""The generated part of `docs/papers.md`, and what `scripts/papers.py` prints."""

from collections.abc import Sequence

from plenum.reports.papers import NEEDS, Experiment, Item, experiments, items

BEGIN, END = "<!-- python scripts/papers.py markdown=true -->", "<!-- end -->"
"""What the generated part of the page stands between."""


def page() -> str:
    """Every item in a table, and the commands of every study."""
    parts = ["## Every result", "", *_table(), "", "## Every study", ""]
    for one in experiments():
        parts += [*_study(one), ""]
    parts += ["### No study", "", "```", *_shown([i for i in items() if not i.studies]), "```"]
    return "\n".join(parts)


def listing() -> str:
    """One line an item: what it is called, what it shows, and the studies that give it."""
    rows = [(one.id, one.title, ", ".join(e.name for e in one.studies)) for one in items()]
    wide = [max(len(row[column]) for row in rows) for column in (0, 1)]
    return "\n".join(
        f"{name:<{wide[0]}}  {title:<{wide[1]}}  {studies}".rstrip()
        for name, title, studies in rows
    )


def commands(item: Item) -> str:
    """How one item is made, from the runs to what shows it."""
    lines = [f"# {item.paper}, {item.label}: {item.title}"]
    lines += [one.command() for one in item.studies]
    lines += [item.made_by, *(f"{command}  # all of the study" for command in item.shown_by)]
    for one in item.studies:
        needs = _needs(one).replace("`", "")
        lines.append(f"# on the papers' models: {one.command(one.real)} ({needs})")
    return "\n".join(lines)


def _table() -> list[str]:
    head = ("| result | shows | study | figure | table | published |", "|---|---|---|---|---|---|")
    return [*head, *(_row(one) for one in items())]


def _row(one: Item) -> str:
    studies = ", ".join(f"[{e.name}](#{e.name})" for e in one.studies) or "none"
    published = ", ".join(f"[{n}](../reference/{n}.csv)" for n in one.published) or "no numbers"
    cells = (
        *(f"{one.paper}, {one.label}", one.title, studies),
        *(f"`{name}`" if name else "-" for name in (one.figure, one.table)),
        published,
    )
    return f"| {' | '.join(cells)} |"


def _study(one: Experiment) -> list[str]:
    own = [item for item in items() if one in item.studies]
    serves = ", ".join(f"{item.paper} {item.label}" for item in own)
    runs = [
        (one.command(), "simulated" if one.backend == "simulated" else "the tiny model"),
        (one.command(one.reduced), "small"),
        (one.command(one.real), "the papers' models"),
    ]
    wide = max(len(command) for command, _ in runs)
    return [
        f"### {one.name}",
        "",
        f"For {serves}. The papers' models need {_needs(one)}.",
        "",
        "```",
        *(f"{command:<{wide}}  # {told}" for command, told in runs),
        *_shown([item for item in own if item.studies[0] == one]),
        "```",
    ]


def _shown(own: Sequence[Item]) -> list[str]:
    """The commands that show some items, each once."""
    found: dict[str, list[Item]] = {}
    for item in own:
        for command in item.shown_by:
            found.setdefault(command, []).append(item)
    return [
        f"{command}  # {', '.join(f'{item.paper} {item.label}' for item in shown)}"
        for command, shown in found.items()
    ]


def _needs(one: Experiment) -> str:
    *first, last = (NEEDS[name] for name in one.needs)
    return f"{', '.join(first)} and {last}" if first else last
