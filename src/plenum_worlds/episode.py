"""A run of an episode as a state machine without input or output.

The caller sends :attr:`Episode.ask` to the model and passes the reply to :meth:`Episode.answer`.
Resuming is the same loop with recorded replies. :attr:`Episode.rounds` grows by an entry with every
completed round; a journal keeps them between the answers.
"""

from collections.abc import Callable, Generator, Sequence
from typing import Any

from plenum.base.identity import make_generator
from plenum.base.shares import keep_finite
from plenum.base.text import flatten
from plenum.calls.chat import Reply
from plenum.calls.conversation import Ask, Conversation, Entry
from plenum_worlds import answer_schemas, answers, dialogue, information, prompts
from plenum_worlds.communication import Hearing
from plenum_worlds.condition import WorldAgent, WorldCondition
from plenum_worlds.consensus import MECHANISMS, WorldDecision, list_assigned, read_plan
from plenum_worlds.draws import Draws
from plenum_worlds.metrics import action_distribution, mean_deviation, summary
from plenum_worlds.prompts import AgentScene, WorldRemark
from plenum_worlds.registry import build_world, find_world
from plenum_worlds.settings import ANSWER_FORMS
from plenum_worlds.world import Round, Statement, World, as_plain

Calls = Generator[Ask, Reply, Any]


def make_world(condition: WorldCondition) -> World[Any, Any]:
    """Return the world of a condition."""
    return build_world(condition.task, condition.units, **dict(condition.numbers))


def make_draws(condition: WorldCondition, replicate: int) -> Draws:
    """Return the random draws for the world of a replicate."""
    return Draws.of_world(condition.task, condition.seed, condition.episode(replicate))


def measure_round(world: World[Any, Any], record: Round) -> Entry:
    """Measure a round: performance, deviations, and the positive components of C(t)."""
    weights = action_distribution(world, record["actions"])
    return {
        "performance": keep_finite(float(world.performance([record])[0])),
        "deviation_actions": keep_finite(mean_deviation(world, record["actions"])),
        "deviation_proposals": keep_finite(mean_deviation(world, record["proposals"])),
        "components": len(weights),
        "weights": [[int(i), float(weights[i])] for i in weights.nonzero()[0]],
    }


