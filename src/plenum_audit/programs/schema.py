"""Values that fit a JSON schema, for simulated agents whose answers have a prescribed form."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_DEEPEST = 8
_HUGE = 1e300
_CHOICES = (
    "decision", "vote", "choice", "option", "label", "answer", "winner", "recommend", "pick",
)  # fmt: skip
_SURE = ("confidence", "probability", "certainty")


@dataclass(frozen=True)
class Pen:
    """Content of an answer: the options by label, their shares, the choice, and an argument."""

    options: Mapping[str, str]
    shares: Mapping[str, float]
    choice: str
    argument: str


def fill_schema(schema: Any, pen: Pen) -> Any:
    """Return a value that a schema allows, with the pen's opinions in fields named for them."""
    return _value(schema, "", pen, schema if isinstance(schema, Mapping) else {}, 0)


def _value(schema: Any, name: str, pen: Pen, root: Mapping[str, Any], depth: int) -> Any:
    schema = _resolve(schema, root)
    if "const" in schema:
        return schema["const"]
    if values := _read_stated(schema, "enum", list, []):
        return _among(values, pen)
    for key in ("anyOf", "oneOf", "allOf"):
        if options := [s for s in _read_stated(schema, key, list, []) if _kind(s) != "null"]:
            return _value(options[0], name, pen, root, depth + 1)
    match _kind(schema):
        case "object" if depth < _DEEPEST:
            return _object(schema, name, pen, root, depth)
        case "array" if depth < _DEEPEST:
            return _array(schema, name, pen, root, depth)
        case "integer":
            return round(_number(schema, name, pen, whole=True))
        case "number":
            return _number(schema, name, pen, whole=False)
        case "boolean":
            return pen.choice == next(iter(pen.options))
        case "null":
            return None
        case "string":
            return _text(name, pen)
    return _make_anything(name, pen)


def _object(
    schema: Mapping[str, Any], name: str, pen: Pen, root: Mapping[str, Any], depth: int
) -> dict[str, Any]:
    properties = _read_stated(schema, "properties", Mapping, {})
    if not properties and isinstance(schema.get("additionalProperties"), Mapping):
        properties = dict.fromkeys(pen.options, schema["additionalProperties"])
    return {key: _value(inner, key, pen, root, depth + 1) for key, inner in properties.items()}


def _array(
    schema: Mapping[str, Any], name: str, pen: Pen, root: Mapping[str, Any], depth: int
) -> list[Any]:
    item = _resolve(schema.get("items") or {}, root)
    if _kind(item) in ("number", "integer") and len(pen.options) > 1:
        scale = 100 if _kind(item) == "integer" else 1
        return [round(scale * share, 3) for share in pen.shares.values()]
    least = max(_read_stated(schema, "minItems", int, 1), 1)
    return [_value(item, name, pen, root, depth + 1) for _ in range(min(least, 20))]


def _number(schema: Mapping[str, Any], name: str, pen: Pen, whole: bool) -> float:
    lowest, highest = (
        float(
            _read_stated(
                schema,
                bound,
                int | float,
                _read_stated(schema, f"exclusive{bound.title()}", int | float, 0),
            )
        )
        for bound in ("minimum", "maximum")
    )
    share = pen.shares.get(name, pen.shares[pen.choice])
    fraction = not whole and not highest and not name.lower().startswith(_SURE)
    scale = highest or (1.0 if fraction else 100.0)
    return round(min(max(scale * share, lowest), scale), 3)


def _among(values: list[Any], pen: Pen) -> Any:
    """Return the value that names the choice, or else one by the choice's place among options."""
    wanted = {pen.choice.lower(), pen.options[pen.choice].lower()}
    for value in values:
        if str(value).lower() in wanted:
            return value
    place = list(pen.options).index(pen.choice)
    return values[place % len(values)]


def _text(name: str, pen: Pen) -> str:
    return pen.choice if any(word in name.lower() for word in _CHOICES) else pen.argument


def _make_anything(name: str, pen: Pen) -> Any:
    if name in pen.shares:
        return pen.shares[name]
    if name.lower().startswith(_SURE):
        return round(100 * pen.shares[pen.choice])
    return _text(name, pen)


def _resolve(schema: Any, root: Mapping[str, Any]) -> Mapping[str, Any]:
    for _ in range(_DEEPEST):
        if not isinstance(schema, Mapping):
            return {}
        reference = schema.get("$ref")
        if not isinstance(reference, str) or not reference.startswith("#/"):
            return schema
        target: Any = root
        for part in reference[2:].split("/"):
            target = target.get(part) if isinstance(target, Mapping) else None
        schema = target
    return {}


def _read_stated(schema: Mapping[str, Any], key: str, kind: Any, default: Any) -> Any:
    """Return a schema's value if it has the right type, and numbers are within floats' range."""
    value = schema.get(key)
    if not isinstance(value, kind) or (isinstance(value, int | float) and not abs(value) < _HUGE):
        return default
    return value


def _kind(schema: Any) -> str:
    kind = schema.get("type") if isinstance(schema, Mapping) else None
    if isinstance(kind, list):
        kind = next((name for name in kind if name != "null"), "null")
    if kind is None and isinstance(schema, Mapping) and "properties" in schema:
        return "object"
    return str(kind)
