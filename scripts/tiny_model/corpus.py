"""The corpus: deliberations of the real protocol, held by the teacher.

Every prompt comes from :class:`plenum.committee.Deliberation`, so that training reads the bytes
that a run will read. A group holds answers to prompts of one seat on one wording, which share
their static part; a clerk's group has no static part.
"""

import dataclasses
import functools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from hydra import compose, initialize_config_dir

from plenum import scenarios
from plenum.base import make_generator, project_root, resolve_path
from plenum.committee import (
    CommitteeCondition,
    Deliberation,
    Seat,
    ballots,
    prompts,
    require_committee,
)
from plenum.design import Protocol, parse_job
from plenum.models import Message, Reply
from plenum.scenarios import Scenario, Variant
from tiny_model import teacher
from tiny_model.reading import Prompt, read, views
from tiny_model.tokenizer import START, split

ROLES = (
    "on",
    "off",
    "anonymous",
    *(f"ablate_{s}" for s in ("chair", "welfare", "rights", "equity", "security")),
)
WORDS = 24
"""Words of an argument, as the option model=tiny has it."""

WINDOWS, WINDOW_SHARES = (1, 3, 5, 15), (0.1, 0.1, 0.4, 0.4)
ROLE_SHARES = (0.5, 0.2, 0.15, *([0.03] * 5))


@dataclass(frozen=True)
class Example:
    """An answer to learn: what stands before it, cut as inference cuts it, and the answer."""

    kind: str
    prefix: str
    rest: str
    answer: str


@functools.cache
def condition(roles: str, protocol: str = "deliberation") -> CommitteeCondition:
    """The tiny model's committee, composed by Hydra as for a run."""
    with initialize_config_dir(str(project_root() / "conf"), version_base="1.3"):
        # Simulated, so that composing asks for no weights that are still to be trained.
        overrides = [f"roles={roles}", f"protocol={protocol}", "model=uniform"]
        overrides += [f"protocol.argument_words={WORDS}"]
        return require_committee(
            parse_job(compose("config", [*overrides, "tracking=none"])).condition
        )


@functools.cache
def ids() -> tuple[str, ...]:
    """The ids of the scenarios, in order."""
    return tuple(sorted(p.stem for p in resolve_path("scenarios").glob("*.yaml")))


@functools.cache
def scenario(scenario_id: str) -> Scenario:
    """A scenario by its id."""
    return scenarios.load_scenario(resolve_path(f"scenarios/{scenario_id}.yaml"))


@functools.cache
def ways(scenario_id: str) -> tuple[tuple[str, ...], ...]:
    """Each sentence of a scenario with all its wordings."""
    folder, loaded = resolve_path("scenarios/variants"), scenario(scenario_id)
    file = scenarios.wordings_file(folder, loaded, "rephrase")
    wordings = scenarios.read_wordings(file, loaded)
    return tuple(
        (text, *rewordings.values())
        for text, rewordings in zip(wordings.sentences, wordings.ways, strict=True)
    )


@functools.cache
def fixed(scenario_id: str) -> tuple[Variant, ...]:
    """The canonical wording, the nine layouts, and the registers where there are any."""
    folder, loaded = resolve_path("scenarios/variants"), scenario(scenario_id)
    families = ["canonical", "format"]
    if scenarios.wordings_file(folder, loaded, "register").exists():
        families.append("register")
    return scenarios.load_variants("tiny model", tuple(families), loaded, folder)


def wording(scenario_id: str, rng: np.random.Generator) -> Variant:
    """A wording of a scenario: one of the fixed ones, or any combination of its sentences' ways."""
    if rng.random() < 0.5:
        return fixed(scenario_id)[int(rng.integers(len(fixed(scenario_id))))]
    texts = [options[int(rng.integers(len(options)))] for options in ways(scenario_id)]
    return Variant(
        "combined", "rephrase", scenarios.replace_sentences(scenario(scenario_id), texts).packet
    )


def variants20(scenario_id: str) -> tuple[Variant, ...]:
    """The wordings that ``perturbation=variants20`` reads."""
    folder, loaded = resolve_path("scenarios/variants"), scenario(scenario_id)
    families = ("canonical", "rephrase", "format")
    return scenarios.load_variants("variants20", families, loaded, folder)


def reworded(base: CommitteeCondition, scenario_id: str, variant: Variant) -> CommitteeCondition:
    """A condition on a scenario, in one wording."""
    return dataclasses.replace(base, scenario=scenario(scenario_id), variants=(variant,))


