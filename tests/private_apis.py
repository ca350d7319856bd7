"""What plenum uses of Hydra, MLflow, Ray and LiteLLM beyond what these document, and why.

A release of theirs may change it without a word. `tests/test_private_apis.py` says of an upgrade
which of it is gone, and refuses any use that isn't listed here: use a documented way, or add the
reason in a commit of its own.
"""

DOCUMENTED = (
    "hydra",
    "hydra.core.config_search_path",
    "hydra.core.config_store",
    "hydra.core.global_hydra",
    "hydra.core.hydra_config",
    "hydra.core.object_type",
    "hydra.core.utils",
    "hydra.errors",
    "hydra.experimental.callback",
    "hydra.plugins.config_source",
    "hydra.plugins.launcher",
    "hydra.plugins.search_path_plugin",
    "hydra.types",
    "litellm",
    "litellm.exceptions",
    "mlflow",
    "mlflow.entities",
    "mlflow.exceptions",
    "omegaconf",
    "omegaconf.errors",
    "ray",
    "ray.exceptions",
)
"""Modules that their documentation, or an example in it of a plugin, imports from."""

_MIGRATIONS = "what `mlflow db upgrade` calls; the command itself can't hold our locks meanwhile"
_TRACES = "public ones choose ids and times of their own, so that writing again would add a trace"
_OVERRIDES = "an error in an override is told in one line that names the key and what is allowed"
_NODES = "a value with an interpolation is read as it is written, without resolving it"
_BOUND = "LiteLLM reads answers of any length; it gives each body through this class"

PRIVATE = {
    "hydra._internal.core_plugins.basic_sweeper:BasicSweeper": (
        "the sweeper is Hydra's own but for one check, which the launcher makes; else all is copied"
    ),
    "hydra._internal.core_plugins.basic_sweeper:BasicSweeperConf": "the settings of that sweeper",
    "hydra._internal.utils:get_args_parser": "an unknown flag, and --config-dir, ahead of Hydra",
    "argparse:ArgumentParser._actions": "the flags of Hydra's parser, to name a similar one",
    "hydra.core.override_parser.overrides_parser:OverridesParser": _OVERRIDES,
    "hydra.core.override_parser.types:Override": _OVERRIDES,
    "hydra.core.override_parser.types:Transformer": _OVERRIDES,
    "hydra.core.override_parser.types:ValueType": _OVERRIDES,
    "omegaconf:DictConfig._get_node": _NODES,
    "omegaconf._utils:get_omega_conf_dumper": "configs are written by libyaml, 8 times as fast",
    "mlflow.store.db.utils": _MIGRATIONS,
    "mlflow.store.db.utils:_get_latest_schema_revision": _MIGRATIONS,
    "mlflow.store.db.utils:_initialize_tables": _MIGRATIONS,
    "mlflow.store.db.utils:_upgrade_db": _MIGRATIONS,
    "mlflow.store.db.base_sql_model:Base": "the names of MLflow's tables: is a file only MLflow's?",
    "mlflow:MlflowClient._tracing_client": _TRACES,
    "mlflow.entities.trace_location:TraceLocation": _TRACES,
    "mlflow.tracking._tracking_service.utils:_SERVER_ARTIFACT_ROOT_ENV_VAR": (
        "the place of MLflow's first experiment in a folder whose name SQL would misread"
    ),
    "ray._private.worker": "Ray prints a paragraph for every worker that dies, with no setting",
    "litellm.llms.custom_httpx.aiohttp_transport": _BOUND,
    "litellm.llms.custom_httpx.aiohttp_transport:AiohttpResponseStream._aiohttp_response": _BOUND,
    "pickle:_Pickler": "the pickler in C remembers equal texts, which Python may share",
    "litellm.types.utils:all_litellm_params": "a field of a request of such a name would be kept",
    "litellm.utils": "the settings that a model takes: the documented list doesn't map them",
}
"""Modules, ``module:name``, and ``module:class.attribute``, with the reason for each."""
