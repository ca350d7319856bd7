from .packet_words import split_words as split_words
from .packet_words import strip_list_marks as strip_list_marks
from .packets import check_packets as check_packets
from .perturbations import VariantSurvey as VariantSurvey
from .perturbations import load_variants as load_variants
from .perturbations import survey_variants as survey_variants
from .scenario import NAME as NAME
from .scenario import Option as Option
from .scenario import Scenario as Scenario
from .scenario import check_scenario as check_scenario
from .scenario import load_scenario as load_scenario
from .sentences import Sentence as Sentence
from .sentences import list_sentences as list_sentences
from .sentences import replace_sentences as replace_sentences
from .variant import Variant as Variant
from .variant_files import REPHRASINGS as REPHRASINGS
from .variant_files import Wordings as Wordings
from .variant_files import read_wordings as read_wordings
from .variant_files import wordings_file as wordings_file

__all__ = [
    "NAME",
    "REPHRASINGS",
    "Option",
    "Scenario",
    "Sentence",
    "Variant",
    "VariantSurvey",
    "Wordings",
    "check_packets",
    "check_scenario",
    "list_sentences",
    "load_scenario",
    "load_variants",
    "read_wordings",
    "replace_sentences",
    "split_words",
    "strip_list_marks",
    "survey_variants",
    "wordings_file",
]
