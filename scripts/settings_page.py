"""Write docs/appendix/settings.md: every setting and experiment, from the schema and conf/.

    python scripts/settings_page.py           # writes the page
    python scripts/settings_page.py --check   # exit status 1 if the page is another one

Of a setting, the type says what is allowed, conf/ the default and which options set another one,
and the `Attributes` of its class the meaning (`name : what is allowed`, where the type allows any
text). Of an experiment, the first line of its file says what it compares.
"""

import argparse
import math
import re
import sys
from collections.abc import Iterator, Mapping
from inspect import getdoc
from typing import Any, get_type_hints

from settings_options import ROOT, load, read_defaults, read_groups
from settings_types import Setting, as_cell, bare, describe_allowed, show, walk

from plenum.base.project import config_folders
from plenum.design.kinds import KINDS
from plenum.design.schema import config_type
from plenum.design.settings import Api, Simulated
from plenum_audit.design import AuditConfig
from plenum_verdicts.design import VerdictConfig
from plenum_verdicts.protocols import SteadyConfig

PAGE = ROOT / "docs/appendix/settings.md"

SECTIONS = {
    "Study": "study rounds replicates seed rerun dry_run retry_failed journals tracking",
    "Committees": "roles.agents protocol sampling branch prompts",
    "Worlds": "task",
    "Calls": "calls batch budget prices workers ray",
}
"""Keys of the config by section of the page, and the section of backends; all others are set by the
options of their group, in whose row they stand."""

LINKS = {
    "backend": "providers.md",
    "backend.answer_form": "providers.md#constrained-answers",
    "backend.api_base": "scaling.md#a-fleet-of-model-servers",
    "backend.extra": "providers.md#what-a-server-may-need",
    "backend.gain": "simulated-backend.md",
    "baseline": "audit-logs.md#two-programs",
    "batch.wait_s": "scaling.md#batches",
    "branch.after_round": "decisions.md#branches-of-one-state",
    "branching": "decisions.md#branches-of-one-state",
    "budget.dollars": "providers.md#budget",
    "by": "audit-logs.md#the-file",
    "calls.batch": "scaling.md#batches",
    "calls.max_response_mb": "providers.md#what-a-provider-may-send",
    "calls.max_wait_s": "providers.md#limits",
    "calls.patience": "providers.md#timeouts-and-retries",
    "calls.start_concurrency": "providers.md#limits",
    "calls.transport": "providers.md#models-and-endpoints",
    "case": "audit.md#cases",
    "committee.env": "audit-programs.md#what-a-program-gets-and-what-it-cant-see",
    "committee.target": "audit.md#your-own",
    "committee_sizes": "roles-and-models.md#other-numbers-of-seats",
    "consensus": "worlds.md#consensus-mechanisms",
    "decide": "audit-logs.md#may-it-act-alone",
    "diversity": "worlds.md#the-agents",
    "format": "audit-logs.md#formats",
    "gate": "audit-logs.md#may-you-trust-your-gate",
    "hosted_benchmark": "hosted-studies.md",
    "logs": "audit-logs.md",
    "model": "roles-and-models.md",
    "perturbation": "perturbations.md",
    "plan": "steady.md#beforehand",
    "policies_disaster": "worlds.md#reference-policies",
    "prompts": "published-design.md",
    "prompts.answers": "published-design.md#what-is-word-for-word-and-what-isnt",
    "prompts.folder": "published-design.md#a-set-of-prompts-of-your-own",
    "protocol": "protocol.md#parts-of-the-protocol",
    "protocol.answers": "protocol.md#constrained-answers",
    "protocol.decision": "rules.md#live-committees",
    "protocol.exchange": "protocol.md#parts-of-the-protocol",
    "protocol.facts": "scenarios.md#cases-with-right-answers",
    "protocol.majority": "scenarios.md#cases-with-right-answers",
    "protocol.reading": "protocol.md#the-state-line",
    "real": "real-model.md",
    "rerun": "hosted-studies.md",
    "retry_failed": "journals.md#retry_failed",
    "roles": "roles-and-models.md",
    "roles.agents": "roles-and-models.md#other-numbers-of-seats",
    "scenario": "scenarios.md",
    "score": "audit-logs.md#which-score-counts",
    "steady": "steady.md",
    "study": "tracking.md#managing-studies",
    "suite": "audit-logs.md#few-runs-of-many-cases",
    "task": "worlds.md",
    "task.agents": "worlds.md#the-agents",
    "task.information.hears": "worlds.md#who-sees-and-hears-what",
    "task.information.sight": "worlds.md#who-sees-and-hears-what",
    "task.pinned": "worlds.md#the-agents",
    "task.policy": "worlds.md#reference-policies",
    "task.rules.name": "appendix/worlds.md#the-rules-of-the-released-code",
    "task.world": "worlds.md#settings",
    "tested_by": "audit-ci.md#the-page",
    "tracking": "tracking.md",
    "tracking.replicates": "scaling.md#tracking",
    "tracking.traces": "tracking.md#traces",
    "vary": "audit.md#does-it-matter-how-a-case-is-put",
    "workers.number": "scaling.md#workers",
    "world": "worlds.md",
    "world_controls": "worlds.md#consensus-mechanisms",
    "world_information": "worlds.md#who-sees-and-hears-what",
    "world_models": "appendix/worlds.md#base-models",
    "world_paper_gap": "worlds.md#what-is-mechanical",
    "world_released": "appendix/worlds.md#the-rules-of-the-released-code",
    "world_saboteur": "worlds.md#the-agents",
}
"""Pages that say more, by the key, group or experiment that leads to them."""

