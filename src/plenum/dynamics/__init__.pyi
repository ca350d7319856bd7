from .bands import divergence_band as divergence_band
from .blocks import BlockSplit as BlockSplit
from .blocks import split_blocks as split_blocks
from .branching import Branching as Branching
from .branching import NextAnswers as NextAnswers
from .branching import branching as branching
from .branching import estimate_branching as estimate_branching
from .branching import estimate_next_answers as estimate_next_answers
from .contrasts import REFUSAL as REFUSAL
from .contrasts import Contrast as Contrast
from .contrasts import contrast as contrast
from .contrasts import contrast_cells as contrast_cells
from .contrasts import interaction as interaction
from .decision_contrasts import DecisionContrast as DecisionContrast
from .decision_contrasts import ShareContrast as ShareContrast
from .decision_contrasts import compare_decisions as compare_decisions
from .decision_contrasts import decision_interaction as decision_interaction
from .decision_contrasts import pool_decisions as pool_decisions
from .decision_sample_sizes import DecisionPlan as DecisionPlan
from .decision_sample_sizes import plan_decisions as plan_decisions
from .decisions import NO_MAJORITY as NO_MAJORITY
from .decisions import Share as Share
from .decisions import estimate_share as estimate_share
from .decisions import flip_rate as flip_rate
from .decisions import mcnemar as mcnemar
from .decisions import pairwise_disagreement as pairwise_disagreement
from .decisions import tally as tally
from .diagnostics import REFUSED as REFUSED
from .diagnostics import Diagnostics as Diagnostics
from .diagnostics import cap as cap
from .divergence import ZERO as ZERO
from .divergence import divergence as divergence
from .divergence import pairwise_distances as pairwise_distances
from .estimate import Estimate as Estimate
from .estimate import estimate_mean as estimate_mean
from .estimate import make_estimate as make_estimate
from .estimate import margin as margin
from .estimate import two_sided_p as two_sided_p
from .fit import WINDOW as WINDOW
from .fit import Array as Array
from .fit import Floats as Floats
from .fit import fit_distances as fit_distances
from .fit import jackknife_se as jackknife_se
from .fit import slope as slope
from .fragility import ALL as ALL
from .fragility import CANONICAL as CANONICAL
from .fragility import FamilyEstimate as FamilyEstimate
from .fragility import FragilityContrast as FragilityContrast
from .fragility import VariantOutcome as VariantOutcome
from .fragility import average_scenarios as average_scenarios
from .fragility import estimate_families as estimate_families
from .fragility import fragility_contrast as fragility_contrast
from .fragility import name_numbers as name_numbers
from .growth import TypicalGrowth as TypicalGrowth
from .growth import estimate_typical_growth as estimate_typical_growth
from .growth_contrasts import GrowthContrast as GrowthContrast
from .growth_contrasts import contrast_growth as contrast_growth
from .growth_contrasts import pool_growth as pool_growth
from .lyapunov import LyapunovEstimate as LyapunovEstimate
from .lyapunov import lyapunov as lyapunov
from .majority import TimeToMajority as TimeToMajority
from .majority import find_top_options as find_top_options
from .majority import time_to_majority as time_to_majority
from .meta_analysis import PooledMean as PooledMean
from .meta_analysis import limit_scenarios as limit_scenarios
from .meta_analysis import pool as pool
from .multiplicity import ALPHA as ALPHA
from .multiplicity import benjamini_hochberg as benjamini_hochberg
from .multiplicity import excludes_zero as excludes_zero
from .multiplicity import holm as holm
from .multiplicity import is_shown as is_shown
from .nulls import NullTest as NullTest
from .nulls import reversal_test as reversal_test
from .nulls import shuffle_test as shuffle_test
from .recorded_estimates import RecordedSummary as RecordedSummary
from .recorded_estimates import rebuild_estimates as rebuild_estimates
from .resampling import DRAWS as DRAWS
from .resampling import INTERVALS as INTERVALS
from .resampling import Bootstrap as Bootstrap
from .resampling import bootstrap as bootstrap
from .right_answers import RightAnswers as RightAnswers
from .right_answers import estimate_right_answers as estimate_right_answers
from .sample_sizes import find_detectable as find_detectable
from .sample_sizes import plan_replicates as plan_replicates
from .stated_votes import StatedVotes as StatedVotes
from .stated_votes import compare_votes as compare_votes
from .summary import ESTIMATORS_VERSION as ESTIMATORS_VERSION
from .summary import Summary as Summary
from .summary import summarise as summarise
from .survival import TIE as TIE
from .survival import kaplan_meier as kaplan_meier
from .survival import median_time as median_time
from .switches import SwitchCounts as SwitchCounts
from .switches import switch_counts as switch_counts
from .warnings import FEW_EPISODES as FEW_EPISODES
from .warnings import LETTERS as LETTERS
from .warnings import OF_EFFECTS as OF_EFFECTS
from .warnings import WARNINGS as WARNINGS
from .warnings import EstimateWarning as EstimateWarning
from .warnings import list_run_warnings as list_run_warnings
from .warnings import read_warnings as read_warnings

__all__ = [
    "ALL",
    "ALPHA",
    "CANONICAL",
    "DRAWS",
    "ESTIMATORS_VERSION",
    "FEW_EPISODES",
    "INTERVALS",
    "LETTERS",
    "NO_MAJORITY",
    "OF_EFFECTS",
    "REFUSAL",
    "REFUSED",
    "TIE",
    "WARNINGS",
    "WINDOW",
    "ZERO",
    "Array",
    "BlockSplit",
    "Bootstrap",
    "Branching",
    "Contrast",
    "DecisionContrast",
    "DecisionPlan",
    "Diagnostics",
    "Estimate",
    "EstimateWarning",
    "FamilyEstimate",
    "Floats",
    "FragilityContrast",
    "GrowthContrast",
    "LyapunovEstimate",
    "NextAnswers",
    "NullTest",
    "PooledMean",
    "RecordedSummary",
    "RightAnswers",
    "Share",
    "ShareContrast",
    "StatedVotes",
    "Summary",
    "SwitchCounts",
    "TimeToMajority",
    "TypicalGrowth",
    "VariantOutcome",
    "average_scenarios",
    "benjamini_hochberg",
    "bootstrap",
    "branching",
    "cap",
    "compare_decisions",
    "compare_votes",
    "contrast",
    "contrast_cells",
    "contrast_growth",
    "decision_interaction",
    "divergence",
    "divergence_band",
    "estimate_branching",
    "estimate_families",
    "estimate_mean",
    "estimate_next_answers",
    "estimate_right_answers",
    "estimate_share",
    "estimate_typical_growth",
    "excludes_zero",
    "find_detectable",
    "find_top_options",
    "fit_distances",
    "flip_rate",
    "fragility_contrast",
    "holm",
    "interaction",
    "is_shown",
    "jackknife_se",
    "kaplan_meier",
    "limit_scenarios",
    "list_run_warnings",
    "lyapunov",
    "make_estimate",
    "margin",
    "mcnemar",
    "median_time",
    "name_numbers",
    "pairwise_disagreement",
    "pairwise_distances",
    "plan_decisions",
    "plan_replicates",
    "pool",
    "pool_decisions",
    "pool_growth",
    "read_warnings",
    "rebuild_estimates",
    "reversal_test",
    "shuffle_test",
    "slope",
    "split_blocks",
    "summarise",
    "switch_counts",
    "tally",
    "time_to_majority",
    "two_sided_p",
]
