"""What is said after a sweep, computed again from the CSV files: no sentence contradicts them.

The reader knows the sentences by their form, and nothing of the code that wrote them. What it can't
read counts as a contradiction. Families of tests are those that the conditions' factors span. Six
studies, with fewer rounds than the papers have; ``said.txt`` has their texts, to be read.
"""

import itertools
import math
import re
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from command_line import call
from scipy import stats

from plenum.tracking.study import Study
from plenum_worlds.tracking import average_episodes

STUDIES = {
    "default": "roles=on,off model=uniform,mixed",
    "landscape4": "+experiment=landscape replicates=4 rounds=6",
    "landscape20": "+experiment=landscape replicates=20 rounds=8",
    "ablation": "+experiment=role_ablation replicates=12 rounds=8",
    "memory": "scenario=HL-01 memory=k15,k3,k1 temperature=t0.7,t0 replicates=10 rounds=10",
    "wordings": "+experiment=semantic replicates=20 rounds=8",
    "worlds": "+experiment=world task=disaster diversity=low,high volatility=low",
}
GOLDEN = Path(__file__).with_name("said.txt")
FACTORS = ["scenario", "roles", "model", "memory", "temperature", "perturbation", "settings"]
WORDS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
N = rf"(?:no|{'|'.join(WORDS)}|\d+)"
OF = rf"(both|all {N}|(?:none|{N}) of {N})"
P = r"(?:p |)?[=<]? ?([\d.]+)"


def count(words: str) -> int:
    """Read a count, or a part of a total: "both", "all four", "one of four"."""
    word = words.lower().removeprefix("all ").split(" ")[0]
    known = {"both": 2, "none": 0}
    return known[word] if word in known else WORDS.index(word) if word in WORDS else int(word)


def adjust(p: Sequence[float], tests: int) -> list[float]:
    """Holm's adjustment over ``tests`` tests; those without a result have found nothing."""
    found, most = [math.nan] * len(p), 0.0
    for rank, (value, at) in enumerate(sorted((x, i) for i, x in enumerate(p) if x == x)):
        most = max(most, min(1.0, value * (tests - rank)))
        found[at] = most
    return found


def same(printed: str, value: float) -> bool:
    """Return whether a value was rounded to what is printed; p below 0.0001 is a bound."""
    digits = len(printed.partition(".")[2])
    return (
        value < 1e-4 if printed == "0.0001" else abs(float(printed) - value) <= 0.51 * 10.0**-digits
    )


class Tables:
    """The CSV files of a study, with every test adjusted over its family here."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def read(self, name: str) -> pd.DataFrame:
        path = self.folder / f"{name}.csv"
        return (
            pd.read_csv(path, keep_default_na=False, na_values=[""])
            if path.exists()
            else pd.DataFrame()
        )

    @cached_property
    def rows(self) -> pd.DataFrame:
        """The conditions, with the counts of their decisions, and growth adjusted over all."""
        rows = self.read("conditions")
        tallies = [
            {k: int(n) for k, _, n in (part.rpartition(" ") for part in text.split(", "))}
            for text in rows["decisions"]
        ]
        holm = adjust(list(rows["p_reversal"]), len(rows))
        few = rows["warnings"].fillna("").str.contains("few_replicates|few_rounds")
        sure = (rows["ci_low"] > 0) | (rows["ci_high"] < 0) | rows["ci_low"].isna()
        shown = (np.array(holm) < 0.05) & sure & ~few
        return rows.assign(tally=tallies, holm=holm, few=few, shown=shown)

    def tests(self, family: str, means: int) -> int:
        """Count the tests of a family in the design."""
        if family == "mean":
            return means
        inner = ["roles", "model"] if family == "interaction" else [family]
        parts = self.rows.groupby([name for name in FACTORS if name not in inner], dropna=False)
        if family != "interaction":  # each level with a reference
            return int((parts[family].nunique() - 1).sum())
        square = set(itertools.product(("on", "off"), ("uniform", "mixed")))
        return sum(square <= set(zip(g["roles"], g["model"], strict=True)) for _, g in parts)

    def families(self, *names: str, p: str = "p") -> dict[str, pd.DataFrame]:
        """Return differences by family, with ``holm``, ``few`` and ``shown``."""
        every = pd.concat([self.read(name) for name in names])
        every = every[~every["effect"].str.startswith("mixed model")]
        crossed, over = every["effect"] == "roles x mixed", every.get("scenarios", 1) > 1
        first = every["effect"].str.split(" ").str[0].to_numpy(dtype=object)
        kind = np.where(over, "mean", np.where(crossed, "interaction", first))
        every, kind = (every, kind) if p == "p" else (every[~crossed], kind[~crossed])
        found = {}
        for name, part in every.groupby(kind, sort=False):
            holm = adjust(list(part[p]), self.tests(str(name), len(part)))
            np.testing.assert_allclose(holm, part[f"{p}_holm"], 1e-9, err_msg=f"{names} {name}")
            few = part["warnings"].fillna("").str.contains("few_replicates|few_rounds")
            sure = (part["ci_low"] > 0) | (part["ci_high"] < 0) if p == "p" else True
            shown = (np.array(holm) < 0.05) & sure & (names[0] == "decision_contrasts" or ~few)
            found[str(name)] = part.assign(holm=holm, few=few, shown=shown)
        return found

    @cached_property
    def disagree(self) -> dict[str, pd.DataFrame]:
        return self.families("decision_contrasts")

    @cached_property
    def decide(self) -> dict[str, pd.DataFrame]:
        return self.families("decision_contrasts", p="p_law")

    @cached_property
    def grow(self) -> dict[str, pd.DataFrame]:
        return self.families("contrasts", "interactions", "pooled")


def single(families: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Join the families within scenarios."""
    return pd.concat([part for name, part in families.items() if name != "mean"])


