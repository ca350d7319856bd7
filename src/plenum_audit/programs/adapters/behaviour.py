"""Digests of what functions and objects of this process do, equal in every process.

A function's name says nothing about it: a notebook's cell may be run again with another body, a
closure may hold another value, a global may be changed. So all of it is written as :mod:`pickle`
writes values, but functions, classes and modules by what they hold, where pickle writes a name.
What Python and packages bring stays a name, since their versions say the rest.
"""

import dis
import functools
import hashlib
import importlib
import importlib.util
import os
import pickle
import sys
import sysconfig
import threading
import types
from collections.abc import Callable, Mapping, Set
from contextlib import suppress
from operator import attrgetter
from pathlib import Path, PurePath
from typing import Any

_INSTALLED = tuple(
    os.path.join(os.path.realpath(folder), "")
    for folder in (
        sysconfig.get_path("stdlib"),
        sysconfig.get_path("platstdlib"),
        str(Path(__file__).parents[3]),
    )
)
"""Folders of Python and of plenum, whose versions identify their modules."""

_OF_PACKAGES = {"site-packages", "dist-packages"}

_MOST = 500_000
"""Values that are looked at; to write more would take longer than some seconds."""

_PLAIN = (bool, int, float, complex, str, bytes, type(None))
_LOCKS = (type(threading.Lock()), type(threading.RLock()))
_HEAP_TYPE = 1 << 9
"""The flag of a class that was made at run time, as those of Python code are."""

_CODE = (
    "co_code", "co_consts", "co_names", "co_varnames", "co_freevars", "co_cellvars", "co_flags",
    "co_argcount", "co_posonlyargcount", "co_kwonlyargcount", "co_exceptiontable",
)  # fmt: skip
"""Parts of a code object that it acts by; its place in a file isn't one of them."""

_READING = (
    ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"),
    ("LOAD_ATTR", "LOAD_METHOD", "IMPORT_FROM"),
    ("IMPORT_NAME",),
)
"""Steps of a code object that read a global, read an attribute, and import a module."""

_KEPT_BY_PYTHON = {
    "__dict__", "__weakref__", "__module__", "_abc_impl", "__firstlineno__", "__annotate__",
    "__annotations_cache__", "__static_attributes__", "__file__", "__name__", "__spec__",
    "__loader__", "__package__", "__path__", "__cached__", "__builtins__",
    "__pydantic_core_schema__", "__pydantic_serializer__", "__pydantic_validator__",
}  # fmt: skip
"""What a class or a module has from Python, or pydantic has made of the rest: it may hold ids."""


def digest_behaviour(value: Any) -> tuple[str, str, list[Path]]:
    """Describe what a function or an object does.

    Returns
    -------
    digest
        Equal for what does the same, in every process; empty where that can't be written.
    problem
        Why it can't, such as "cannot pickle 'SSLContext' object".
    files
        The files of own modules that it uses, as far as they were seen.

    Examples
    --------
    >>> def decide_for(label):
    ...     return lambda case, run: label
    >>> first, again, other = (digest_behaviour(decide_for(label))[0] for label in "AAB")
    >>> first == again, first == other
    (True, False)
    """
    written = _Behaviour()
    try:
        written.dump(value)
    except Exception as error:  # of an object's own methods, which raise whatever they like
        return "", " ".join(str(error).split()) or type(error).__name__, sorted(written.files)
    return written.digest.hexdigest(), "", sorted(written.files)


