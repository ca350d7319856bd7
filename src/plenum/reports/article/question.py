"""Section 1: what a study asks, read off what it varies."""

from collections.abc import Sequence
from typing import NamedTuple

from plenum.reports.article.document import Block, Text
from plenum.reports.article.factors import levels
from plenum.reports.article.material import Material, section
from plenum.reports.article.words import counts_between, listed
from plenum.reports.rows import Row

_ASKED = {
    "scenario": "the policy case",
    "roles": "the mandates of the seats",
    "model": "the models that speak for the seats",
    "memory": "how much of the discussion the seats read",
    "temperature": "the sampling temperature",
    "backend": "the backend that answers",
    "perturbation": "whether the wording of the case varies",
    "protocol": "whether the committee deliberates before it votes",
    "settings": "other settings of the deliberation",
    "rounds": "the number of rounds",
    "seed": "the seed",
}

_COMMITTEES = "“Chaotic Dynamics in Multi-LLM Deliberation” (Shimao, Khern-am-nuai and Kim)"
_HOSTED = "“Collective AI can amplify tiny perturbations into divergent decisions”"


class Mirrored(NamedTuple):
    """What a study of a paper mirrors, and how large the paper's was."""

    paper: str
    where: str
    replicates: int = 20
    rounds: int = 20


MIRRORED = {
    "hl01_2x2": Mirrored(_COMMITTEES, "Fig. 1"),
    "role_ablation": Mirrored(_COMMITTEES, "Fig. 2A and Table S5"),
    "chair_ablation": Mirrored(_COMMITTEES, "Fig. 2B"),
    "memory_intervention": Mirrored(_COMMITTEES, "Fig. 3A"),
    "memory_collapse": Mirrored(_COMMITTEES, "Fig. 3B"),
    "landscape": Mirrored(_COMMITTEES, "Fig. 4 and Table S8"),
    "temperature_sweep": Mirrored(_COMMITTEES, "Fig. S1 and Table S5"),
    "cross_model": Mirrored(_COMMITTEES, "Table S6"),
    "branching": Mirrored(_COMMITTEES, "Fig. S6", replicates=5),
    "semantic": Mirrored(_COMMITTEES, "Fig. S7", replicates=6),
    "hosted_benchmark": Mirrored(_HOSTED, "Fig. 1"),
    "hosted_one_shot": Mirrored(_HOSTED, "the one-shot baseline beside Fig. 1B", rounds=1),
    "hosted_rerun": Mirrored(_HOSTED, "the reruns of Fig. 1A", replicates=4),
}
"""The studies of the papers that the experiments are set up after, by their names."""


def question(material: Material) -> list[Block]:
    """What is asked, and which published experiment it mirrors."""
    blocks: list[Block] = [Text(_asked(material.rows, bool(material.branched)))]
    mirrored = MIRRORED.get(material.chosen.study)
    if mirrored is not None:
        blocks.append(Text(_mirrors(material, mirrored)))
    return blocks


def _asked(rows: Sequence[Row], branched: bool) -> str:
    perturbed = {row.tracked.perturbed for row in rows}
    apart = {
        frozenset({False}): "repeated deliberations of one committee on one case move apart",
        frozenset({True}): "deliberations move apart whose committee reads the same case in other "
        "words",
        frozenset({True, False}): "deliberations of one committee move apart, repeated in the same "
        "words and in other words",
    }[frozenset(perturbed)]
    if all(row.one_shot for row in rows):
        asked = "The study asks how often a committee that votes without deliberating decides "
        asked += "differently" + " when the case is worded differently" * (perturbed == {True})
    else:
        asked = f"The study asks how fast {apart}, and how often they end in different decisions"
    varied = [_ASKED[n] for n in levels(rows) if not (branched and n == "settings")]
    if varied:
        both = "that depends" if all(row.one_shot for row in rows) else "both depend"
        asked += f"; and how {both} on {listed(varied)}"
    asked += "."
    if len(rows) == 1:
        asked += " Nothing is varied: it measures a single condition."
    if branched:
        asked += (
            " It also continues deliberations several times from one and the same state, to see "
            "whether these continuations part."
        )
    return asked


def _mirrors(material: Material, mirrored: Mirrored) -> str:
    said = (
        f"Its name, {material.chosen.study}, is that of the experiment that plenum sets up after "
        f"{mirrored.where} of {mirrored.paper}."
    )
    own = [row for row in material.rows if not row.tracked.after_round] or list(material.rows)
    targets = [row.tracked.target for row in own]
    rounds = [int(row.tracked.factors["rounds"] or 0) for row in own]
    unlike = []
    if set(targets) != {mirrored.replicates}:
        unlike.append(
            f"a target of {counts_between(targets)} replicates a condition instead of "
            f"{mirrored.replicates}"
        )
    if set(rounds) != {mirrored.rounds}:
        unlike.append(f"{counts_between(rounds)} rounds instead of {mirrored.rounds}")
    if unlike:
        said += f" It departs from that experiment, among other things: it has {listed(unlike)}."
    simulated = any(row.tracked.simulated for row in material.rows)
    if simulated:
        said += " With simulated agents it exercises that design; it doesn't replicate the finding."
    return said + f" What was run is told in {section('design')}."
