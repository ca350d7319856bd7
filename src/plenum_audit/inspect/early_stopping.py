"""An ``EarlyStopping`` of inspect: the epochs of a sample end when a verdict stands."""

import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from plenum.dynamics import benjamini_hochberg
from plenum_verdicts.dynamics import (
    UNDECIDED,
    StabilityRule,
    begin_evidence,
    encode_outcomes,
    judge_cases,
    judge_family,
    p_value,
)

NAME = "plenum"
RIGHT, WRONG = "right", "wrong"


@dataclass
class _SampleRuns:
    """The epochs of a sample: those that ended, and the evidence of the first ones."""

    options: tuple[str, ...]
    evidence: Any
    ended: dict[int, str] = field(default_factory=dict)
    taken: list[str] = field(default_factory=list)

    def take(self) -> None:
        """Add epochs to the evidence in their order.

        How long an epoch takes may depend on what it decides, so that later ones wait for it.
        """
        while (outcome := self.ended.get(len(self.taken) + 1)) is not None:
            self.evidence.add(encode_outcomes([outcome], self.options))
            self.taken.append(outcome)


class StopWhenDecided:
    """End the epochs of a sample when it is decided whether its runs agree.

    Each epoch is a run of its case. Verdicts are those of an audit: each is wrong with a
    probability of at most 5 %, whenever epochs end.

    Parameters
    ----------
    options
        The decisions that there are; by default the letters of a sample's choices. Without either
        a run's decision is whether it is right.
    scorer
        The scorer whose answer, or whose value, is read; by default the first one.
    acceptable, unacceptable
        A case is unstable if its share of runs that decide alike is below the first, and stable if
        it is above the second.
    whole_task
        If True, all epochs end once the task is shown to be unstable.

    Notes
    -----
    An epoch that is running isn't stopped: run fewer samples at once (``max_samples``) than there
    are samples. A sample that ends with an error has no score: later epochs of it don't count, and
    none of them is left out.

    Examples
    --------
    >>> stopping = StopWhenDecided(acceptable=0.95, unacceptable=0.80)

    ``Task(dataset, scorer=choice(), epochs=40, early_stopping=stopping)`` uses it.
    """

    def __init__(
        self,
        options: Sequence[str] = (),
        *,
        scorer: str = "",
        acceptable: float = 0.95,
        unacceptable: float = 0.80,
        whole_task: bool = True,
    ) -> None:
        self._rule = StabilityRule(acceptable, unacceptable)
        self._options, self._scorer, self._whole = tuple(options), scorer, whole_task
        self._samples: dict[str, _SampleRuns] = {}

    async def start_task(self, task: Any, samples: Sequence[Any], epochs: int) -> str:
        """Begin with the samples of a task, and return the name of this manager."""
        self._samples = {}
        for sample in samples:
            letters = tuple(string.ascii_uppercase[: len(sample.choices or ())])
            options = self._options or (letters if len(letters) > 1 else (RIGHT, WRONG))
            self._samples[str(sample.id)] = _SampleRuns(
                options, begin_evidence(options, self._rule)
            )
        return NAME

    async def schedule_sample(self, id: str | int, epoch: int) -> Any:
        """Return inspect's ``EarlyStop`` if the epoch isn't needed, and otherwise ``None``."""
        case = self._samples.get(str(id))
        if case is None:
            return None
        reason = ""
        evidence = case.evidence.evidence
        if evidence.verdict != UNDECIDED:
            reason = f"{evidence.verdict} after {evidence.runs} runs"
        elif self._whole and self._is_unstable():
            reason = "the task is unstable"
        if not reason:
            return None
        from inspect_ai.util import EarlyStop

        return EarlyStop(id=id, epoch=epoch, reason=reason)

    async def complete_sample(self, id: str | int, epoch: int, scores: Mapping[str, Any]) -> None:
        """Take the decision of an epoch that ended."""
        case = self._samples.get(str(id))
        score = scores.get(self._scorer) if self._scorer else next(iter(scores.values()), None)
        if case is not None and score is not None:
            case.ended[epoch] = _decision(score.score, case.options)
            case.take()

    async def complete_task(self) -> dict[str, Any]:
        """Return the verdicts, which inspect writes to the log."""
        outcomes = {name: case.taken for name, case in self._samples.items()}
        options = {name: case.options for name, case in self._samples.items()}
        if not outcomes:
            return {}
        verdicts = judge_cases(outcomes, options, self._rule)
        together = judge_family(verdicts, self._rule)
        return {
            "verdict": together.verdict,
            "acceptable": self._rule.acceptable,
            "unacceptable": self._rule.unacceptable,
            "cases": {
                name: {
                    "verdict": together.of(name, each),
                    "runs": each.runs,
                    "mode": each.mode,
                    "share": each.share if each.runs else None,
                }
                for name, each in verdicts.items()
            },
        }

    def _is_unstable(self) -> bool:
        """Return whether some case is shown to be unstable among all."""
        evidence = [case.evidence.evidence for case in self._samples.values()]
        adjusted = benjamini_hochberg([p_value(each.log_unstable) for each in evidence])
        return bool((adjusted <= self._rule.alpha).any())


def _decision(score: Any, options: Sequence[str]) -> str:
    """Return a score's answer; without answers that count, whether it is right."""
    if tuple(options) == (RIGHT, WRONG):
        return RIGHT if score.value in ("C", 1, True) else WRONG
    return str(score.answer or "").strip().removesuffix(".")