SHORT_ROUNDS, FULL_ROUNDS = (0.1, 0.2, 0.4, 0.3, 0), (0.06, 0.12, 0.27, 0.3, 0.25)
MORE = ("CL-04-five",)
"""Scenarios that are read twice as often, since more options take longer to learn."""

SHORT = (
    "A committee of $members members. At most $argument_words words. $state_format\n"
    "The preferences stand for $labels in this order."
)


def abridged(scenario_id: str) -> Variant:
    """A packet of little but the options, for the first steps of training."""
    known = scenario(scenario_id)
    options = "\n".join(f"{o.label}. {o.name}" for o in known.options)
    place = views()[scenario_id].place
    return Variant("abridged", "abridged", f"{known.id}: {known.title} ({place})\n\n{options}")


def answers(seed: int, number: int, size: int) -> list[Example]:
    """Turns without their prompts, over all scenarios and seats, for the very first steps."""
    rng = make_generator("tiny model", seed, "answers", number)
    return [_answer(rng) for _ in range(size)]


def _answer(rng: np.random.Generator) -> Example:
    scenario_id = ids()[int(rng.integers(len(ids())))]
    seats = condition("on" if rng.random() < 0.7 else "off").seats
    seat = seats[int(rng.integers(len(seats)))]
    labels = scenario(scenario_id).labels
    prompt = Prompt(
        view=views()[scenario_id],
        labels=labels,
        mandate=next(
            (s for s in teacher.TAGS if s and s == seat.name.lower() and seat.mandate), ""
        ),
        me=seat.label,
        window=(),
        table={},
        task="turn",
        rejected=None,
    )
    answer = teacher.turn(prompt, teacher.stranger(labels, rng), rng)
    return Example("turn", "", f"{START}assistant\n", answer)


def talks(seed: int, number: int, size: int) -> list[Example]:
    """Discussions of two to five seats as a window quotes them, for the first steps."""
    rng = make_generator("tiny model", seed, "talks", number)
    return [_talk(rng) for _ in range(size)]


