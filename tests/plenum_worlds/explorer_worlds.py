"""Studies of worlds for the explorer's tests: episodes played here, in real journals."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from explorer_studies import Kept

from plenum.base.identity import make_generator
from plenum.calls.chat import Reply
from plenum.calls.conversation import Ask, make_failure_entry
from plenum.design.condition import Condition
from plenum.design.kinds import KINDS
from plenum.records.failures import Failure
from plenum.records.journal import Journal
from plenum.records.transcript import read_transcript
from plenum.tracking.conditions import TrackedCondition
from plenum.tracking.transcripts import StoredTranscript
from plenum_worlds import tracking as worlds
from plenum_worlds.episode import Episode
from plenum_worlds.reports.explorer import EXPLORER
from plenum_worlds.simulated_agents import answer as agent

Answer = Callable[[Ask], str]


def simulated(ask: Ask) -> str:
    """What the simulated agent answers."""
    text = agent(ask.chat, 1.0, 0.0, make_generator("simulated", ask.chat.seed))
    assert text is not None
    return text


class PlayedWorlds(Kept):
    """Conditions of worlds."""

    explorer = EXPLORER

    def condition(
        self,
        played: Condition,
        replicates: int = 2,
        answer: Answer = simulated,
        lost: dict[int, int] | None = None,
    ) -> TrackedCondition:
        """Add a condition; a replicate in ``lost`` fails at its first call of that round."""
        run, lost = f"run{len(self.tracked)}", lost or {}
        files = [self._play(played, r, answer, lost.get(r, 0)) for r in range(replicates)]
        transcripts = [read_transcript(file) for file in files]
        self.kept[run] = [
            StoredTranscript(f"{run}-{r}", run, r, t.status, file)
            for r, (t, file) in enumerate(zip(transcripts, files, strict=True))
        ]
        data = {name: str(value) for name, value in played.as_mapping().items()}
        tables = worlds.tabulate_episodes(transcripts)
        ended = [t for t in transcripts if t.status == "completed"]
        condition = TrackedCondition(
            study=self.study,
            identity=played.identity,
            run_id=run,
            factors={name: data.get(name, "") for name in KINDS[played.kind].factors},
            target=replicates,
            completed=len(ended),
            failures=dict(Counter(t.reason or "" for t in transcripts if t.reason)),
            simulated=True,
            **worlds.read_fields(tables.__getitem__, data),
        )
        self.tracked.append(condition)
        return condition

    def _play(self, played: Any, replicate: int, answer: Answer, lost: int) -> Path:
        file = self.folder / played.identity / f"{replicate:03d}.jsonl"
        episode, written = Episode(played, replicate), 0
        with Journal(file, {**played.as_mapping(), "replicate": replicate}) as journal:
            while (ask := episode.ask) is not None:
                if ask.round == lost:
                    journal.append(make_failure_entry(ask, Failure.TIMEOUT, "no answer in 60 s"))
                    return file
                journal.append(episode.answer(Reply(answer(ask), 1, 1)))
                for record in episode.rounds[written:]:
                    journal.append(record)
                written = len(episode.rounds)
            for record in episode.rounds[written:]:
                journal.append(record)
            assert episode.end is not None
            journal.append(episode.end)
        return file