def least(*parts: pd.DataFrame, claimable: bool = False) -> float:
    """Return the smallest adjusted p, of those of which something may be claimed."""
    return min(float(part["holm"][~part["few"] | (not claimable)].min()) for part in parts)


def first(found: pd.DataFrame, text: str, scale: float = 1) -> bool:
    """Return whether a text names the clearest difference, its interval and its adjusted p."""
    line = found.sort_values("holm", kind="stable").iloc[0]
    treated = line["effect"].replace(" - ", " against ")
    numbers = re.search(
        rf"([-+\d.]+)(?: points)? \[([-+\d.]+), ([-+\d.]+)\], (?:adjusted )?{P}", text
    )
    shown = [scale * line[name] for name in ("estimate", "ci_low", "ci_high")]
    held = all(
        str(line[n]) in text
        for n in ("roles", "model", "scenario")
        if f"{n} " in text.partition("(")[2].partition(", at ")[2]
    )
    return bool(
        treated in text
        and held
        and numbers
        and all(map(same, numbers.groups()[:3], shown))
        and same(numbers[4], line["holm"])
    )


def mode(tally: dict[str, int]) -> str:
    """Say what most runs of a condition decided, as a sentence does."""
    most = [d for d, n in tally.items() if n == max(tally.values())]
    named = ["no majority" if d == "none" else d for d in most]
    if len(most) > 1:
        return f"split evenly between {' and '.join(named)}"
    return "reached no majority" if most == ["none"] else f"chose {most[0]}"


def flips(tally: dict[str, int]) -> int:
    return sum(tally.values()) - max(tally.values())


