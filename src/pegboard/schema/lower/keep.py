"""The last look at each keyword: what the dialect does not take goes, and its words stay in the description."""

import math

from pegboard.schema.lower import words
from pegboard.schema.lower.node import Node, plain, types
from pegboard.schema.lower.patterns import readable
from pegboard.schema.lower.vocabulary import DEMANDING
from pegboard.schema.lower.work import Work
from pegboard.schema.types import Json

NOTES = frozenset({"title", "deprecated", "readOnly", "writeOnly", "examples", "default"})
"""Keywords that refuse nothing, so that moving them to the description loses nothing that was enforced."""

STRUCTURE = frozenset({"$ref", "$defs", "type", "properties", "required", "items", "anyOf", "description", "enum"})
"""Keywords that every dialect takes where its passes have left them."""


def whole_bounds(node: Node, work: Work) -> None:
    """Exclusive bounds of whole numbers become inclusive ones, for dialects without exclusive bounds."""
    for exclusive, inclusive, step, better in (
        ("exclusiveMinimum", "minimum", 1, max),
        ("exclusiveMaximum", "maximum", -1, min),
    ):
        if exclusive not in node or exclusive in work.dialect.keywords:
            continue
        bound = node[exclusive]
        if set(types(node)) <= {"integer", "null"} and types(node):
            del node[exclusive]
            inside = (math.floor(bound) if step > 0 else math.ceil(bound)) + step
            node[inclusive] = better(inside, node.get(inclusive, inside))
            work.change(node, f"`{exclusive}` {bound} of a whole number is spelled `{inclusive}` {inside}")
        elif inclusive in work.dialect.keywords and inclusive not in node:
            work.lose(node, exclusive, node.pop(exclusive), words.say({exclusive: bound}, [exclusive])[exclusive])
            node[inclusive] = bound


def filter_keywords(node: Node, work: Work) -> None:
    """Drop what the dialect does not take; say it in words, and report what it demanded as lost."""
    _trim(node, work)
    going = [key for key in node if key not in STRUCTURE and not _taken(node, key, work)]
    told = words.say(node, going)
    for key in going:
        value = node.pop(key)
        if key == "title":
            _fold_title(node, value, work)
        elif key in NOTES:
            node.say(told[key])
            work.change(node, f"`{key}` is said in the description")
        elif _demands(key, value):
            work.lose(node, key, value, told[key])
        else:
            work.change(node, f"`{key}` left out: it demands nothing")


def _taken(node: Node, key: str, work: Work) -> bool:
    dialect = work.dialect
    if key not in dialect.keywords:
        return False
    if key == "format":
        return dialect.formats(node[key], types(node))
    if key == "pattern":
        return dialect.patterns(node[key])
    return True


def _demands(key: str, value: Json) -> bool:
    if key.startswith("x-") or key in ("discriminator", "xml", "externalDocs", "additionalItems"):
        return False
    if key in ("minLength", "minItems", "minProperties"):
        return value > 0
    if key in ("additionalProperties", "unevaluatedProperties", "unevaluatedItems"):
        return value is not True
    return value is not False and value != {} and key in DEMANDING


def _trim(node: Node, work: Work) -> None:
    """A count of items that the dialect takes only when it is small is lowered to the largest that it takes."""
    most = work.dialect.most_min_items
    if most is not None and node.get("minItems", 0) > most:
        told = words.say(node, ["minItems"])["minItems"]
        work.lose(node, "minItems", node["minItems"], told)
        node["minItems"] = most


def _fold_title(node: Node, title: str, work: Work) -> None:
    """A title that tells more than the key is kept as description where there is none."""
    if not node.at and title.isidentifier():
        work.change(node, "`title` is the name of a type, not words: left out")
        return
    plain = "".join(letter for letter in title.casefold() if letter.isalnum())
    key = "".join(letter for letter in node.at.rpartition("/")[2].casefold() if letter.isalnum())
    said = "".join(letter for letter in node.get("description", "").casefold() if letter.isalnum())
    if plain and plain != key and plain not in said and not node.get("description"):
        node["description"] = title
        work.change(node, "`title` is kept as the description")
    elif plain and plain != key and plain not in said:
        node.say(f"title: {title}")
        work.change(node, "`title` is said in the description")
    else:
        work.change(node, "`title` repeats the key or the description: left out")


def drop_unreadable_patterns(node: Node, work: Work) -> None:
    """A pattern that no checker of 2020-12 can read goes."""
    if "pattern" in node and not readable(node["pattern"]):
        told = words.say(node, ["pattern"])["pattern"]
        work.lose(node, "pattern", node.pop("pattern"), told)
    table: dict[str, Node] = node.get("patternProperties", {})
    bad = {name: plain(table[name]) for name in table if not readable(name)}
    if bad:
        node["patternProperties"] = {name: child for name, child in table.items() if name not in bad}
        work.lose(
            node,
            "patternProperties",
            bad,
            words.say({"patternProperties": bad}, ["patternProperties"])["patternProperties"],
        )


def write_words(node: Node, work: Work) -> None:
    """Put the words that were noted into the description."""
    said: str = node.get("description", "")
    fresh = [word for word in node.words if word not in said]
    node.words = []
    if not fresh:
        return
    text = "; ".join(fresh)
    node["description"] = f"{said} ({text})" if said else text[0].upper() + text[1:]
