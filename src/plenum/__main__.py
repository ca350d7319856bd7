"""The command ``plenum``: ``run.py`` and the scripts by their names, from any folder.

plenum run -m roles=on,off model=uniform,mixed
plenum tables study=default
"""

import ast
import io
import runpy
import sys
from contextlib import nullcontext, redirect_stdout
from difflib import get_close_matches
from pathlib import Path

from plenum import __version__
from plenum.base.errors import UserError
from plenum.base.project import as_typed, code_root
from plenum.base.removed import refuse_removed
from plenum.cli import one_line_errors, outlive_readers


def main() -> None:
    """Run the command that the first argument names, as ``python scripts/NAME.py`` would."""
    outlive_readers()
    with one_line_errors():
        _run(*(sys.argv[1:] or ["--help"]))


def _run(name: str, *arguments: str) -> None:
    if name in ("-h", "--help", "help", "--version"):
        print(f"plenum {__version__}" if name == "--version" else _describe())
        return
    commands = list_commands()
    if name not in commands:
        refuse_removed([f"scripts/{name}.py"])
        raise UserError(_refuse(name, list(commands)))
    script = commands[name]
    # As Python does for a script: modules beside it can be imported, and its name is shown.
    sys.path[0] = str(script.parent)
    sys.argv = [str(script), *arguments]
    shown, asked = io.StringIO(), {"-h", "--help"} & set(arguments)
    try:
        with redirect_stdout(shown) if asked else nullcontext():
            runpy.run_path(str(script), run_name="__main__")
    finally:
        print(as_typed(shown.getvalue()), end="")


def list_commands() -> dict[str, Path]:
    """List the scripts that are commands: ``run.py``, and all in ``scripts`` with a front door."""
    scripts = sorted((code_root() / "scripts").glob("*.py"))
    doors = [path for path in scripts if "front_door(" in path.read_text(encoding="utf-8")]
    return {path.stem: path for path in (code_root() / "run.py", *doors)}


def _describe() -> str:
    """Return a line for each command: the first of its script."""
    lines = ["plenum COMMAND [KEY=VALUE ...]      plenum COMMAND --help shows what can be set"]
    for name, path in list_commands().items():
        text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        lines.append(f"  {name:<15}  {text.splitlines()[0]}")
    return "\n".join(lines)


def _refuse(name: str, commands: list[str]) -> str:
    """Say that there is no such command, and what was meant."""
    if "=" in name or name.startswith("-"):
        return f"{name}: name a command first, as in plenum run {name}"
    near = get_close_matches(name.removesuffix(".py").replace("-", "_"), commands, 1, 0.5)
    meant = f"did you mean plenum {near[0]}?" if near else f"there are {', '.join(commands)}"
    return f"{name}: no such command; {meant}"


if __name__ == "__main__":
    main()
