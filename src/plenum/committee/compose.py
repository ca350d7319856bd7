"""Conversion of a typed config to a committee's condition; every refusal is one line."""

import re

from plenum.base.errors import UserError
from plenum.base.project import resolve_path
from plenum.committee import ballots, frame, moderator
from plenum.committee.condition import CommitteeCondition, Seat
from plenum.committee.facts import give_facts, require_facts
from plenum.committee.frame_files import load_frame
from plenum.committee.parts import require_sentences
from plenum.committee.placebo import load_placebo
from plenum.committee.scripted import require_majority
from plenum.design.compose import choose_reading, complete_backend, prompt_text, role_text
from plenum.design.kinds import KINDS
from plenum.design.ranges import require
from plenum.design.schema import Config, RolesConfig
from plenum.design.settings import Branch, ModelConfig
from plenum.scenarios.perturbations import load_variants
from plenum.scenarios.scenario import Scenario, load_scenario
from plenum.scenarios.variant import Variant


def compose_condition(typed: Config) -> CommitteeCondition:
    """Make the condition of a config without a task.

    Raises
    ------
    UserError
        A value is unknown, out of range, or for another kind of study.
    """
    _refuse_groups_of_others(typed)
    scenario = load_scenario(resolve_path(typed.scenario.file))
    require(
        scenario.id == typed.scenario.id,
        f"scenario.file: {typed.scenario.file} holds {scenario.id}, not {typed.scenario.id}",
    )
    ballots.RULES[typed.protocol.decision]  # refuses one that doesn't exist
    exchange = typed.protocol.exchange
    alone = {"none": "_alone", "reflection": "_reflection"}.get(exchange, "")
    texts = typed.prompts
    chosen = load_frame(texts.folder, texts.answers)
    held = ""
    if typed.protocol.answers == "constrained":
        if chosen != frame.PLENUM:
            raise UserError(
                f"protocol.answers: constrained, but the prompts {texts.name} ask for answers of "
                "their own form; use prompts=plenum, or answers=free"
            )
        chosen, held = frame.CONSTRAINED, "_constrained"
    require_sentences(typed.protocol, chosen, texts.name)
    preamble = prompt_text("preamble", f"{texts.folder}/preamble{alone}{held}.txt")
    mandates = f"{texts.folder}/mandates"
    seats, clerk = _seats(typed.roles, typed.model, mandates), _clerk(typed.model)
    require_majority(typed.protocol, scenario, len(seats))
    if scenario.private or typed.protocol.facts == "all":
        require_facts(scenario, chosen, texts.name)
        seats = give_facts(seats, scenario, typed.protocol.facts == "all")
    models = [*(seat.model for seat in seats), clerk]
    if typed.protocol.moderator == "summary":
        taken = any(moderator.LABEL in (seat.name, seat.label) for seat in seats)
        require(not taken, "roles.seats: Moderator is the one that protocol.moderator adds")
    backend, weights = complete_backend(typed.backend, models, typed.model)
    return CommitteeCondition(
        scenario=scenario,
        roles=typed.roles.name,
        model=typed.model.name,
        preamble=preamble,
        seats=seats,
        clerk=clerk,
        protocol=typed.protocol,
        sampling=typed.sampling,
        backend=backend,
        rounds=typed.rounds,
        seed=typed.seed,
        branch=_branch(typed),
        perturbation=typed.perturbation.name,
        variants=_variants(typed, scenario),
        prompts=texts.name,
        frame=chosen,
        placebo=load_placebo(scenario) if exchange == "placebo" else (),
        resized=len(seats) != len(typed.roles.seats),
        weights=weights,
        rerun=typed.rerun,
        # the papers' parser is strict, and so is ours of their form of answers
        reading=choose_reading(typed.protocol, backend) if texts.answers == "short" else "strict",
    )


def _refuse_groups_of_others(typed: Config) -> None:
    """Refuse options that only another kind uses, since they would change nothing."""
    usual = type(typed)()
    for kind in KINDS.values():
        for key in kind.groups:
            name, tasks = getattr(typed, key).name, ", ".join(kind.list_tasks())
            fits = name == getattr(usual, key).name
            require(fits, f"{key}: {name} is for {kind.plural}; add task={tasks}")


def _branch(typed: Config) -> Branch | None:
    branch = typed.branch
    if branch.after_round is None:
        return None
    return Branch(branch.bases, branch.after_round, branch.continuations)


def _variants(typed: Config, scenario: Scenario) -> tuple[Variant, ...]:
    """Load the wordings of a scenario; those of a whole packet are in a folder next to it."""
    perturbation = typed.perturbation
    if not perturbation.families:
        require(
            perturbation.name == "none",
            f"perturbation.families: empty; {perturbation.name} needs at least one family",
        )
        return ()
    beside = resolve_path(typed.scenario.file).parent / "variants"
    folder = beside if scenario.wording else resolve_path("scenarios/variants")
    return load_variants(perturbation.name, tuple(perturbation.families), scenario, folder)


def _seats(roles: RolesConfig, model: ModelConfig, mandates: str) -> tuple[Seat, ...]:
    names = _names(roles)
    for name in model.seats:
        require(
            name in names or name in roles.seats,
            f"model.seats.{name}: no such seat; the seats are {', '.join(roles.seats)}",
        )
    seats = []
    for number, (name, listed) in enumerate(names.items(), start=1):
        require(
            # 40, since names stand in every row of the table and before every argument.
            bool(re.fullmatch(r"[^\W\d_][\w -]{0,39}", name)),
            f"roles.seats: {name!r}; a seat's name begins with a letter of any language, and has "
            "up to 40 letters, digits, spaces, '_' and '-'",
        )
        # The seat's own model first, then that of the listed seat that it copies.
        model_id = model.seats.get(name) or model.seats.get(listed) or model.default
        if not model_id:
            raise UserError(
                f"model.seats.{name}: the seat {name} has no model; "
                f"set model.seats.{name} or model.default"
            )
        label = f"Member {number}" if roles.neutral_labels else name
        role = roles.seats[listed]
        mandate = role_text(f"roles.seats.{listed}", mandates, role) if role else ""
        seats.append(Seat(name, label, mandate, model_id))
    return tuple(seats)


def _names(roles: RolesConfig) -> dict[str, str]:
    """Map each seat, in order, to the listed seat whose mandate and model it has.

    If the size differs from the list, the committee has the first seat once and the others in turn,
    numbered from the second of a name on, as in the papers' released files.
    """
    require(bool(roles.seats), "roles.seats: empty; name at least one seat")
    first, *others = roles.seats
    size = len(roles.seats) if roles.agents is None else roles.agents
    require(
        size == 1 or bool(others), f"roles.agents: {size}; roles.seats lists {first} alone, once"
    )
    names = {first: first}
    for index in range(size - 1):
        # The first seat isn't copied; the others are in turn, and copies are numbered from 2.
        again, place = divmod(index, len(others))
        names[f"{others[place]}{again + 1 if again else ''}"] = others[place]
    require(len(names) == size, f"roles.agents: {size}; a listed seat is named as a copy would be")
    return names


def _clerk(model: ModelConfig) -> str:
    model_id = model.clerk or model.default
    if not model_id:
        raise UserError("model.clerk: the clerk has no model; set model.clerk or model.default")
    return model_id