class _Behaviour(pickle._Pickler):
    """A pickler that writes functions, classes and modules by what they hold.

    It is Python's own pickler in Python: the one in C can't be told what to remember.
    """

    def __init__(self) -> None:
        self.digest = hashlib.blake2b(digest_size=16)
        self.files: dict[Path, None] = {}
        self._values = 0
        super().__init__(types.SimpleNamespace(write=self.digest.update), protocol=4)

    def memoize(self, obj: Any) -> None:
        """Remember what may hold itself, but no text or tuple: Python may share equal ones."""
        if type(obj) not in (*_PLAIN, tuple):
            super().memoize(obj)  # type: ignore[misc]

    def reducer_override(self, obj: Any) -> Any:
        """Return how an object is written, or leave it to pickle."""
        self._values += 1
        if self._values > _MOST:
            raise pickle.PicklingError(f"it holds more than {_MOST:,} values")
        if obj is str or type(obj) in (*_PLAIN, tuple, list, dict):
            return NotImplemented
        what, held = self._write(obj)
        # What it holds comes last, once it is remembered, since that may lead back to it.
        return (str, (what,), held) if what else NotImplemented

    def _write(self, obj: Any) -> tuple[str, Any]:
        """Return what an object is, and all that it holds; nothing where pickle knows better."""
        kind = type(obj)
        if isinstance(obj, type) or kind is types.FunctionType:
            self._note(obj.__module__)
            if not _is_installed(obj):
                return kind.__name__, self._write_own(obj)
            return f"installed {obj.__module__}.{obj.__qualname__}", _list_patches(vars(obj))
        if kind in _WRITERS:
            return kind.__name__, _WRITERS[kind](obj)
        if kind in (set, frozenset):
            return kind.__name__, sorted(map(self._digest_member, obj))
        if not _is_installed(kind):
            return "object", self._write_object(obj)
        if isinstance(obj, PurePath):
            return "path", self._shorten(obj)
        if hasattr(obj, "__wrapped__"):  # a cache's function, which pickle knows by name
            return kind.__qualname__, (obj.__wrapped__, getattr(obj, "__dict__", None))
        # Such as the environment, or the generator of the module random.
        home = vars(sys.modules.get(kind.__module__, types))
        named = next((name for name, each in list(home.items()) if each is obj), "")
        return (f"the {kind.__module__}.{named}" if named else ""), None

    def _write_own(self, obj: Any) -> dict[str, Any]:
        if isinstance(obj, type):
            held = {name: vars(obj)[name] for name in sorted({*vars(obj)} - _KEPT_BY_PYTHON)}
            return {"name": obj.__name__, "bases": (type(obj), *obj.__bases__), "held": held}
        used, read, imported = _list_names(obj.__code__)
        named = obj.__globals__
        kept = [name for name in sorted(used - _KEPT_BY_PYTHON) if name in named]
        return {
            "code": obj.__code__,
            "name": (obj.__name__, obj.__doc__),
            "defaults": (obj.__defaults__, obj.__kwdefaults__, obj.__annotations__),
            "closure": [self._read(cell.cell_contents, read) for cell in obj.__closure__ or ()],
            "attributes": vars(obj),
            "globals": {name: self._read(named[name], read) for name in kept},
            "imported": [self._read(self._import(name), read) for name in sorted(imported)],
        }

    def _write_object(self, obj: Any) -> Any:
        """Return an object's class and all that it holds, also what it wouldn't give to pickle."""
        given = obj.__reduce_ex__(4)
        if not isinstance(given, str):
            given = [*given[1:3], *(list(items or ()) for items in given[3:5])]
        return type(obj), object.__getstate__(obj), given

    def _digest_member(self, obj: Any) -> str:
        """Write a member of a set, which has no order."""
        member = _Behaviour()
        member.dump(obj)
        self.files |= member.files
        return member.digest.hexdigest()

    def _read(self, value: Any, names: Set[str]) -> Any:
        """Return a value; of a module what is read of it, which somebody may have changed."""
        if not isinstance(value, types.ModuleType):
            return value
        held = {name: vars(value)[name] for name in sorted(names) if name in vars(value)}
        self._note(value.__name__)
        if _is_module_installed(value.__name__):
            return value.__name__, _list_patches(held)
        return value.__name__, {name: self._read(each, names) for name, each in held.items()}

    def _import(self, name: str) -> Any:
        """Import an own module, as its function is about to."""
        with suppress(Exception):  # of the module's own code, which the function will meet
            return None if _is_module_installed(name) else importlib.import_module(name)

    def _note(self, module: str) -> None:
        """Keep the file of an own module, so that what isn't seen here counts as well."""
        file = getattr(sys.modules.get(module), "__file__", None)
        if file and not _is_module_installed(module):
            self.files[Path(file)] = None

    def _shorten(self, path: PurePath) -> str:
        """Write a path from the folder of the code on, since a folder may be moved."""
        for file in self.files:
            if path.is_relative_to(file.parent):
                return f"here/{path.relative_to(file.parent)}"
        return str(path)


_WRITERS: dict[type, Callable[[Any], Any]] = {
    types.CodeType: attrgetter(*_CODE),
    types.ModuleType: attrgetter("__name__"),
    types.MethodType: attrgetter("__func__", "__self__"),
    types.MappingProxyType: dict,
    property: attrgetter("fget", "fset", "fdel"),
    classmethod: attrgetter("__func__"),
    staticmethod: attrgetter("__func__"),
    functools.cached_property: attrgetter("func"),
    **dict.fromkeys(_LOCKS, lambda lock: None),
}
"""What there is to write of types that pickle refuses, or knows by name."""


def _list_names(code: types.CodeType) -> tuple[set[str], ...]:
    """List the globals that a function reads, the attributes, and the modules that it imports."""
    steps = list(dis.get_instructions(code))
    names = [{step.argval for step in steps if step.opname in kinds} for kinds in _READING]
    for inner in (each for each in code.co_consts if isinstance(each, types.CodeType)):
        names = [own | its for own, its in zip(names, _list_names(inner), strict=True)]
    return tuple(each - _KEPT_BY_PYTHON for each in names)


def _list_patches(held: Mapping[str, Any]) -> dict[str, Any]:
    """Return what somebody has put, or changed, in a package's module or class."""
    return {name: held[name] for name in sorted(held) if _is_patched(held[name])}


def _is_patched(part: Any) -> bool:
    parts = vars(part).values() if isinstance(part, type) else [part]
    functions = (each for each in parts if isinstance(each, types.FunctionType))
    return any(not _is_module_installed(each.__globals__.get("__name__", "")) for each in functions)


def _is_installed(part: Any) -> bool:
    """Return whether a function or a class is found under its name in what is installed."""
    if isinstance(part, types.FunctionType):
        home = part.__globals__.get("__name__", "")
    elif part.__flags__ & _HEAP_TYPE:
        home = part.__module__
    else:
        return True  # compiled into Python or a package
    if not _is_module_installed(home):
        return False
    try:
        found = attrgetter(part.__qualname__)(sys.modules[part.__module__])
    except (AttributeError, KeyError):
        return False
    return getattr(found, "__func__", found) is part


@functools.cache
def _is_module_installed(name: str) -> bool:
    """Return whether a module is Python's, or a package's of this interpreter."""
    module = sys.modules.get(name)
    if module is None:
        spec = importlib.util.find_spec(name)
        file = spec.origin if spec and spec.has_location else None
    else:
        file = getattr(module, "__file__", None)
    if file is None:
        return name.partition(".")[0] in sys.stdlib_module_names
    place = os.path.realpath(file)
    return place.startswith(_INSTALLED) or not _OF_PACKAGES.isdisjoint(Path(place).parts)
