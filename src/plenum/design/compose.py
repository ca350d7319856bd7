"""From a composed config to a job: typed and validated, every refusal in one line."""

import dataclasses
import re
from collections.abc import Sequence

from omegaconf import DictConfig, OmegaConf

from plenum import scenarios
from plenum.base import project
from plenum.base.errors import UserError
from plenum.design import checkpoints, schema, validation, world_compose
from plenum.design.condition import (
    Api,
    Branch,
    Condition,
    Hosted,
    Job,
    Seat,
    Simulated,
    StatedPrice,
)
from plenum.design.schema import Config, ModelConfig, PerturbationConfig, RolesConfig
from plenum.design.validation import DTYPES, OBJECTIVES, at_least, is_study, one_of, require
from plenum.design.world_condition import AGENTS, WorldCondition
from plenum.scenarios import perturbations


def parse_job(cfg: DictConfig) -> Job:
    """Validate a composed config and build the job it describes.

    Raises
    ------
    UserError
        A value is missing, of the wrong type, out of range or unknown.
    """
    typed = schema.typed(cfg)
    require(typed.study != "Default", "study: 'Default' is MLflow's own; choose another")
    require(is_study(typed.study), f"study: {typed.study!r}; use letters, digits, '.', '_' and '-'")
    for key, least in (("rounds", 1), ("replicates", 1), ("seed", 0), ("rerun", 0)):
        at_least(key, getattr(typed, key), least)
    validation.check(typed)
    return Job(
        condition=_condition(typed),
        study=typed.study,
        replicates=_replicates(typed),
        calls=typed.calls,
        budget=typed.budget,
        prices={model: StatedPrice(**vars(price)) for model, price in typed.prices.items()},
        tracking_uri=typed.tracking.uri,
        journals=typed.journals,
        dry_run=typed.dry_run,
        retry_failed=typed.retry_failed,
        config=OmegaConf.to_yaml(cfg, resolve=True),
        traces=typed.tracking.traces,
        objective=typed.objective,
    )


def _replicates(typed: Config) -> int:
    """Of a branching condition: continuations of all bases."""
    if typed.branch.after_round is None:
        return typed.replicates
    return typed.branch.bases * typed.branch.continuations


def _branch(typed: Config) -> Branch | None:
    branch = typed.branch
    if branch.after_round is None:
        return None
    return Branch(branch.bases, branch.after_round, branch.continuations)


def _condition(typed: Config) -> Condition | WorldCondition:
    if typed.task.name != "none":
        world_compose.check(typed)
        asked = (
            [agent.model for agent in world_compose.agents(typed)]
            if typed.task.policy == AGENTS
            else []
        )
        return world_compose.world_condition(typed, *_hosted(typed, asked))
    world_compose.refuse_without_task(typed)
    one_of("objective", typed.objective, OBJECTIVES)
    scenario = scenarios.load(project.resolve(typed.scenario.file))
    require(
        scenario.id == typed.scenario.id,
        f"scenario.file: {typed.scenario.file} holds {scenario.id}, not {typed.scenario.id}",
    )
    alone = "" if typed.protocol.interaction else "_alone"
    preamble = _text("preamble", f"conf/prompts/preamble{alone}.txt")
    seats, clerk = _seats(typed.roles, typed.model), _clerk(typed.model)
    backend, weights = _hosted(typed, [*(seat.model for seat in seats), clerk])
    return Condition(
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
        variants=_variants(typed.perturbation, scenario),
        weights=weights,
        rerun=typed.rerun,
    )


def _hosted(
    typed: Config, models: Sequence[str]
) -> tuple[Simulated | Api | Hosted, tuple[tuple[str, str], ...]]:
    """The backend with its number format, and the digests of hosted models in folders."""
    backend = typed.backend
    _refuse_misnamed(typed.model.name, models, backend)
    if not isinstance(backend, Hosted):
        return backend, ()
    return (
        dataclasses.replace(backend, dtype=_dtype(backend, typed.model)),
        checkpoints.digests(models),
    )


def _variants(
    perturbation: PerturbationConfig, scenario: scenarios.Scenario
) -> tuple[perturbations.Variant, ...]:
    if not perturbation.families:
        require(
            perturbation.name == "none",
            f"perturbation.families: empty; {perturbation.name} needs at least one family",
        )
        return ()
    folder = project.resolve("scenarios/variants")
    return perturbations.load(perturbation.name, tuple(perturbation.families), scenario, folder)


def _dtype(backend: Hosted, model: ModelConfig) -> str:
    """The backend's, else the model's, else single precision."""
    chosen = backend.dtype if backend.dtype != "auto" else model.dtype or "float32"
    require(chosen in DTYPES[1:], f"model.dtype: {chosen!r} is not one of {', '.join(DTYPES[1:])}")
    return chosen


def _seats(roles: RolesConfig, model: ModelConfig) -> tuple[Seat, ...]:
    require(bool(roles.seats), "roles.seats: empty; name at least one seat")
    for name in model.seats:
        require(
            name in roles.seats,
            f"model.seats.{name}: no such seat; the seats are {', '.join(roles.seats)}",
        )
    seats = []
    for number, (name, role) in enumerate(roles.seats.items(), start=1):
        require(
            bool(re.fullmatch(r"[A-Za-z][A-Za-z0-9 _-]{0,39}", name)),
            f"roles.seats: {name!r}; a seat is named by letters, digits, spaces, '_' and '-'",
        )
        chosen = model.seats.get(name) or model.default
        if not chosen:
            raise UserError(
                f"model.seats.{name}: the seat {name} has no model; "
                f"set model.seats.{name} or model.default"
            )
        label = f"Member {number}" if roles.neutral_labels else name
        seats.append(Seat(name, label, _mandate(name, role), chosen))
    return tuple(seats)


def _clerk(model: ModelConfig) -> str:
    chosen = model.clerk or model.default
    if not chosen:
        raise UserError("model.clerk: the clerk has no model; set model.clerk or model.default")
    return chosen


def _refuse_misnamed(name: str, models: Sequence[str], backend: Simulated | Api | Hosted) -> None:
    """The option tiny brings short answers and a name that another model would be taken for.

    A provider has no such model. What an endpoint of one's own serves may be called so.
    """
    if isinstance(backend, Api):
        require(
            "tiny" not in models,
            "model: tiny is the model of this package, and runs with backend=hosted; for backend="
            "api name what the endpoint serves, as in model.default=openai/my-model",
        )
        return
    others = [model for model in models if model != "tiny"]
    if name == "tiny" and others:
        raise UserError(
            f"model.name: tiny, but a seat or the clerk has {others[0]}; give the model a name of "
            "its own and its lengths: model.name=NAME protocol.argument_words=110 "
            "sampling.max_tokens=400"
        )


def _mandate(seat: str, role: str) -> str:
    if not role:
        return ""
    folder = project.prompts() / "mandates"
    known = sorted(path.stem for path in folder.glob("*.txt"))
    if role not in known:
        raise UserError(
            f"roles.seats.{seat}: unknown role {role!r}; "
            f"conf/prompts/mandates holds {', '.join(known) or 'none'}"
        )
    return _text(f"roles.seats.{seat}", f"conf/prompts/mandates/{role}.txt")


def _text(key: str, file: str) -> str:
    try:
        return project.resolve(file).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{key}: {file} can't be read as a UTF-8 text: {error}") from None