class Reader:
    """Reads a sentence by the first form that fits it, and checks it against the tables."""

    def __init__(self, tables: Tables) -> None:
        self.t = tables

    def chosen(self, text: str, *_: str) -> bool:
        """What most runs of each committee decided, case by case."""
        for part in text.removesuffix(".").split("; "):
            case = re.match(r"[Ii]n (\S+) ", part)
            rows = self.t.rows if case is None else self.t.rows[self.t.rows["scenario"] == case[1]]
            said = re.findall(
                rf"({OF}|{N}) (?:committees )?"
                r"(chose [A-Z]|reached no majority|split evenly between \w+ and \w+)",
                part[0].lower() + part[1:],
            )
            modes = [mode(tally) for tally in rows["tally"]]
            if not said or sorted((count(n), m) for n, _, m in said) != sorted(
                (modes.count(m), m) for m in set(modes)
            ):
                return False
        return True

    def changed(self, text: str, moved: str, _: str, rest: str) -> bool:
        """How many committees changed, what exactly they did, and what those might that didn't."""
        tallies = list(self.t.rows["tally"])
        still = [t for t in tallies if not flips(t)]
        right = count(moved.replace("neither", "none")) == len(tallies) - len(still)
        right &= " of " not in moved or count(moved.split(" of ")[1]) == len(tallies)
        right &= (" would" in rest) == ("would, with 95 % confidence" in rest)
        if limit := re.search(
            r"at most (\d+) % of (?:runs|wordings) would, with 95 % confidence", rest
        ):
            right &= {round(100 * (1 - 0.025 ** (1 / sum(t.values())))) for t in still} == {
                int(limit[1])
            }
        for clause in re.split(r"; |: ", rest):
            told = re.findall(r"(?:chose ([A-Z])|reached (no majority)) in (\d+)", clause)
            if told:
                exact = {(label or "none"): int(n) for label, _, n in told}
                n = int(re.search(r"of (\d+) (?:runs|wordings)", clause)[1])  # type: ignore[index]
                others = [
                    {k: v for k, v in t.items() if v < max(t.values())}
                    for t in tallies
                    if sum(t.values()) == n
                ]
                right &= exact in others
        return right

    def ended(self, text: str, n: str, undecided: str | None) -> bool:
        """Of the runs that left their committee's choice, how many decided for nothing."""
        apart = [t for t in self.t.rows["tally"] if not mode(t).startswith("split")]
        nothing = sum(t.get("none", 0) for t in apart if mode(t) != "reached no majority")
        return (int(n), int(undecided or 0)) == (sum(map(flips, apart)), nothing)

    def averaged(self, text: str) -> bool:
        """Means over scenarios, told apart from single scenarios."""
        disagree, decide = self.t.disagree, self.t.decide
        mean, laws = disagree["mean"], decide["mean"]
        found, law = mean[mean["shown"]], laws[laws["shown"]]
        n = min(int(x) for cell in single(disagree)["n"] for x in str(cell).split())
        right = text.startswith(f"On average over {mean['scenarios'].max()} scenarios")
        right &= (f"from {WORDS[n] if n < 10 else n} replicates" in text) == (
            n < 10 and len(found) + len(law) > 0
        )
        if told := re.search(
            rf"how often runs disagree differs (?:in {OF} contrasts )?(\([^)]*\))", text
        ):
            right &= count(told[1] or "one") == len(found) and first(found, told[2], 100)
        else:
            right &= found.empty
        if told := re.search(
            rf"what they decide differs somewhere in {OF} \(adjusted p (?:at most )?<? ?([\d.]+)",
            text,
        ):
            right &= count(told[1]) == len(law) and same(told[2], law["holm"].max())
        else:
            right &= law.empty
        some = [part[part["shown"]] for part in (single(disagree), single(decide))]
        if told := re.search(
            rf"single scenarios show the one in ({N}) of ({N}) contrasts, "
            rf"the other in ({N}) of ({N})\.",
            text,
        ):
            right &= [count(x) for x in told.groups()] == [
                len(some[0]),
                len(single(disagree)),
                len(some[1]),
                len(single(decide)),
            ]
        else:
            told = re.search(
                r"no single scenario shows either \(smallest p after correction ([\d.]+)\)", text
            )
            right &= (
                bool(told)
                and not len(pd.concat(some))
                and same(told[1], least(single(disagree), single(decide)))
            )  # type: ignore[index]
        return right

    def differs(self, text: str, what: str, factor: str, number: str | None, rest: str) -> bool:
        """Differences of decisions with a factor."""
        family = (self.t.disagree if what == "How often runs disagree" else self.t.decide)[factor]
        found = family[family["shown"]]
        n = min(int(x) for cell in family["n"] for x in str(cell).split())
        return count(number or "one") == len(found) and (
            n >= 10 or "replicates a condition" in text
        )

    def unshown(self, text: str, of: str, nouns: str, p: str) -> bool:
        """Factors without a difference that is shown, and the smallest p of their families."""
        grow = of == "of growth "
        named = {"interaction" if "interaction" in n else n for n in re.split(", | or ", nouns)}
        if "fragility" in named:  # told together with growth, where that has a test
            changes = self.t.read("fragility_contrasts")
            others = [self.t.grow[name] for name in named - {"fragility"}]
            found = adjust(list(changes["p"]), len(changes))
            found += [least(*others, claimable=True)] if others else []
            return not any(t["shown"].any() for t in others) and same(p, min(found))
        both = [self.t.grow] if grow else [self.t.disagree, self.t.decide]
        parts = {name: [f[name] for f in both if name in f] for name in both[0] if name != "mean"}
        empty = {
            name for name, tables in parts.items()
            if not any(t["shown"].any() for t in tables)
            and not (grow and tables[0]["p"].isna().all())
        }  # fmt: skip
        return named == empty and same(
            p, least(*(t for n in named for t in parts[n]), claimable=grow)
        )

    def growth(self, text: str, number: str, raw: str | None, p: str, tests: str) -> bool:
        """Growth within conditions, of which none was shown."""
        known = self.t.rows[~self.t.rows["few"]]
        least = known["p_reversal"].min(), known["holm"].min()
        right = not known["shown"].any() and count(tests) == len(self.t.rows)
        return right and same(p, least[1]) and (raw is None or same(raw, least[0]))

    def grew(
        self, text: str, number: str, raw: str | None, p: str, tests: str, w: str | None
    ) -> bool:
        """Growth within conditions where it was shown."""
        shown = self.t.rows[self.t.rows["shown"]]
        largest = shown["p_reversal"].max(), shown["holm"].max()
        counts = (count(number), count(tests)) == (len(shown), len(self.t.rows))
        carried = " ".join(shown["warnings"].fillna(""))
        named = all((one in carried) == (one == w) for one in ("uneven", "few_apart", "saturated"))
        return counts and named and same(p, largest[1]) and (raw is None or same(raw, largest[0]))

    def apart(self, text: str, verb: str, part: str | None, inner: str | None, p: str) -> bool:
        """Differences of a typical pair's growth between conditions."""
        every = self.t.families("growth_contrasts")
        told = pd.concat([every[name] for name in every if name != "mean"])
        told = told[~told["few"] & told["p"].notna()]
        shown = told[told["shown"]]
        if verb == "differs":
            return count(part or "one") == len(shown) and same(p, shown["holm"].max())
        number = len(told) == count(part) if part else len(told) == 1
        return shown.empty and number and same(p, told["holm"].min())

    def typical(self, text: str, moved: str, jumped: str, of: str) -> bool:
        """The growth of a typical pair where there is a λ̂, and all the runs that jumped."""
        rows = self.t.rows[~self.t.rows["few"] & self.t.rows["lambda"].notna()]
        low, high = (rows[f"typical_growth_ci_{end}"] for end in ("low", "high"))
        known = {
            "drifts apart": ((low > 0) & high.notna()).sum(),
            "comes together": ((high < 0) & low.notna()).sum(),
        }
        told = {
            verb: count(number)
            for verb, number in re.findall(rf"(drifts apart|comes together) in {OF}", moved)
        }
        rates = {f"{100 * math.expm1(growth):.1f}" for growth in rows["typical_growth"]}
        rate = re.search(r"(-?[\d.]+) % \[", moved)
        runs = (rows["jumped"] * rows["completed"]).sum(), rows["completed"].sum()
        return (
            told == {verb: n for verb, n in known.items() if n}
            and (rate is None or rate[1] in rates)
            and runs == pytest.approx((int(jumped), int(of)))
        )

    def unclaimed(self, text: str) -> bool:
        return bool(self.t.rows["few"].all())

    def hopeless(self, text: str, n: str, tests: str) -> bool:
        rows = self.t.rows
        return (
            set(rows["completed"]) == {int(n)}
            and count(tests) == len(rows)
            and 2.0 ** (1 - int(n)) * len(rows) >= 0.05
        )

    def untested(self, text: str, n: str) -> bool:
        return count(n) == int(single(self.t.grow)["p"].isna().sum())

    def its_differences(self, text: str, p: str, untested: str, every: str) -> bool:
        both = single(self.t.grow), self.t.grow["mean"]
        return (
            not any(part["shown"].any() for part in both)
            and same(p, least(*both, claimable=True))
            and (count(untested), count(every)) == (int(both[0]["p"].isna().sum()), len(both[0]))
        )

    def worded(self, text: str, changed: str, of: str) -> bool:
        lines = self.t.read("fragility")
        lines = lines[lines["family"] == "all"]
        top = lines.sort_values("fragility").iloc[-1]
        return (top["changed"], top["wordings"]) == (float(changed), int(of))

    def worlds(self, text: str) -> bool:
        """The mean coverage of each arm over worlds."""
        told = re.findall(r"([\d.]+) \[([\d.]+), ([\d.]+)\] \((\w+)\)", text)
        return {arm for *_, arm in told} == set(self.arms) and all(
            all(map(same, numbers, interval(self.arms[arm]))) for *numbers, arm in told
        )

    def world_differences(self, text: str, p: str) -> bool:
        return same(p, stats.ttest_rel(self.arms["explicit"], self.arms["implicit"]).pvalue)

    @cached_property
    def arms(self) -> dict[str, "pd.Series[float]"]:
        """The mean of each world in each arm: worlds are those of an episode's number."""
        study = Study("worlds", f"sqlite:///{self.t.folder.parents[1]}/mlruns/mlflow.db")
        parts = {}
        for condition in study.conditions:
            parts.setdefault(condition.factors["consensus"], []).append(
                average_episodes(condition, "coverage")
            )
        return {arm: sum(each) / len(each) for arm, each in parts.items()}

    def always(self, text: str) -> bool:
        return True

    FORMS = (
        (r"What was not shown may still be there\.", always),
        (r"Simulated agents: no evidence about language models\.", always),
        (r"How much of this is mechanical isn't known: no scripted policy was run\.", always),
        (r"[^;:]* have fewer than five episodes, from which little follows\.", always),
        (r"On average over .*", averaged),
        (rf"(?:In \S+ )?(?:{OF}|{N}) committees (?:chose|reached|split).*", chosen),
        (rf"(?:Repeated|Asked in other words), ({OF}|neither|none)(?: ever)? (.*)", changed),
        (
            r"Of (\d+) \w+ that ended differently from most of their committee, "
            r"(?:(\d+) reached no majority|all chose another option)\.",
            ended,
        ),
        (r"Up to ([\d.]+) of (\d+) wordings.* lead to another decision than the .*", worded),
        (
            rf"(How often runs disagree|What runs decide) differs with (\w+)"
            rf"(?: in {OF} contrasts)?: (.*)",
            differs,
        ),
        (
            r"Differences (of decisions |of growth |)between conditions: not shown for ([\w ,]+) "
            rf"\((?:smallest )?(?:p after correction|p) =? ?{P}\)\.",
            unshown,
        ),
        (
            rf"Growth(?: between wordings)?: not shown in (either|any) \(smallest (?:{P}, )?{P} "
            rf"after correction for ({N}) tests\)\.",
            growth,
        ),
        (
            rf"Growth: shown in {OF} \(.*?; (?:largest )?(?:{P}, )?{P} after correction for ({N}) "
            r"tests\)(?:, which carries (\w+) and may be no rate)?\.",
            grew,
        ),
        (r"A typical pair(?: of wordings)? (.*); (\d+) of (\d+) runs jumped\.", typical),
        (rf"The growth of a typical pair (differs|is not shown to differ)"
         rf"(?: in (?:any of )?({OF}|{N}) comparisons)? \((?:.*; )?(?:smallest )?p (?:at most )?"
         rf"(?:after correction )?<? ?([\d.]+)(?: after correction)?\)\.", apart),
        (
            r"Growth: nothing is claimed of it, or of its differences, from fewer than ten "
            r"replicates or five rounds of the fit\.",
            unclaimed,
        ),
        (
            r"Growth: it could not be shown in any: (\d+) replicates are too few after "
            rf"correction for ({N}) tests\.",
            hopeless,
        ),
        (rf"({N}) contrasts? of growth ha(?:s|ve) neither interval nor p, since .*", untested),
        (
            r"Its differences: not shown, on average or singly \(smallest p after "
            rf"correction {P}; (\d+) of (\d+) untested, since runs jump or few carry λ̂\)\.",
            its_differences,
        ),
        (r"World disaster: coverage was .*", worlds),
        (rf"Differences from free action: not shown in the other arm \({P}\)\.", world_differences),
    )  # fmt: skip

    def list_contradictions(self, text: str) -> list[str]:
        """List the sentences that the tables contradict, and those that no form reads."""
        sentences = re.split(r"(?<=\.)\s+(?=[A-Z])", " ".join(text.split()))
        return [sentence for sentence in sentences if not self.holds(sentence)]

    def holds(self, sentence: str) -> bool:
        for form, check in self.FORMS:
            if found := re.fullmatch(form, sentence, re.IGNORECASE):
                return bool(check(self, sentence, *found.groups()))
        return False


