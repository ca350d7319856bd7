from .backend_extensions import BACKENDS as BACKENDS
from .backend_extensions import BackendExtension as BackendExtension
from .compose import choose_reading as choose_reading
from .compose import complete_backend as complete_backend
from .compose import format_yaml as format_yaml
from .compose import parse_job as parse_job
from .compose import prompt_text as prompt_text
from .compose import role_text as role_text
from .condition import Condition as Condition
from .condition import format_value as format_value
from .condition import list_changed_settings as list_changed_settings
from .condition import temperature_label as temperature_label
from .condition_names import list_numbers as list_numbers
from .condition_names import name_conditions as name_conditions
from .condition_names import shorten_settings as shorten_settings
from .condition_names import tell_apart as tell_apart
from .conflicts import check_settings as check_settings
from .factors import FACTORS as FACTORS
from .factors import USUAL as USUAL
from .factors import list_unusual as list_unusual
from .factors import list_varying as list_varying
from .job import ALL as ALL
from .job import Job as Job
from .job import RetryFailed as RetryFailed
from .kinds import KINDS as KINDS
from .kinds import Kind as Kind
from .kinds import find_kind as find_kind
from .overrides import check_flags as check_flags
from .overrides import check_meant as check_meant
from .overrides import sort_flags_first as sort_flags_first
from .overrides import take_own_folder as take_own_folder
from .ranges import Agents as Agents
from .ranges import Count as Count
from .ranges import Float as Float
from .ranges import GivenByCode as GivenByCode
from .ranges import Int as Int
from .ranges import NotNegative as NotNegative
from .ranges import Positive as Positive
from .ranges import Probability as Probability
from .ranges import Seed as Seed
from .ranges import StrictSettings as StrictSettings
from .ranges import StudyName as StudyName
from .ranges import Text as Text
from .ranges import WebUrl as WebUrl
from .ranges import Whole as Whole
from .ranges import is_study as is_study
from .ranges import match_rule as match_rule
from .ranges import refuse_unused as refuse_unused
from .ranges import require as require
from .ranges import require_one_of as require_one_of
from .schema import SWEEP_SETTINGS as SWEEP_SETTINGS
from .schema import Config as Config
from .schema import Journals as Journals
from .schema import RolesConfig as RolesConfig
from .schema import ScenarioConfig as ScenarioConfig
from .schema import StudyConfig as StudyConfig
from .schema import SweepSettings as SweepSettings
from .schema import TaskConfig as TaskConfig
from .schema import resolve_config as resolve_config
from .schema import type_config as type_config
from .scripts import Script as Script
from .settings import Api as Api
from .settings import Backend as Backend
from .settings import Branch as Branch
from .settings import Budget as Budget
from .settings import Calls as Calls
from .settings import ModelConfig as ModelConfig
from .settings import Protocol as Protocol
from .settings import Sampling as Sampling
from .settings import Simulated as Simulated
from .settings import StatedPrice as StatedPrice
from .slips import explain as explain
from .validation import drop_settings as drop_settings
from .validation import make_plain as make_plain
from .validation import read_settings as read_settings
from .validation import validate as validate

__all__ = [
    "ALL",
    "BACKENDS",
    "FACTORS",
    "KINDS",
    "SWEEP_SETTINGS",
    "USUAL",
    "Agents",
    "Api",
    "Backend",
    "BackendExtension",
    "Branch",
    "Budget",
    "Calls",
    "Condition",
    "Config",
    "Count",
    "Float",
    "GivenByCode",
    "Int",
    "Job",
    "Journals",
    "Kind",
    "ModelConfig",
    "NotNegative",
    "Positive",
    "Probability",
    "Protocol",
    "RetryFailed",
    "RolesConfig",
    "Sampling",
    "ScenarioConfig",
    "Script",
    "Seed",
    "Simulated",
    "StatedPrice",
    "StrictSettings",
    "StudyConfig",
    "StudyName",
    "SweepSettings",
    "TaskConfig",
    "Text",
    "WebUrl",
    "Whole",
    "check_flags",
    "check_meant",
    "check_settings",
    "choose_reading",
    "complete_backend",
    "drop_settings",
    "explain",
    "find_kind",
    "format_value",
    "format_yaml",
    "is_study",
    "list_changed_settings",
    "list_numbers",
    "list_unusual",
    "list_varying",
    "make_plain",
    "match_rule",
    "name_conditions",
    "parse_job",
    "prompt_text",
    "read_settings",
    "refuse_unused",
    "require",
    "require_one_of",
    "resolve_config",
    "role_text",
    "shorten_settings",
    "sort_flags_first",
    "take_own_folder",
    "tell_apart",
    "temperature_label",
    "type_config",
    "validate",
]
