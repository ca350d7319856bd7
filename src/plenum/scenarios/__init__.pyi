from .layouts import format_variants as format_variants
from .packets import check_packets as check_packets
from .perturbations import load_variants as load_variants
from .scenario import NAME as NAME
from .scenario import Option as Option
from .scenario import Scenario as Scenario
from .scenario import check_scenario as check_scenario
from .scenario import load_scenario as load_scenario
from .variant import Variant as Variant
from .variant_files import REPHRASINGS as REPHRASINGS
from .variant_files import find_problems as find_problems
from .variant_files import make_variants as make_variants
from .variant_files import read_wordings as read_wordings
from .variant_files import wordings_file as wordings_file

__all__ = [
    "NAME",
    "REPHRASINGS",
    "Option",
    "Scenario",
    "Variant",
    "check_packets",
    "check_scenario",
    "find_problems",
    "format_variants",
    "load_scenario",
    "load_variants",
    "make_variants",
    "read_wordings",
    "wordings_file",
]
