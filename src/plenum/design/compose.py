"""From a composed config to a job: typed and validated, every refusal in one line."""

from collections.abc import Sequence
from functools import cache
from typing import Any

import yaml
from omegaconf import DictConfig
from omegaconf._utils import get_omega_conf_dumper

from plenum.base.errors import UserError
from plenum.base.project import candidate_paths, resolve_path, user_folder
from plenum.base.regular_files import read_text
from plenum.design import conflicts, kinds, schema
from plenum.design.backend_extensions import BACKENDS
from plenum.design.executor_choice import list_sweep_settings
from plenum.design.job import Job
from plenum.design.ranges import require
from plenum.design.schema import Config
from plenum.design.settings import Api, Backend, ModelConfig, Protocol, Sampling, Simulated


def parse_job(cfg: DictConfig) -> Job:
    """Validate a composed config and build the job that it describes.

    Raises
    ------
    UserError
        A value is missing, of the wrong type, out of range or unknown.
    """
    given = schema.resolve_config(cfg)
    typed = schema.type_config(given)
    conflicts.check_settings(typed)
    return Job(
        condition=kinds.of_task(typed.task.name).compose(typed),
        study=typed.study,
        replicates=_replicates(typed),
        calls=typed.calls,
        budget=typed.budget,
        prices=typed.prices,
        tracking_uri=typed.tracking.uri,
        journals=typed.journals,
        dry_run=typed.dry_run,
        retry_failed=typed.retry_failed,
        config=format_yaml(given),
        traces=typed.tracking.traces,
        replicate_runs=typed.tracking.replicates,
        more={key: getattr(typed, key) for key in list_sweep_settings()},
    )


def format_yaml(data: object) -> str:
    """Write plain data as :meth:`OmegaConf.to_yaml` does, in a quarter of the time."""
    return yaml.dump(data, Dumper=_dumper(), allow_unicode=True, sort_keys=False)


@cache
def _dumper() -> type[Any]:
    """OmegaConf's dumper, which quotes strings that read as numbers."""
    plain = get_omega_conf_dumper()
    quick = getattr(yaml, "CDumper", None)  # not every PyYAML comes with libyaml
    if quick is None:
        return plain
    return type("Dumper", (quick,), {"yaml_representers": plain.yaml_representers})


def _replicates(typed: Config) -> int:
    """Of a branching condition: continuations of all bases."""
    if typed.branch.after_round is None:
        return typed.replicates
    return typed.branch.bases * typed.branch.continuations


def complete_backend(
    backend: Backend, models: Sequence[str], model: ModelConfig
) -> tuple[Backend, tuple[tuple[str, str], ...]]:
    """Return the backend as these models need it, and the digests of hosted ones in folders.

    Parameters
    ----------
    models
        The models that the condition calls.
    model
        What they were chosen by.

    Raises
    ------
    UserError
        A model or its number format doesn't go with the backend, or a folder holds no checkpoint.
    """
    _refuse_misnamed(model.name, models, backend)
    if backend.name not in BACKENDS:
        return backend, ()
    extension = BACKENDS[backend.name]
    return extension.complete(backend, model), extension.digests(models)


def _refuse_misnamed(name: str, models: Sequence[str], backend: Backend) -> None:
    """Refuse the model tiny at a provider, and the options tiny and smollm2 with other models.

    They bring lengths of answers and a name that another model would be taken for.

    A provider has no such model. What an endpoint of one's own serves may be called so.
    """
    if isinstance(backend, Api):
        require(
            "tiny" not in models,
            "model: tiny is the model of this package, and runs with backend=hosted; for backend="
            "api name what the endpoint serves, as in model.default=openai/my-model",
        )
        return
    others = [model for model in models if model != name]
    if name in ("tiny", "smollm2") and others:
        raise UserError(
            f"model.name: {name}, but a seat or the clerk has {others[0]}; give the model a name "
            f"of its own and its lengths: model.name=NAME protocol.argument_words="
            f"{Protocol().argument_words} sampling.max_tokens={Sampling().max_tokens}"
        )


def choose_reading(protocol: Protocol, backend: Backend) -> str:
    """Choose how answers are read: those of simulated agents always have the prescribed form."""
    return "strict" if isinstance(backend, Simulated) else protocol.reading


def role_text(key: str, folder: str, role: str) -> str:
    """Return the text of a role in a folder of prompts; ``key`` names it in a refusal.

    Raises
    ------
    UserError
        The folder holds no such role, or its file can't be read.
    """
    texts = (text for place in candidate_paths(folder) for text in place.glob("*.txt"))
    known = sorted({text.stem for text in texts} - {"preamble"})
    names = ", ".join(known) or "none"
    own = "" if user_folder() else "; roles of your own: --config-dir FOLDER"
    require(role in known, f"{key}: unknown role {role!r}; {folder} holds {names}{own}")
    return prompt_text(key, f"{folder}/{role}.txt")


def prompt_text(key: str, file: str) -> str:
    """Return the text of a file of the project; ``key`` names it in a refusal."""
    try:
        return read_text(resolve_path(file)).strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{key}: {file} can't be read as a UTF-8 text: {error}") from None
