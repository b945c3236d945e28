"""Types that others extend: a parent with a discriminator, and the schemas whose `allOf` names it."""

from dataclasses import dataclass, field
from functools import cached_property

from pegboard.schema.types import as_object
from pegboard.sources.openapi.documents import Documents, Place


@dataclass(frozen=True, slots=True)
class Member:
    """A subtype.

    Parameters:
        place: its schema.
        values: what the discriminator says for it.
    """

    place: Place
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Family:
    """A type with subtypes.

    Parameters:
        property: the discriminator's property.
        members: the subtypes, in the document's order.
    """

    property: str
    members: tuple[Member, ...]


@dataclass
class Families:
    """The types with subtypes of one description (OpenAPI 3.1 Discriminator Object; Swagger 2.0 `discriminator`).

    Parameters:
        documents: the description.
    """

    documents: Documents
    _found: dict[tuple[str, str], Family | None] = field(default_factory=dict[tuple[str, str], "Family | None"])

    def of(self, place: Place) -> Family | None:
        """The family of a schema that has a discriminator and no union of its own, else None."""
        key = (place.document, place.at)
        if key not in self._found:
            self._found[key] = self._family(place)
        return self._found[key]

    def values(self, union: Place, branch: Place) -> tuple[str, ...]:
        """What the discriminator of a union says for one of its branches."""
        target = self.documents.follow(branch)
        return self._values(union, target) if target is not None else ()

    def _family(self, place: Place) -> Family | None:
        node = place.object
        name = _property(place)
        if name is None or "oneOf" in node or "anyOf" in node:
            return None
        members = tuple(Member(child, self._values(place, child)) for child in self._descendants(place))
        return Family(name, members) if members else None

    def _values(self, parent: Place, child: Place) -> tuple[str, ...]:
        mapping = as_object(as_object(parent.object.get("discriminator")).get("mapping"))
        named = [value for value, reference in mapping.items() if self._means(parent, reference, child)]
        return tuple(named) or (child.at.rpartition("/")[2].replace("~1", "/").replace("~0", "~"),)

    def _means(self, parent: Place, reference: object, child: Place) -> bool:
        if not isinstance(reference, str):
            return False
        target = self.documents.target(parent, reference)
        if target is None and "/" not in reference:  # a bare schema name is allowed in a mapping
            target = self.documents.target(parent, f"#{self._home}/{reference}")
        return target is not None and (target.document, target.at) == (child.document, child.at)

    def _descendants(self, parent: Place) -> list[Place]:
        found: list[Place] = []
        seen = {(parent.document, parent.at)}
        waiting = [parent]
        while waiting:
            here = waiting.pop(0)
            for child in self._children.get((here.document, here.at), ()):
                if (child.document, child.at) not in seen:
                    seen.add((child.document, child.at))
                    found.append(child)
                    waiting.append(child)
        return found

    @cached_property
    def _children(self) -> dict[tuple[str, str], list[Place]]:
        found: dict[tuple[str, str], list[Place]] = {}
        for document in self.documents.held:
            home = Place(document, "", self.documents.held[document])
            for part in self._home.split("/")[1:]:
                home = home / part
            for _, schema in home.members():
                for part in (schema / "allOf").items():
                    target = self.documents.follow(part) if "$ref" in part.object else None
                    if target is not None:
                        found.setdefault((target.document, target.at), []).append(schema)
        return found

    @property
    def _home(self) -> str:
        return "/definitions" if "swagger" in self.documents.top.object else "/components/schemas"


def _property(place: Place) -> str | None:
    discriminator = place.object.get("discriminator")
    if isinstance(discriminator, str):
        return discriminator
    name = as_object(discriminator).get("propertyName")
    return name if isinstance(name, str) else None