def _talk(rng: np.random.Generator) -> Example:
    scenario_id = ids()[int(rng.integers(len(ids())))]
    committee = _few(
        condition("on" if rng.random() < 0.6 else "off"), 2 + int(rng.integers(4)), rng
    )
    committee = reworded(committee, scenario_id, abridged(scenario_id))
    rounds = -(-15 // len(committee.seats))
    held = dataclasses.replace(
        committee, protocol=Protocol(15, WORDS), rounds=rounds, seed=int(rng.integers(1 << 30))
    )
    *_, last = deliberation(held, held.seats[0], rng)
    head, _, after = last.rest.partition("## Recent arguments\n")
    return Example("talk", "", f"{head}## Recent arguments\n", after.partition("\n\n")[0])


def _few(base: CommitteeCondition, size: int, rng: np.random.Generator) -> CommitteeCondition:
    """A condition with only some of its seats."""
    chosen = sorted(int(i) for i in rng.permutation(len(base.seats))[:size])
    return dataclasses.replace(base, seats=tuple(base.seats[i] for i in chosen))


def with_rounds(held: CommitteeCondition, rounds: int, seed: int) -> CommitteeCondition:
    """A condition of another length and seed."""
    return dataclasses.replace(held, rounds=rounds, seed=seed)


def group(seed: int, number: int, size: int, stage: str = "full") -> list[Example]:
    """Examples of one seat on one wording; equal arguments give equal examples.

    The stage ``full`` is the real protocol. For the steps before, ``short`` has a preamble and a
    packet of a few words, and ``few`` also a committee of two or three.
    """
    short = stage != "full"
    rng = make_generator("tiny model", seed, "group", number)
    scenario_id = (*ids(), *MORE)[number % (len(ids()) + len(MORE))]
    variant = abridged(scenario_id) if short else wording(scenario_id, rng)
    protocol = "deliberation" if rng.random() < 0.92 else "one_shot"
    base = condition(ROLES[int(rng.choice(len(ROLES), p=ROLE_SHARES))], protocol)
    if short:
        base = dataclasses.replace(base, preamble=SHORT)
    if stage == "few":
        base = _few(base, 2 + int(rng.integers(2)), rng)
    window = WINDOWS[int(rng.choice(len(WINDOWS), p=WINDOW_SHARES))]
    window = 15 if stage == "few" else window
    words = WORDS if rng.random() < 0.8 else int(rng.choice((40, 60, 110)))
    settings = Protocol(window, words, base.protocol.interaction)
    committee = dataclasses.replace(reworded(base, scenario_id, variant), protocol=settings)
    seat = committee.seats[int(rng.integers(len(committee.seats)))]
    examples: list[Example] = []
    while len(examples) < size:
        rounds = 1 + int(rng.choice(5, p=SHORT_ROUNDS if short else FULL_ROUNDS))
        held = with_rounds(committee, rounds, int(rng.integers(1 << 30)))
        examples += deliberation(held, seat, rng)
    return examples[:size]


def clerks(seed: int, number: int, size: int) -> list[Example]:
    """Clerk's prompts over ballots of every kind, and now and then a repair of one."""
    rng = make_generator("tiny model", seed, "clerk", number)
    return [_clerk(rng) for _ in range(size)]


def deliberation(
    held: CommitteeCondition, seat: Seat, rng: np.random.Generator
) -> Iterator[Example]:
    """Hold a deliberation; its calls to one seat, with the teacher's answers.

    Now and then the first round is spoken by strangers, so that any state of the table is met, and
    an answer is spoilt, so that its repair is.
    """
    run = Deliberation(held, 0)
    strange, spoilt = rng.random() < 0.6, 0.12 if rng.random() < 0.5 else 0.0
    while (ask := run.ask) is not None and ask.kind != "clerk":
        foreign = strange and ask.kind == "turn" and ask.round == 1
        if foreign:
            prompt = read(ask.chat.messages)
            answer = teacher.turn(prompt, teacher.stranger(prompt.labels, rng), rng)
        else:
            answer = teacher.answer(ask.kind, ask.chat.messages, rng)
        if ask.seat == seat.name and not foreign:
            yield Example(ask.kind, *split(ask.chat.messages), answer)
        if not ask.kind.endswith("repair") and ask.seat == seat.name and rng.random() < spoilt:
            answer = spoil(answer, ask.kind, rng)
        run.answer(Reply(answer, 0, 0))


def spoil(answer: str, kind: str, rng: np.random.Generator) -> str:
    """An answer as a model might get it wrong."""
    if kind != "turn":
        wrong = (
            answer.replace('"', "'"),
            answer[:-1],
            "I vote " + answer,
            answer.replace("conf", "Conf"),
        )
        return teacher._pick(wrong, rng)
    argument, _, line = answer.rpartition("\n")
    first = line.partition("[")[2][:4]
    broken = (
        argument,
        answer.replace(first, f"{(round(float(first) * 20) + 2) / 20:.2f}", 1),
        answer.replace(first, f"{abs(round(float(first) * 20) - 1) / 20:.2f}", 1),
        answer.replace('","', "_", 1),
        f"{answer}\n{line}",
        answer.replace("STATE: ", "STATE "),
        answer[: int(rng.integers(len(argument) + 8, len(answer) - 1))],
    )
    return teacher._pick(broken, rng)


def _clerk(rng: np.random.Generator) -> Example:
    labels = tuple("ABCDE" if rng.random() < 0.15 else "ABC")
    seats = 5 if rng.random() < 0.9 else int(rng.integers(3, 8))
    shares = rng.dirichlet(np.full(len(labels), 0.7))
    votes = [
        {"decision": labels[int(chosen)], "confidence": 5 * int(rng.integers(5, 20))}
        for chosen in rng.choice(len(labels), seats, p=shares)
    ]
    messages = prompts.clerk_prompt(votes, labels)
    answer = teacher.count(messages[1].content)
    if rng.random() < 0.9:
        return Example("clerk", *split(messages), answer)
    wrong, problem = spoil(answer, "clerk", rng), "no JSON object"
    repair = prompts.repair_json_prompt(problem, ballots.clerk_form(labels))
    return Example("clerk_repair", *split((*messages, Message("assistant", wrong), repair)), answer)


def texts(seed: int) -> Iterator[str]:
    """What the tokenizer is learnt from: every wording, and whole prompts with their answers."""
    for scenario_id in ids():
        yield from (variant.packet for variant in fixed(scenario_id))
        yield from (way for wordings in ways(scenario_id) for way in wordings)
    for number in range(150):
        examples = group(seed + 1, number, 6)
        yield examples[0].prefix
        yield from (example.rest + example.answer for example in examples)
    yield from (e.rest + e.answer for e in clerks(seed + 1, 0, 40))
