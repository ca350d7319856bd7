"""Arguments of the commands on runs as Hydra reads them."""

import re


def quote_argument(argument: str) -> str:
    """Return an argument for Hydra: a gate in quotes of its own, and columns of any name.

    What a data set or a log knows as a column is checked as it is read.

    Examples
    --------
    >>> quote_argument("gate=score >= .80")
    'gate="score >= .80"'
    >>> quote_argument("columns.case=doc_id")
    '++columns.case=doc_id'
    """
    key, _, value = argument.partition("=")
    if re.match(r"(columns|where)(\..+|=\{.*)", argument):
        return f"++{argument}"
    if key in ("committee.command", "gate") and value[:1] + value[-1:] not in ('""', "''"):
        mark = "'" if '"' in value else '"'
        return f"{key}={mark}{value}{mark}"
    return argument
