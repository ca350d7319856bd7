"""The released branching files: repeated answers to the prompt of every turn of a run."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, Field

from plenum.dynamics.branching import NextAnswers, estimate_next_answers
from plenum_papers.published.catalogue import PublishedFile, Release
from plenum_papers.published.records import Count, Preferences, parse_released


class AnsweredTurn(BaseModel):
    """A turn of a run, with further answers to the same prompt."""

    round_num: Annotated[int, Field(ge=1)]
    role: str
    orig_pref: Preferences
    sample_prefs: Annotated[list[Preferences], Field(min_length=1)]


class AnsweredRun(BaseModel):
    """A branching file."""

    scenario_id: str
    temperature: float
    rep_index: Count
    k_samples: Annotated[int, Field(ge=2)]
    h0: Annotated[float, Field(gt=0)]
    states: Annotated[list[AnsweredTurn], Field(min_length=1)]


@dataclass(frozen=True)
class AnsweredTurns:
    """The next answers along one run.

    Attributes
    ----------
    path
        The file, relative to the clone.
    run
        The content of the file.
    """

    path: Path
    run: AnsweredRun

    @cached_property
    def answers(self) -> NextAnswers:
        """Γ̂ and ĉ as the authors compute them."""
        return estimate_next_answers([turn.sample_prefs for turn in self.run.states], self.run.h0)

    def follows(self, file: PublishedFile) -> bool:
        """Return whether the run is a replicate of a released file."""
        return self.path.name.startswith(f"{file.path.stem}__K")

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One row per turn: its replicate, round and seat, and the entropy of its answers."""
        return [
            {
                "replicate": self.run.rep_index,
                "round": turn.round_num,
                "seat": turn.role,
                "answers": len(turn.sample_prefs),
                "entropy": entropy,
                "threshold": self.run.h0,
            }
            for turn, entropy in zip(self.run.states, self.answers.entropy, strict=True)
        ]


def read(release: Release) -> list[AnsweredTurns]:
    """Return the branching files of a release, ordered by the run that they follow.

    Raises
    ------
    UserError
        A file can't be read.
    """
    files = sorted((release.clone / release.rules["branching"]).glob("*__K30__rep*.json"))
    paths = [file.relative_to(release.clone) for file in files]
    return [AnsweredTurns(path, parse_released(release, path, AnsweredRun)) for path in paths]
