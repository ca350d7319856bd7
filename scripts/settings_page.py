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
from dataclasses import MISSING, asdict, dataclass, is_dataclass
from functools import cache
from inspect import cleandoc, getdoc
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, ClassVar, Literal, Union, get_args, get_origin, get_type_hints

from omegaconf import OmegaConf
from pydantic.fields import FieldInfo

from plenum.base.project import config_folders
from plenum.committee.ballots import RULES
from plenum.design.kinds import KINDS
from plenum.design.schema import config_type
from plenum.design.settings import Api, Backend, Simulated
from plenum_audit.design import AuditConfig
from plenum_verdicts.design import VerdictConfig
from plenum_verdicts.protocols import SteadyConfig

ROOT = Path(__file__).resolve().parents[1]
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


@dataclass(frozen=True)
class Setting:
    """A key of the config: its type, its default in code, and what its class says about it.

    Attributes
    ----------
    together
        Names that the class explains in one entry.
    words
        What is allowed, where the class says so; of several names one after the other.
    """

    key: str
    hint: Any
    default: Any
    together: tuple[str, ...]
    words: str
    meaning: str


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


def walk(kind: type[Any], above: str = "") -> Iterator[Setting]:
    """Yield the settings of a dataclass, and of those in it, except for the names of groups."""
    hints = get_type_hints(kind, include_extras=True)
    explained = read_attributes(kind)
    for name, field in kind.__dataclass_fields__.items():
        hint, key = getattr(hints[name], "type", hints[name]), f"{above}{name}"
        inner = bare(hint)
        if get_origin(hint) is ClassVar or inner is Backend or (name == "name" and above in NAMED):
            continue
        if is_dataclass(inner):
            yield from walk(inner, f"{key}.")  # type: ignore[arg-type]
            continue
        if name not in explained:
            raise ValueError(f"{kind.__name__}.{name}: its class has no Attributes entry for it")
        made = field.default_factory
        default = field.default if made is MISSING else made()
        yield Setting(key, hint, None if default is MISSING else default, *explained[name])


def read_attributes(kind: type[Any]) -> dict[str, tuple[tuple[str, ...], str, str]]:
    """Read the numpydoc `Attributes` of a class and of those above it.

    Returns
    -------
    dict
        By name: the names of its entry, what is allowed as the entry says it, and the meaning,
        which is its first paragraph.

    Raises
    ------
    ValueError
        An entry is about no field.
    """
    found: dict[str, tuple[tuple[str, ...], str, str]] = {}
    for each in reversed(kind.__mro__):
        text = cleandoc(vars(each).get("__doc__") or "")
        section = text.partition("Attributes\n----------\n")[2]
        section = re.split(r"\n\n\w+\n-+\n", section)[0]
        for entry in filter(None, re.split(r"\n(?=\w)", section)):
            head, _, body = entry.partition("\n")
            names, _, words = head.partition(" : ")
            together = tuple(names.split(", "))
            if left := {*together} - kind.__dataclass_fields__.keys():
                raise ValueError(f"{each.__name__}: its Attributes have {left}, which is no field")
            meaning = as_cell(body.partition("\n\n")[0])
            found |= dict.fromkeys(together, (together, words.replace("``", "`"), meaning))
    return found


def as_cell(text: str) -> str:
    """Return a sentence of a docstring as it stands in a table."""
    line = " ".join(text.split()).replace("``", "`").removesuffix(".").removeprefix("The ")
    return line if line[1:2].isupper() else line[:1].lower() + line[1:]


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


# --- what is allowed ----------------------------------------------------------------------------


def describe_allowed(setting: Setting) -> str:
    """Return what is allowed: as the type says it, or as the class does where any text fits.

    Raises
    ------
    ValueError
        Neither does.
    """
    if setting.key == "protocol.decision":
        return ", ".join(f"`{name}`" for name in RULES)
    *_, name = setting.key.split(".")
    several, inner = len(setting.together) > 1, bare(setting.hint)
    parts = setting.words.split("; ") if several else [setting.words]
    if get_origin(inner) is dict and setting.words.startswith("by "):
        return f"{setting.words}: {describe_type(get_args(inner)[1])}"
    own = dict(zip(setting.together, parts, strict=False)).get(name)
    words = own or describe_type(setting.hint) or parts[-1]
    if not words:
        raise ValueError(f"{setting.key}: neither its type nor its class says what is allowed")
    return words


def describe_type(hint: Any) -> str:
    """Return what a type allows in words; empty where that can be any text."""
    rules, words = read_rules(hint)
    inner = bare(hint)
    if words:
        return words.removeprefix("it is ")
    if get_origin(inner) is Literal:
        return ", ".join(show(value) for value in get_args(inner))
    if get_origin(inner) in (Union, UnionType):
        return ", ".join(describe_type(each) for each in get_args(inner))
    if get_origin(inner) is list and get_origin(get_args(inner)[0]) is Literal:
        return f"{describe_type(get_args(inner)[0])}, or a list"
    if inner is bool:
        return "`true`, `false`"
    if inner not in (int, float):
        return ""
    # Whether a number is whole shows in its bounds.
    least, above, most = (
        None if rules.get(name) is None else f"{inner(rules[name]):,}"
        for name in ("ge", "gt", "le")
    )
    if above:
        return f"above {above}" + (f", to {most}" if most else "")
    return f"{least} to {most}" if most else f"from {least}" if least else ""


