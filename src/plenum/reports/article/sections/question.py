"""Section 1: what a study asks, read off what it varies."""

from typing import Any, NamedTuple

from plenum.reports.article.factors import levels
from plenum.reports.article.material import Material

_COMMITTEES = "“Chaotic Dynamics in Multi-LLM Deliberation” (Shimao, Khern-am-nuai and Kim)"
_HOSTED = "“Collective AI can amplify tiny perturbations into divergent decisions”"


class Experiment(NamedTuple):
    """A published experiment that a study is set up after, and how large it was."""

    title: str
    where: str
    replicates: int = 20
    rounds: int = 20


PUBLISHED = {
    "hl01_2x2": Experiment(_COMMITTEES, "Fig. 1"),
    "role_ablation": Experiment(_COMMITTEES, "Fig. 2A and Table S5"),
    "chair_ablation": Experiment(_COMMITTEES, "Fig. 2B"),
    "memory_intervention": Experiment(_COMMITTEES, "Fig. 3A"),
    "memory_collapse": Experiment(_COMMITTEES, "Fig. 3B"),
    "landscape": Experiment(_COMMITTEES, "Fig. 4 and Table S8"),
    "temperature_sweep": Experiment(_COMMITTEES, "Fig. S1 and Table S5"),
    "cross_model": Experiment(_COMMITTEES, "Table S6"),
    "branching": Experiment(_COMMITTEES, "Fig. S6", replicates=5),
    "semantic": Experiment(_COMMITTEES, "Fig. S7", replicates=6),
    "hosted_benchmark": Experiment(_HOSTED, "Fig. 1"),
    "hosted_one_shot": Experiment(_HOSTED, "the one-shot baseline beside Fig. 1B", rounds=1),
    "hosted_rerun": Experiment(_HOSTED, "the reruns of Fig. 1A", replicates=4),
}
"""The studies of the papers, by their names."""


def facts(material: Material) -> dict[str, Any]:
    """What is varied, and which published experiment the study mirrors."""
    rows = material.rows
    reworded = {row.tracked.perturbed for row in rows}
    begun = [row.tracked for row in rows if not row.tracked.after_round]
    begun = begun or [row.tracked for row in rows]
    return {
        "study": material.chosen.study,
        "conditions": len(rows),
        "reworded": "partly" if len(reworded) > 1 else "always" if True in reworded else "never",
        "votes": all(row.one_shot for row in rows),
        "branched": bool(material.branched),
        "varied": [n for n in levels(rows) if not (material.branched and n == "settings")],
        "paper": PUBLISHED.get(material.chosen.study),
        "targets": sorted({tracked.target for tracked in begun}),
        "rounds": sorted({int(tracked.factors["rounds"] or 0) for tracked in begun}),
        "simulated": any(row.tracked.simulated for row in rows),
    }
