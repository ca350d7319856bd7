from . import plans as plans
from .accounting.common import list_reasons as list_reasons
from .accounting.common import list_waits as list_waits
from .accounting.common import make_rows as make_rows
from .accounting.common import select_distinct as select_distinct
from .accounting.publish import make_accounts as make_accounts
from .accounting.publish import publish_accounts as publish_accounts
from .accounting.tables import make_condition_frame as make_condition_frame
from .accounting.tables import make_failure_frame as make_failure_frame
from .accounting.tables import tabulate_accounts as tabulate_accounts
from .accounting.tables import tabulate_manifest as tabulate_manifest
from .accounting.tables import tabulate_reasons as tabulate_reasons
from .effects import Effect as Effect
from .effects import select_deliberations as select_deliberations
from .estimates import estimate_study as estimate_study
from .explorer.contents import Explorer as Explorer
from .explorer.contents import Replicates as Replicates
from .explorer.contents import make_index as make_index
from .explorer.contents import name_keys as name_keys
from .explorer.contents import select_seat as select_seat
from .explorer.page import Layout as Layout
from .explorer.runs import collect_dialogue as collect_dialogue
from .explorer.runs import make_record as make_record
from .figures.catalogue import CATALOGUE as CATALOGUE
from .figures.catalogue import Drawing as Drawing
from .figures.catalogue import SavedFigure as SavedFigure
from .figures.catalogue import draw_nothing as draw_nothing
from .figures.divergence import draw_curve as draw_curve
from .figures.divergence import draw_divergence as draw_divergence
from .figures.divergence import set_divergence_scale as set_divergence_scale
from .figures.options import describe_end as describe_end
from .figures.options import format_decisions as format_decisions
from .figures.options import name_options as name_options
from .figures.publish import draw_figures as draw_figures
from .figures.publish import draw_pages as draw_pages
from .figures.publish import publish_figures as publish_figures
from .figures.publish import save_captioned as save_captioned
from .figures.publish import save_captions as save_captions
from .figures.publish import save_pages as save_pages
from .figures.simplex import Path as Path
from .figures.simplex import draw_simplex as draw_simplex
from .figures.words import LONG as LONG
from .figures.words import add_sourced_caption as add_sourced_caption
from .figures.words import clean as clean
from .figures.words import cut_to_width as cut_to_width
from .figures.words import format_estimate as format_estimate
from .figures.words import format_replicates as format_replicates
from .figures.words import format_signed as format_signed
from .figures.words import join_levels as join_levels
from .figures.words import limit_rows as limit_rows
from .figures.words import name as name
from .figures.words import name_shared as name_shared
from .figures.words import option_labels as option_labels
from .figures.words import read_temperature as read_temperature
from .figures.words import select_foremost as select_foremost
from .figures.words import space_letters as space_letters
from .figures.words import wrap_letters as wrap_letters
from .figures.words import write_caption as write_caption
from .formats import NO_ESTIMATES as NO_ESTIMATES
from .formats import NONE as NONE
from .formats import format_count as format_count
from .formats import format_decimals as format_decimals
from .formats import format_dollars as format_dollars
from .formats import format_finite as format_finite
from .formats import format_interval as format_interval
from .formats import format_limits as format_limits
from .formats import format_number as format_number
from .formats import format_or_dash as format_or_dash
from .formats import format_p_value as format_p_value
from .formats import format_percent as format_percent
from .formats import format_realised as format_realised
from .formats import format_share as format_share
from .formats import format_significant as format_significant
from .formats import format_text as format_text
from .formats import format_warnings as format_warnings
from .formats import format_whole_percent as format_whole_percent
from .fragility import compare_wordings as compare_wordings
from .groups import RowGroup as RowGroup
from .groups import format_fitted_rounds as format_fitted_rounds
from .labels import condition_keys as condition_keys
from .labels import label as label
from .labels import label_shared as label_shared
from .labels import origin as origin
from .labels import provenance as provenance
from .markdown import format_lines as format_lines
from .markdown import format_markdown as format_markdown
from .markdown import load_template as load_template
from .notes import list_wording_notes as list_wording_notes
from .page.document import Block as Block
from .page.document import Document as Document
from .page.document import Exchange as Exchange
from .page.document import Grid as Grid
from .page.document import Picture as Picture
from .page.document import Points as Points
from .page.document import Section as Section
from .page.document import Sides as Sides
from .page.document import Text as Text
from .page.document import split_blocks as split_blocks
from .page.protocol import tabulate_levels as tabulate_levels
from .page.publish import fill_page as fill_page
from .page.publish import publish_report as publish_report
from .page.renderer import render_html as render_html
from .page.renderer import render_markdown as render_markdown
from .phrases import capital as capital
from .phrases import ci as ci
from .phrases import join_items as join_items
from .phrases import make_environment as make_environment
from .phrases import render as render
from .phrases import space_words as space_words
from .phrases import spell_count as spell_count
from .phrases import uncapital as uncapital
from .publication import Product as Product
from .publication import print_written as print_written
from .publication import publish_product as publish_product
from .results import publish_results as publish_results
from .rows import Row as Row
from .rows import group_rows as group_rows
from .rows import list_shown_factors as list_shown_factors
from .rows import list_varying_factors as list_varying_factors
from .rows import make_frame as make_frame
from .rows import symbol as symbol
from .settings import Out as Out
from .settings import Settings as Settings
from .settings import check_plan_settings as check_plan_settings
from .settings import check_report_settings as check_report_settings
from .settings import read_names as read_names
from .settings import read_study_settings as read_study_settings
from .settings import store_uri as store_uri
from .study import EstimatedStudy as EstimatedStudy
from .study import find_study_kind as find_study_kind
from .study import load_study as load_study
from .style import COLOURS as COLOURS
from .style import COLUMN as COLUMN
from .style import GREY as GREY
from .style import LINES as LINES
from .style import MARKERS as MARKERS
from .style import PAGE as PAGE
from .style import SMALL as SMALL
from .style import add_caption as add_caption
from .style import apply_look as apply_look
from .style import apply_style as apply_style
from .style import count_keys as count_keys
from .style import label_outer as label_outer
from .style import make_panels as make_panels
from .style import read_caption as read_caption
from .style import save_figure as save_figure
from .table import Column as Column
from .table import Format as Format
from .table import Table as Table
from .table import format_csv as format_csv
from .table import make_keys as make_keys
from .tables.conditions import INTERVALS as INTERVALS
from .tables.conditions import WARNINGS as WARNINGS
from .tables.conditions import N as N
from .tables.conditions import tabulate_conditions as tabulate_conditions
from .tables.conditions import tabulate_decisions as tabulate_decisions
from .tables.conditions import tabulate_diagnostics as tabulate_diagnostics
from .tables.conditions import tabulate_exponents as tabulate_exponents
from .tables.decision_effects import tabulate_decision_effects as tabulate_decision_effects
from .tables.effects import tabulate_compared as tabulate_compared
from .tables.effects import tabulate_contrasts as tabulate_contrasts
from .tables.effects import tabulate_pooled as tabulate_pooled
from .tables.fragility import tabulate_fragility as tabulate_fragility
from .tables.maps import LEGEND as LEGEND
from .tables.maps import Cell as Cell
from .tables.maps import explain_map as explain_map
from .tables.maps import format_brief as format_brief
from .tables.maps import make_cell as make_cell
from .tables.maps import mark_conditions as mark_conditions
from .tables.maps import tabulate_landscape as tabulate_landscape
from .tables.maps import tabulate_matrices as tabulate_matrices
from .terminal_tables import count_lines as count_lines
from .terminal_tables import list_shared_notes as list_shared_notes
from .terminal_tables import prose_width as prose_width
from .terminal_tables import show as show
from .terminal_tables import show_sentences as show_sentences
from .terminal_tables import show_text as show_text

