"""Section 9: how the numbers were computed; section 10: where they come from."""

import platform

import numpy
import scipy

from plenum.base import project
from plenum.reports.article.document import Block, Points, Text
from plenum.reports.article.material import Material
from plenum.reports.article.words import listed, verb

_INTERVALS = {
    "jackknife": "the delete-one jackknife over replicates with Student's t(R − 1)",
    "percentile": "the percentile bootstrap over replicates",
    "bca": "the bias-corrected and accelerated bootstrap over replicates",
    "bootstrap_t": "the bootstrap-t over replicates",
    "seed_compatible": "the percentile bootstrap with the papers' 500 draws",
}


def methods(material: Material) -> list[Block]:
    """Estimands, intervals, tests and versions."""
    chosen, items = material.chosen, []
    first, last = chosen.window
    if material.kinds:
        items += _of_exponents(material, first, last)
    if any(row.summary for row in material.rows):
        items.append(
            (
                "Decisions.",
                "Flip rates have Clopper and Pearson's interval, with the most frequent decision "
                "taken as given. Pairwise disagreement is unbiased. NONE is a decision of its own. "
                "Majority times are Kaplan-Meier medians with the interval of Brookmeyer and "
                "Crowley.",
            )
        )
    if any(row.wordings for row in material.rows):
        items.append(
            (
                "Wordings.",
                "Fragility has Clopper and Pearson's interval over wordings; differences have "
                "Newcombe's interval for paired shares and McNemar's exact test.",
            )
        )
    if material.branched:
        items.append(
            (
                "Branches.",
                "Base states are the units, not their continuations: intervals are Student's t "
                "over "
                "base states.",
            )
        )
    if material.study.contrasts:
        items.append(("Contrasts.", _contrasts(material)))
    items.append(("Software.", _software()))
    return [Points(tuple(items))]


def _of_exponents(material: Material, first: int, last: int) -> list[tuple[str, str]]:
    chosen = material.chosen
    return [
        (
            "D(t).",
            "The mean Euclidean distance between two replicates' committee mean preferences in "
            "round t, over all pairs of completed replicates. Distances below 1e-9 are exact "
            "zeros.",
        ),
        (
            "λ̂.",
            f"The least-squares slope of log D(t) on t over rounds {first} to {last}, both "
            "included, "
            "as far as they were run. Rounds with D = 0 are left out and counted.",
        ),
        (
            "Intervals.",
            f"All are 95 %. That of λ̂ is {_INTERVALS[chosen.interval]}. Replicates are the units; "
            "rounds are not independent, and never resampled.",
        ),
        (
            "Growth.",
            "Random time reversal: the median over replicates is subtracted in each round, each "
            "replicate's window is reversed with probability ½, and |λ̂| is compared with its own "
            f"{chosen.draws:,} reversals. Two-sided.",
        ),
        (
            "Diffusion.",
            "The slope of ½ log t over the rounds used, which is λ of independent random walks. "
            "λ̂ minus it is tested with the jackknife standard error, t(R − 1), two-sided.",
        ),
        (
            "Many tests.",
            "Holm's adjustment bounds the chance of one false claim in a family, Benjamini and "
            "Hochberg's the share of false ones among the finds. Families: all conditions with one "
            "kind of λ̂, once for growth and once for diffusion; all contrasts of a factor; all "
            "interactions; all pooled means.",
        ),
    ]


def _contrasts(material: Material) -> str:
    said = (
        "Δλ̂ has Welch's interval with jackknife variances, and p by a studentised permutation of "
        "replicates between the arms."
    )
    if any(row.tracked.perturbed for row in material.rows):
        said += " Arms that read the same wordings are paired."
    if material.study.interactions:
        said += " Interactions add four jackknife variances; p is Student's t."
    if material.study.across:
        said += (
            " Effects over scenarios are random-effects means by REML with the interval of Hartung "
            "and Knapp; the mixed model has random slopes over scenarios."
        )
    return said + (
        " The difference that could have been found is that of a two-sided t test at 5 % with the "
        "realised standard error and degrees of freedom."
    )


def _software() -> str:
    return (
        f"This report was written by plenum {project.code_version()} with numpy "
        f"{numpy.__version__} "
        f"and scipy {scipy.__version__} under Python {platform.python_version()}. No sentence "
        "in it "
        "was written by a model; all are generated from the numbers."
    )


def runs(material: Material) -> list[Block]:
    """Diagnostics, further tables, and the runs and files behind each condition."""
    squares = [*material.named("square"), *material.named("landscape")]
    details = material.named("diagnostics")
    blocks: list[Block] = []
    if details:
        where = ", ".join(map(material.table, details))
        blocks.append(
            Text(
                "What each λ̂ rests on (D at both ends of the window, room to grow, other "
                "means over "
                f"pairs, misfits) is in {where}."
            )
        )
    if squares:
        where = listed([material.table(name) for name in squares])
        laid = verb(len(squares), "lays", "lay")
        blocks.append(Text(f"{where} {laid} the estimates out by cell."))
    blocks += material.grid(*squares, *details)
    one = len(material.every) == 1
    blocks.append(
        Text(
            f"{material.table('manifest')} names the MLflow run of {verb(one, 'the', 'each')} "
            f"condition in the experiment {material.chosen.study}, and digests of its files: "
            "whoever "
            "has the same digests has the same data."
        )
    )
    return [*blocks, *material.grid("manifest")]