class Episode(Conversation[WorldCondition]):
    """One run of a condition, from its first round to its metrics.

    Its :attr:`end` has the status and the metrics.
    """

    def __init__(self, condition: WorldCondition, replicate: int) -> None:
        self._world = make_world(condition)
        self._draws = make_draws(condition, replicate)
        self._cut = 0
        lost = condition.information.lost
        self._hearing = Hearing(condition.hears, condition.view, lost, self._draws)
        super().__init__(condition, replicate)

    def _play(self) -> Generator[Ask, Reply, Entry]:
        condition, world, draws = self._condition, self._world, self._draws
        records: list[Round] = []
        state = world.start(draws)
        differs = condition.asks and information.differs(condition.information)
        for number in range(1, condition.rounds + 1):
            self._cut = 0
            before, state = state, world.update(state, draws, number)
            shown = before if world.lags else state
            report = world.report(shown, draws, number)
            observed = [
                information.reports(
                    world, shown, draws, number, condition.information, index, report
                )
                for index in range(len(condition.agents))
            ]
            spoken, choices = yield from self._choices(number, shown, observed)
            decision = self._decide(choices, number, shown)
            outcome = world.act(state, decision.actions)
            proposals = list_assigned(choices) if condition.assigns else choices
            record: Round = {
                "round": number,
                "state": as_plain(state),
                "report": as_plain(report),
                "proposals": as_plain(proposals),
                "actions": as_plain(decision.actions),
                "tied": decision.tied,
                "score": outcome.score,
                "facts": as_plain(outcome.facts),
                "after": as_plain(outcome.state),
            }
            records.append(record)
            received = {"received": as_plain(observed)} if differs else {}
            self.rounds.append(
                {
                    "kind": "round",
                    **record,
                    "spoken": spoken,
                    "cut": self._cut,
                    **received,
                    **measure_round(world, record),
                }
            )
            state = outcome.state
            if world.over(state):
                break
        heard = dialogue.measures(self.rounds)
        metrics = summary(world, records, condition.rounds) | heard
        return {
            "kind": "end",
            "status": "completed",
            "rounds": len(records),
            "metrics": {name: keep_finite(value) for name, value in metrics.items()},
        }

    def _choices(
        self, number: int, state: Any, observed: Sequence[tuple[Statement, ...]]
    ) -> Generator[Ask, Reply, tuple[list[Entry], list[Any]]]:
        """Ask for the round's discussion and choices; return remarks in order, then choices.

        ``observed`` has the reports that reach each agent.
        """
        condition = self._condition
        if not condition.asks:
            views = [self._world.view(state, unit) for unit in range(condition.units)]
            policy = find_world(condition.task).policies[condition.policy]
            return [], policy(views, self._draws, number)
        self._hearing.begin()
        spoken: list[Entry] = []
        for turn in range(condition.turns):
            for index in self._order(number):
                scene = self._scene(number, state, observed[index], index)
                remark = yield from self._speak(number, condition.agents[index], scene)
                self._hearing.say(index, turn, remark)
                spoken.append(
                    {
                        "agent": index,
                        "action": remark.action,
                        "words": bool(flatten(remark.message)),
                        "refers": dialogue.refers(remark, scene.remarks),
                    }
                )
        choices: list[Any] = [None] * len(condition.agents)
        for index in self._order(number):
            scene = self._scene(number, state, observed[index], index)
            choices[index] = yield from self._choose(number, condition.agents[index], scene)
        return spoken, choices

    def _order(self, number: int) -> list[int]:
        """Return the speaking order, drawn anew in every round, the same for every mechanism."""
        condition = self._condition
        names = ("world", condition.task, condition.seed, condition.episode(self._replicate))
        rng = make_generator(*names, "speaking order", number)
        return [int(i) for i in rng.permutation(len(condition.agents))]

    def _scene(
        self, number: int, state: Any, reports: tuple[Statement, ...], index: int
    ) -> AgentScene:
        private = self._condition.information
        known = information.describe_known(self._world, state, self._draws, number, private, index)
        heard = self._hearing
        return AgentScene(number, reports, known, heard.remarks(index), heard.proposals(index))

    def _decide(self, choices: list[Any], number: int, shown: Any) -> WorldDecision[Any]:
        """Apply the mechanism; a single agent's assignment counts as a plan without other votes."""
        mechanism = MECHANISMS["plan" if self._condition.assigns else self._condition.consensus]
        return mechanism(self._world, choices, self._draws, number, shown)

    def _speak(
        self, number: int, agent: WorldAgent, scene: AgentScene
    ) -> Generator[Ask, Reply, WorldRemark]:
        world = self._world
        messages = prompts.discuss(self._condition, world, agent, scene)
        speech = answer_schemas.speech_schema(self._condition, world)
        held = speech if self._condition.constrained else None
        ask = self._call("message", number, agent.name, agent.model, messages, held)
        form = prompts.speech_form(self._condition, world)
        answer = yield from self._ask_action(ask, world.key, world.read, form)
        if answer is None:
            return WorldRemark(number, agent.name, None, "")
        return WorldRemark(number, agent.name, answer["action"], prompts.shorten(answer["message"]))

    def _choose(self, number: int, agent: WorldAgent, scene: AgentScene) -> Calls:
        messages = prompts.decide(self._condition, self._world, agent, scene)
        form = prompts.choice_form(self._condition, self._world)
        key, read = self._world.key, self._world.read
        if self._condition.assigns:
            key, read = answer_schemas.PLAN, lambda value: read_plan(self._world, value)
        choice = answer_schemas.choice_schema(self._condition, self._world)
        held = choice if self._condition.constrained else None
        ask = self._call("action", number, agent.name, agent.model, messages, held)
        answer = yield from self._ask_action(ask, key, read, form)
        return None if answer is None else read(answer["action"])

    def _ask_action(
        self, ask: Ask, key: str, read: Callable[[Any], Any], form: str
    ) -> Generator[Ask, Reply, Entry | None]:
        """Return action and message of an answer; None, an abstention, if it is unreadable.

        If the analysis comes first, an answer that was cut off is requested again even if its
        action is complete, since the parts after it are missing. The second answer's complete parts
        count. A constrained answer may repeat what counts once, which is noted.
        """

        def settle(value: Any) -> Any:
            return answer_schemas.settle(self._world, key, value) if ask.chat.answer else value

        def note(text: str, again: bool) -> Entry:
            try:
                parsed = answers.parse_agent_answer(text, key, lambda value: read(settle(value)))
                if parsed.cut and not again and self._condition.answer == ANSWER_FORMS[0]:
                    raise answers.UnreadableAnswer(answers.BREAKS_OFF, cut=True)
            except answers.UnreadableAnswer as problem:
                self._cut += problem.cut
                raise
            self._cut += parsed.cut
            read_as = {"action": as_plain(parsed.action), "message": parsed.message}
            repeated = {"repeated": True} if settle(parsed.given) != parsed.given else {}
            return {"read": read_as, "cut": parsed.cut, **repeated}

        entry = yield from self._ask(ask, note, lambda p: prompts.repair(p, form))
        return entry and entry["read"]

    def _unread(self, ask: Ask, reply: Reply, problem: str) -> None:
        self._entry["abstains"] = True