__all__ = [
    "CATALOGUE",
    "COLOURS",
    "COLUMN",
    "GREY",
    "INTERVALS",
    "LEGEND",
    "LINES",
    "LONG",
    "MARKERS",
    "NONE",
    "NO_ESTIMATES",
    "PAGE",
    "SMALL",
    "WARNINGS",
    "Block",
    "Cell",
    "Column",
    "Document",
    "Drawing",
    "Effect",
    "EstimatedStudy",
    "Exchange",
    "Explorer",
    "Format",
    "Grid",
    "Layout",
    "N",
    "Out",
    "Path",
    "Picture",
    "Points",
    "Product",
    "Replicates",
    "Row",
    "RowGroup",
    "SavedFigure",
    "Section",
    "Settings",
    "Sides",
    "Table",
    "Text",
    "add_caption",
    "add_sourced_caption",
    "apply_look",
    "apply_style",
    "capital",
    "check_plan_settings",
    "check_report_settings",
    "ci",
    "clean",
    "collect_dialogue",
    "compare_wordings",
    "condition_keys",
    "count_keys",
    "count_lines",
    "cut_to_width",
    "describe_end",
    "draw_curve",
    "draw_divergence",
    "draw_figures",
    "draw_nothing",
    "draw_pages",
    "draw_simplex",
    "estimate_study",
    "explain_map",
    "fill_page",
    "find_study_kind",
    "format_brief",
    "format_count",
    "format_csv",
    "format_decimals",
    "format_decisions",
    "format_dollars",
    "format_estimate",
    "format_finite",
    "format_fitted_rounds",
    "format_interval",
    "format_limits",
    "format_lines",
    "format_markdown",
    "format_number",
    "format_or_dash",
    "format_p_value",
    "format_percent",
    "format_realised",
    "format_replicates",
    "format_share",
    "format_signed",
    "format_significant",
    "format_text",
    "format_warnings",
    "format_whole_percent",
    "group_rows",
    "join_items",
    "join_levels",
    "label",
    "label_outer",
    "label_shared",
    "limit_rows",
    "list_reasons",
    "list_shared_notes",
    "list_shown_factors",
    "list_varying_factors",
    "list_waits",
    "list_wording_notes",
    "load_study",
    "load_template",
    "make_accounts",
    "make_cell",
    "make_condition_frame",
    "make_environment",
    "make_failure_frame",
    "make_frame",
    "make_index",
    "make_keys",
    "make_panels",
    "make_record",
    "make_rows",
    "mark_conditions",
    "name",
    "name_keys",
    "name_options",
    "name_shared",
    "option_labels",
    "origin",
    "plans",
    "print_written",
    "prose_width",
    "provenance",
    "publish_accounts",
    "publish_figures",
    "publish_product",
    "publish_report",
    "publish_results",
    "read_caption",
    "read_names",
    "read_study_settings",
    "read_temperature",
    "render",
    "render_html",
    "render_markdown",
    "save_captioned",
    "save_captions",
    "save_figure",
    "save_pages",
    "select_deliberations",
    "select_distinct",
    "select_foremost",
    "select_seat",
    "set_divergence_scale",
    "show",
    "show_sentences",
    "show_text",
    "space_letters",
    "space_words",
    "spell_count",
    "split_blocks",
    "store_uri",
    "symbol",
    "tabulate_accounts",
    "tabulate_compared",
    "tabulate_conditions",
    "tabulate_contrasts",
    "tabulate_decision_effects",
    "tabulate_decisions",
    "tabulate_diagnostics",
    "tabulate_exponents",
    "tabulate_fragility",
    "tabulate_landscape",
    "tabulate_levels",
    "tabulate_manifest",
    "tabulate_matrices",
    "tabulate_pooled",
    "tabulate_reasons",
    "uncapital",
    "wrap_letters",
    "write_caption",
]