def read_rules(hint: Any) -> tuple[dict[str, Any], str]:
    """Return the bounds that a type has, such as `ge`, and its description."""
    rules: dict[str, Any] = {}
    words = ""
    while get_origin(hint) is Annotated or is_optional(hint):
        for part in getattr(hint, "__metadata__", ()):
            if isinstance(part, FieldInfo):
                words = part.description or words
                for rule in filter(is_dataclass, part.metadata):
                    rules |= asdict(rule)  # type: ignore[arg-type]
        hint = next(each for each in get_args(hint) if each is not NoneType)
    return rules, words


def is_optional(hint: Any) -> bool:
    """Return whether a type is another one, or null."""
    return NoneType in get_args(hint) and len(get_args(hint)) == 2


def bare(hint: Any) -> Any:
    """Return a type without null and what is said about it."""
    while get_origin(hint) is Annotated or is_optional(hint):
        hint = next(each for each in get_args(hint) if each is not NoneType)
    return hint


def show(value: Any) -> str:
    """Return a value as the command line has it."""
    if isinstance(value, bool) or value is None:
        return "`null`" if value is None else f"`{value}`".lower()
    if isinstance(value, int | float):
        return f"{value:g}" if value < 1e5 else f"{value:.0f}"
    text = re.sub(r"\$\{(\w+)\}", lambda found: found[1].upper(), str(value))
    return f"`{text}`" if value else "none"


# --- defaults and options, from conf/ -----------------------------------------------------------


@dataclass(frozen=True)
class Option:
    """An option of a group: the values that its file sets, by key, and options of other groups."""

    values: Mapping[str, Any]
    choices: Mapping[str, str]


@cache
def read_groups() -> dict[str, dict[str, Option]]:
    """Read all groups with their options, the default one first."""
    usual = read_choices(load(ROOT / "conf/config.yaml"), "")
    found: dict[str, dict[str, Option]] = {}
    for folder in config_folders():
        for file in sorted(folder.glob("*/*.yaml")):
            found.setdefault(file.parent.name, {})[file.stem] = read_option(file)
        for extra in folder.glob(f"{folder.parent.name}.yaml"):
            usual |= read_choices(load(extra), "")
    cases = sorted((ROOT / "scenarios").glob("*.yaml"))
    found["scenario"] = {case.stem: Option({}, {}) for case in cases}
    return {group: sort_options(found[group], usual.get(group)) for group in sorted(found)}


def sort_options(options: Mapping[str, Option], first: str | None) -> dict[str, Option]:
    """Sort the options of a group by name, the default one first."""
    return {name: options[name] for name in sorted(options, key=lambda name: (name != first, name))}


def read_option(file: Path) -> Option:
    """Read the file of an option: its values by key, and what it chooses in other groups."""
    text, data = file.read_text(encoding="utf-8"), load(file)
    group = file.parent.name
    (package,) = re.findall(r"^# @package (\S+)$", text, re.M) or [group]
    above = "" if package == "_global_" else f"{package}."
    choices = read_choices(data, "override /")
    return Option(flatten({k: v for k, v in data.items() if k != "defaults"}, above), choices)


def load(file: Path) -> dict[str, Any]:
    """Load a config as it is written."""
    loaded: Any = OmegaConf.to_container(OmegaConf.load(file), resolve=False)
    return dict(loaded)


def read_choices(data: Mapping[str, Any], start: str) -> dict[str, str]:
    """Return the options that a list of defaults chooses in entries that begin so, by group."""
    entries = (each for each in data.get("defaults", ()) if isinstance(each, dict))
    pairs = (pair for each in entries for pair in each.items())
    return {key.removeprefix(start): option for key, option in pairs if key.startswith(start)}


def flatten(values: Mapping[str, Any], above: str) -> dict[str, Any]:
    """Return values by their whole key."""
    found: dict[str, Any] = {}
    for key, value in values.items():
        if isinstance(value, dict) and value:
            found |= flatten(value, f"{above}{key}.")
        else:
            found[f"{above}{key}"] = value
    return found


def read_defaults(name: str) -> dict[str, Any]:
    """Return the values that a config and the usual options set, by key."""
    own = flatten(load(find_config(name)), "")
    if name != "config":
        return own
    usual = (next(iter(options.values())) for options in read_groups().values())
    return {key: value for option in usual for key, value in option.values.items()} | own


def find_config(name: str) -> Path:
    """Find the config of a script."""
    return next(filter(Path.is_file, (folder / f"{name}.yaml" for folder in config_folders())))


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


NAMED = {f"{group}." for group in (*read_groups(), "backend")}
"""Beginnings of keys whose `name` is that of an option."""


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