def interval(values: "pd.Series[float]") -> tuple[float, float, float]:
    """A mean with its t interval."""
    half = stats.t.ppf(0.975, len(values) - 1) * stats.sem(values)
    return values.mean(), values.mean() - half, values.mean() + half


def read_frame(screen: str) -> str:
    """Return what stands in the frame, without its lines."""
    lines = screen.partition("What happened")[2].partition("╰")[0].splitlines()[1:]
    return "\n".join(line.strip("│ ") for line in lines).strip()


@pytest.mark.long
@pytest.mark.needs("plenum_papers", "plenum_worlds")
@pytest.mark.parametrize("name", STUDIES)
def test_no_sentence_is_contradicted_by_the_tables(stored: Path, name: str) -> None:
    swept = (f"study={name}", *STUDIES[name].split())
    screen = call(stored, "run.py", "-m", *swept, COLUMNS="100").stdout
    text = read_frame(screen)
    assert Reader(Tables(stored / "outputs" / name)).list_contradictions(text) == []
    if name.startswith("landscape"):
        assert text.startswith("On average over 12 scenarios")
        assert len([line for line in text.splitlines() if line]) <= 10
    golden = dict(
        re.findall(r"^== (\w+)\n(.*?)\n(?=^==|\Z)", GOLDEN.read_text(encoding="utf-8"), re.M | re.S)
    )
    assert " ".join(text.split()) == " ".join(golden[name].split())