TEXT = """\
<!-- generated by python scripts/settings_page.py -->
# Appendix: every setting and experiment

What [configuration](../configuration.md) can choose and set, and the studies that are there.

## Groups

{groups}

`+experiment=NAME` is one of the [studies](#experiments).

## Values

In brackets: the default with such an option. Ranges such as 0.0 to 1.0 take fractions, others
whole numbers.

{values}

`backend=hosted` has [settings of its own](../hosted-backend.md#settings).

## Audits

`scripts/verdict.py` takes `study`, `dry_run`, `tracking` and

{verdicts}

`scripts/audit.py` also takes `journals`, `backend` (by default `api`), `calls`, `budget`,
`prices` and

{audits}

`scripts/verdict.py` compares [protocols](../steady.md) by

{steady}

## Experiments

000, 001 and 002 are [papers](../papers.md#the-papers). Roles are on and off; `world...` needs
`task=`.

{experiments}
"""


def main() -> int:
    """Write the page, or compare it; return the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="write nothing, compare")
    given, text = parser.parse_args(), make_page()
    if not given.check:
        PAGE.write_text(text, encoding="utf-8")
    elif PAGE.read_text(encoding="utf-8") != text:
        print(f"{PAGE.name} is another page: run python scripts/settings_page.py, which writes it")
        return 1
    return 0


def make_page() -> str:
    """Return the page.

    Raises
    ------
    ValueError
        A setting lacks words, or a link names nothing that is on the page.
    """
    groups = sorted(group for group in read_groups() if group != "experiment")
    known = {each.key for each in list_settings()} | {*groups, *read_groups()["experiment"]}
    unknown = LINKS.keys() - known
    if unknown:
        raise ValueError(
            f"LINKS: {', '.join(sorted(unknown))}: no such setting, group or experiment"
        )
    verdict = read_defaults("verdict")
    steady = (each for each in walk(SteadyConfig) if not verdict.get(each.key, True))
    audits = (each for each in walk(AuditConfig) if top(each.key) in AuditConfig.__annotations__)
    return TEXT.format(
        groups=make_table("group|options, the default first|chooses", map(describe_group, groups)),
        values="\n\n".join(make_sections()),
        verdicts=tabulate(walk(VerdictConfig), verdict),
        steady=tabulate(steady, {}),
        audits=tabulate(audits, read_defaults("audit")),
        experiments=make_table("experiment (conditions)|compares", list_experiments()),
    )


def make_sections() -> Iterator[str]:
    """Yield the sections of values, each with its heading."""
    values, usual = list(walk(config_type(KINDS["world"]))), read_defaults("config")
    for heading, keys in SECTIONS.items():
        parts = [each for key in keys.split() for each in values if lies_below(each.key, key)]
        yield f"### {heading}\n\n{tabulate(parts, usual)}"
    for kind in (Simulated, Api):
        backend: Any = kind
        yield f"### `backend={backend.name}`\n\n{tabulate(walk(backend, 'backend.'), usual)}"


def lies_below(key: str, above: str) -> bool:
    """Return whether a key is another one, or below it."""
    return f"{key}.".startswith(f"{above}.")


def list_settings() -> list[Setting]:
    """List all settings of the page."""
    kinds = (config_type(KINDS["world"]), AuditConfig, SteadyConfig)
    backends = (each for kind in (Simulated, Api) for each in walk(kind, "backend."))
    return [*(each for kind in kinds for each in walk(kind)), *backends]


def top(key: str) -> str:
    """Return the first part of a key."""
    return key.partition(".")[0]


def tabulate(settings: Any, usual: Mapping[str, Any]) -> str:
    """Return the table of some settings; what one entry explains is one row."""
    rows: dict[tuple[str, str], list[Setting]] = {}
    for each in settings:
        above = each.key.rpartition(".")[0]
        rows.setdefault((above, each.together[0]), []).append(each)
    return make_table(
        "key|default|allowed|meaning", (make_row(row, usual) for row in rows.values())
    )


def make_row(row: list[Setting], usual: Mapping[str, Any]) -> list[str]:
    """Return the cells of settings that are explained together."""
    first = row[0]
    defaults = [format_default(each, usual) for each in row]
    allowed = [describe_allowed(each) for each in row]
    return [
        link(", ".join(f"`{each.key}`" for each in row), first.key),
        ", ".join(defaults if len({*defaults}) > 1 else defaults[:1]),
        "; ".join(dict.fromkeys(allowed)),
        first.meaning,
    ]


def make_table(heads: str, rows: Any) -> str:
    """Return a table in Markdown."""
    columns = heads.split("|")
    lines = [columns, ["---"] * len(columns)]
    texts = [f"| {' | '.join(line)} |" for line in [*lines, *rows]]
    return "\n".join([texts[0], texts[1].replace(" ", ""), *texts[2:]])


def link(text: str, key: str) -> str:
    """Return the name of a row, which leads to the page that says more, where there is one."""
    if key not in LINKS:
        return text
    page = LINKS[key]
    inside = page.startswith("appendix/")
    return f"[{text}]({page.removeprefix('appendix/') if inside else f'../{page}'})"


def format_default(setting: Setting, usual: Mapping[str, Any]) -> str:
    """Return the default of a setting, with those that options of other groups set."""
    value = usual.get(setting.key)
    value = setting.default if value is None else value
    others: dict[str, list[str]] = {}
    for group, options in read_groups().items():
        given = {name: each.values.get(setting.key) for name, each in options.items()}
        if group not in (top(setting.key), "experiment") and None in given.values():
            changed = {name: new for name, new in given.items() if new not in (None, value)}
            add_options(
                others,
                group,
                {n: "the option's name" if n == v else show(v) for n, v in changed.items()},
            )
    return show(value) + in_brackets(others)


def add_options(others: dict[str, list[str]], group: str, changed: Mapping[str, str]) -> None:
    """Add the options of a group that change a default to those of other groups, by new value."""
    if len({*changed.values()}) == 1 and 1 < len(changed) == len(read_groups()[group]) - 1:
        others.setdefault(next(iter(changed.values())), []).append(f"a `{group}`")
        return
    for name, value in changed.items():
        others.setdefault(value, []).append(f"`{group}={name}`")


def in_brackets(others: Mapping[str, list[str]]) -> str:
    """Return the defaults that options change, by their value."""
    given = [f"{value} with {' or '.join(names)}" for value, names in others.items()]
    return f" ({', '.join(given)})" if given else ""


def describe_group(group: str) -> list[str]:
    """Return the cells of a group: its options, and what they choose."""
    first, *more = read_groups()[group]
    others: dict[str, list[str]] = {}
    for where, options in read_groups().items():
        chosen = {name: each.choices.get(group) for name, each in options.items()}
        if where != "experiment":
            add_options(others, where, {n: show(new) for n, new in chosen.items() if new})
    return [
        link(f"`{group}`", group),
        ", ".join([show(first) + in_brackets(others), *map(show, more)]),
        explain_group(group),
    ]


def explain_group(group: str) -> str:
    """Return what a group chooses: as its class says, or the one key that its options set."""
    hint = get_type_hints(config_type(KINDS["world"])).get(group)
    if hint is None:
        (key,) = {key for option in read_groups()[group].values() for key in option.values}
        taken = {
            name: re.fullmatch(r"\$\{oc\.select:(\S+),(\S+)\}", str(option.values[key]))
            for name, option in read_groups()[group].items()
        }
        others = (f"; `{name}`: `{m[1]}`, else {m[2]}" for name, m in taken.items() if m)
        return "".join([f"`{key}`", *others])
    chosen = as_cell((getdoc(bare(hint)) or "").partition("\n\n")[0])
    listed = " ".join([*SECTIONS.values(), "backend"]).split()
    keys = [each.key for each in list_settings() if top(each.key) == group]
    own = [show(key) for key in keys if not any(lies_below(key, above) for above in listed)]
    return f"{chosen} ({', '.join(own)})" if own else chosen


def list_experiments() -> Iterator[list[str]]:
    """Yield the cells of experiments: how many conditions each has, and their first line."""
    rows: dict[str, list[str]] = {}
    for folder in config_folders():
        for file in sorted(folder.glob("experiment/*.yaml")):
            first = file.read_text(encoding="utf-8").splitlines()[1]
            swept = load(file)["hydra"]["sweeper"]["params"].values()
            number = math.prod(len(str(values).split(",")) for values in swept)
            named = f"{link(show(file.stem), file.stem)} ({number})"
            rows.setdefault(first.removeprefix("# "), []).append(named)
    for text, names in rows.items():
        yield [", ".join(names), as_cell(text)]


if __name__ == "__main__":
    sys.exit(main())
