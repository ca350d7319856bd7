"""Trials of models: a few replicates test a model without a readable answer before others use it.

A model that can't write the format fails every replicate at its first question. So the first
replicates that ask a model try it, and the others wait until one of them has got past its first
question to it. Where none does, the others aren't begun: the sweep ends and says so. Once any
replicate of the sweep has got past a question to a model, now or in a run before, nothing of this
happens to that model again. In a committee the first that gets past a turn also has the model vote
(:mod:`plenum.execution.rehearsal`), and only a vote that can be read ends the trial.
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field

from plenum.calls.limits import ProviderUnavailable
from plenum.design.job import Job
from plenum.records.failures import Failure

TRIED_BY = 4
"""Replicates that try a model: with their repairs 8 calls. Where a backend computes rows
together, which cost no more time than one, it is at least as many as its rows. The number is
plenum's own: with fewer one odd answer could end a sweep, with more a model that can't write the
form costs more."""


@dataclass
class _TrialState:
    """The state of one model's trial."""

    read: bool = False
    under_way: set[Hashable] = field(default_factory=set)
    failed: Counter[str] = field(default_factory=Counter)
    voter: Hashable = None  # the replicate that has it vote now
    unread_vote: str = ""


class Trials:
    """The trials of all models of a sweep.

    A model counts as another one under another backend or sampling, since an answer may be cut off
    by one ``sampling.max_tokens`` and not by another. A replicate that fails for another reason,
    such as a missing answer, gives its place to the next.
    """

    def __init__(self) -> None:
        self._models: defaultdict[Hashable, _TrialState] = defaultdict(_TrialState)
        self._changed = asyncio.Event()

    def of(self, job: Job, index: int) -> "Trial":
        """Make the part that a replicate has in them."""
        backend = job.condition.backend
        places = max(TRIED_BY, backend.rows)
        exempt = backend.name == "simulated" or job.calls.batch  # a batch is one call for all
        settings = repr((backend, job.condition.sampling, job.condition.constrained))
        return Trial(self, settings, (job.condition.folder, index), None if exempt else places)

    def get_trial(self, model: Hashable) -> _TrialState:
        """Return the state of a model's trial."""
        return self._models[model]

    def change(self) -> None:
        """Wake the replicates that wait for a trial."""
        self._changed.set()
        # Those that waited go on; who waits from now on waits for the next result.
        self._changed = asyncio.Event()

    async def wait_for_change(self) -> None:
        """Wait for the next result of a replicate."""
        await self._changed.wait()

    def leave(self, who: Hashable) -> None:
        """Give up the places of a replicate that is over."""
        for tried in self._models.values():
            tried.under_way.discard(who)
            if tried.voter == who:
                tried.voter = None
        self.change()


@dataclass(frozen=True)
class Trial:
    """A replicate's part in the trials of the models that it asks.

    Parameters
    ----------
    settings
        What tells its models from those of the same name under other settings.
    who
        The replicate.
    places
        How many replicates try a model; ``None`` where its models aren't tried.
    """

    trials: Trials = field(default_factory=Trials)
    settings: str = ""
    who: Hashable = ""
    places: int | None = None

    def is_settled(self, models: Iterable[str]) -> bool:
        """Return whether none of the models is on trial any more."""
        if self.places is None:
            return True
        return all(self.trials.get_trial((self.settings, model)).read for model in models)

    async def enter(self, model: str) -> None:
        """Wait until the replicate may ask a model.

        Raises
        ------
        ProviderUnavailable
            None of those that tried it got past their first question to it.
        """
        if self.places is None:
            return
        tried = self.trials.get_trial((self.settings, model))
        # Looked at anew after each wait: another replicate may have taken the place meanwhile.
        while not tried.read:
            failed, waits = tried.failed.total(), tried.voter not in (None, self.who)
            if failed >= self.places:
                raise ProviderUnavailable(Failure.UNREAD, _explain_end(model, tried))
            if self.who in tried.under_way and not waits:
                return
            if not waits and failed + len(tried.under_way) < self.places:
                tried.under_way.add(self.who)
                return
            await self.trials.wait_for_change()

    def note_pass(self, models: Iterable[str]) -> None:
        """Note that a replicate passed a question to each of some models."""
        for model in set(models) if self.places is not None else ():
            tried = self.trials.get_trial((self.settings, model))
            if not tried.read:
                tried.read = True
                self.trials.change()

    def take_vote(self, model: str) -> bool:
        """Return whether the replicate is to have a model vote: no other one does or did."""
        if self.places is None:
            return False
        tried = self.trials.get_trial((self.settings, model))
        if tried.read or tried.voter is not None:
            return False
        tried.voter = self.who
        return True

    def note_failure(self, model: str, reason: str, unread_vote: str = "") -> None:
        """Note that an answer of a model ended the replicate, or that its vote can't be read."""
        if self.places is not None:
            tried = self.trials.get_trial((self.settings, model))
            tried.under_way.discard(self.who)
            if tried.voter == self.who:
                tried.voter = None
            tried.failed[reason] += 1
            tried.unread_vote = unread_vote or tried.unread_vote
            self.trials.change()

    def leave(self) -> None:
        """Note that the replicate is over, however it ended."""
        if self.places is not None:
            self.trials.leave(self.who)


def _explain_end(model: str, tried: _TrialState) -> str:
    failed = tried.failed
    reasons = ", ".join(f"{count} x {reason}" for reason, count in sorted(failed.items()))
    if tried.unread_vote:
        return (
            f"model {model}: it was to vote after a first turn, before more is paid, and no vote "
            f"of {failed.total()} trials could be read ({reasons}), such as: {tried.unread_vote}. "
            "Try protocol.answers=constrained, a larger sampling.max_tokens or a stronger model"
        )
    return (
        f"model {model}: none of the {failed.total()} replicates that tried it wrote a first "
        f"answer that could be read ({reasons}); the others weren't begun"
    )
