"""Reading a whole description: its operations one by one, each odd part noted, no odd part costing another one."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pegboard.errors import SourceError
from pegboard.schema.types import Json, JsonObject, as_list, as_object
from pegboard.sources.openapi.bodies import read_body, read_form
from pegboard.sources.openapi.documents import Documents, Place
from pegboard.sources.openapi.operation import Body, Operation, Outline, Parameter, Remark
from pegboard.sources.openapi.parameters import read_parameter
from pegboard.sources.openapi.polymorphism import Families
from pegboard.sources.openapi.schemas import Schemas

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace", "query")
_IGNORED_HEADERS = frozenset(("accept", "content-type", "authorization"))


@dataclass
class Description:
    """A description, opened.

    Parameters:
        documents: its documents.
        remarks: what was odd, collected while operations are read.
    """

    documents: Documents
    remarks: list[Remark] = field(default_factory=list[Remark])

    def __post_init__(self) -> None:
        top = self.documents.top.object
        self.swagger = str(top.get("swagger", "")).startswith("2")
        version = str(top.get("openapi", ""))
        if not self.swagger and not version.startswith("3."):
            raise SourceError(
                "This is no OpenAPI 3 or Swagger 2 document: neither `openapi` nor `swagger` says so.",
                where=self.documents.root,
                next_step="Name the description itself (often .../openapi.json), not the page that shows it.",
            )
        old = self.swagger or version.startswith("3.0")
        families = Families(self.documents)
        self.requests = Schemas(self.documents, old, True, families)
        self.responses = Schemas(self.documents, old, False, families)

    @property
    def top(self) -> Place:
        """The first document."""
        return self.documents.top

    def outlines(self) -> Iterator[Outline]:
        """Every operation, in the document's order, without its parts: cheap, whatever their size."""
        for path, item in (self.top / "paths").members():
            if path.startswith("x-"):
                continue
            found = self.documents.follow(item)
            if found is None or not isinstance(found.value, dict):
                self.remarks.append(Remark(path, item.at, "This path leads nowhere; it is left out.", fatal=True))
                continue
            # A path item may carry further members beside a `$ref`.
            for method, operation in self._methods(found, item):
                yield _outline(method, path, found, operation)
        self._note_webhooks()

    def _methods(self, found: Place, item: Place) -> Iterator[tuple[str, Place]]:
        for place in (found, item) if found.at != item.at or found.document != item.document else (found,):
            for key, operation in place.members():
                if key.lower() in METHODS:
                    if isinstance(operation.value, dict):
                        yield key.upper(), operation
                    else:
                        label = f"{key.upper()} {place.at}"
                        self.remarks.append(Remark(label, operation.at, "This is no operation object.", fatal=True))
            for key, operation in (place / "additionalOperations").members():
                if isinstance(operation.value, dict):
                    yield key, operation

    def _note_webhooks(self) -> None:
        names = [name for name, _ in (self.top / "webhooks").members()]
        if names:
            message = f"{len(names)} webhooks ({', '.join(names[:5])}) are calls that the service makes; no tools."
            self.remarks.append(Remark("webhooks", "/webhooks", message))

    def operation(self, outline: Outline) -> Operation:
        """One operation with its parts."""
        item, place, label = outline.item, outline.place, outline.label
        node = place.object
        raw = self._raw_parameters(item, place, label)
        body = self._body(outline.method, place, raw, label)
        accepts, output = self._answer(place, label)
        security = node["security"] if isinstance(node.get("security"), list) else self.top.object.get("security")
        return Operation(
            outline=outline,
            summary=place.text("summary") or item.text("summary"),
            description=place.text("description") or item.text("description"),
            parameters=tuple(self._parameters(outline.path, raw, label)),
            body=body,
            accepts=accepts,
            output=output,
            security=tuple(_requirement(entry) for entry in as_list(security) if isinstance(entry, dict)),
            servers=self._servers(item, place),
            sunset=place.text("x-sunset") or None,
        )

    def _raw_parameters(self, item: Place, place: Place, label: str) -> list[Place]:
        """The parameter objects of the path and the operation; one of the operation replaces one of the path."""
        found: dict[tuple[str, str], Place] = {}
        for entry in (*(item / "parameters").items(), *(place / "parameters").items()):
            target = self.documents.follow(entry)
            if target is None or not target.text("name"):
                reference = entry.object.get("$ref")
                what = f"leads nowhere ({reference})" if reference else "has no name"
                self.remarks.append(Remark(label, entry.at, f"A parameter {what}; it is left out."))
                continue
            found[(target.text("in"), target.text("name"))] = target
        return list(found.values())

    def _parameters(self, path: str, raw: Sequence[Place], label: str) -> Iterator[Parameter]:
        named = {place.text("name") for place in raw if place.text("in") == "path"}
        for place in raw:
            where, name = place.text("in"), place.text("name")
            if where in ("body", "formData"):
                continue
            if where == "header" and name.lower() in _IGNORED_HEADERS:
                message = f"The header {name} is set by media types and sign-in, not by an argument."
                self.remarks.append(Remark(label, place.at, message))
            elif where == "path" and f"{{{name}}}" not in path:
                self.remarks.append(Remark(label, place.at, f"The path has no {{{name}}}; the parameter is left out."))
            elif where not in ("path", "query", "header", "cookie", "querystring"):
                self.remarks.append(Remark(label, place.at, f"A parameter in {where!r} is not known; it is left out."))
            else:
                yield read_parameter(place, self.requests, swagger=self.swagger)
        for name in placeholders(path):
            if name not in named:
                message = f"The path has {{{name}}} and no parameter describes it; it is taken as a text."
                self.remarks.append(Remark(label, "", message))
                yield Parameter(
                    name=name, place="path", schema={"type": "string"}, required=True, style="simple", explode=False
                )

    def _body(self, method: str, place: Place, raw: Sequence[Place], label: str) -> Body | None:
        if self.swagger:
            consumes = as_list(place.object.get("consumes", self.top.object.get("consumes")))
            return read_form(raw, [str(kind) for kind in consumes], self.requests)
        entry = place / "requestBody"
        if entry.value is None:
            return None
        target = self.documents.follow(entry)
        if target is None:
            message = f"The request body leads nowhere ({entry.object.get('$ref')}); any JSON is taken."
            self.remarks.append(Remark(label, entry.at, message))
            target = Place(entry.document, entry.at, {"content": {"application/json": {}}})
        return read_body(target, self.documents, self.requests, default=method in ("POST", "PUT", "PATCH"))

    def _answer(self, place: Place, label: str) -> tuple[tuple[str, ...], JsonObject | None]:
        """The media types of the successful answers, and the schema of the first in JSON."""
        kinds: list[str] = []
        schema: JsonObject | None = None
        if self.swagger:
            kinds = [str(kind) for kind in as_list(place.object.get("produces", self.top.object.get("produces")))]
        for status, entry in (place / "responses").members():
            if status[:1] not in ("2", "d"):
                continue
            answer = self.documents.follow(entry)
            if answer is None:
                message = f"The answer {status} leads nowhere ({entry.object.get('$ref')}); its shape is not known."
                self.remarks.append(Remark(label, entry.at, message))
                continue
            for kind, media in (answer / "content").members():
                kinds.append(kind)
                target = self.documents.follow(media) or media
                if schema is None and "json" in kind and "schema" in target.object and status != "default":
                    schema = self.responses.convert(target / "schema")
            if self.swagger and schema is None and "schema" in answer.object and status != "default":
                schema = self.responses.convert(answer / "schema")
        return tuple(dict.fromkeys(kinds)), schema

    def _servers(self, item: Place, place: Place) -> tuple[str, ...]:
        for owner in (place, item, self.top):
            urls = tuple(_server_url(server) for server in (owner / "servers").items() if server.text("url"))
            if urls:
                return urls
        return self._old_servers(place) if self.swagger else ()

    def _old_servers(self, place: Place) -> tuple[str, ...]:
        top = self.top.object
        host, base = self.top.text("host"), self.top.text("basePath") or "/"
        schemes = [str(scheme) for scheme in as_list(place.object.get("schemes", top.get("schemes")))]
        if not host:
            return (base,)
        ordered = sorted(schemes, key=lambda scheme: scheme != "https") or [""]
        return tuple(f"{scheme}://{host}{base}" if scheme else f"//{host}{base}" for scheme in ordered)

    def schemes(self) -> Mapping[str, JsonObject]:
        """The security schemes by name."""
        home = self.top / "securityDefinitions" if self.swagger else self.top / "components" / "securitySchemes"
        found = {name: self.documents.follow(place) for name, place in home.members()}
        return {name: place.object for name, place in found.items() if place is not None}


def _outline(method: str, path: str, item: Place, place: Place) -> Outline:
    return Outline(
        method=method,
        path=path,
        item=item,
        place=place,
        id=place.text("operationId") or None,
        tags=tuple(str(tag) for tag in as_list(place.object.get("tags")) if isinstance(tag, str)),
        deprecated=place.object.get("deprecated") is True,
    )


def placeholders(path: str) -> list[str]:
    """The names in braces of a path template, each once."""
    return list(dict.fromkeys(re.findall(r"\{([^{}]+)\}", path)))


def _requirement(entry: Json) -> Mapping[str, tuple[str, ...]]:
    return {name: tuple(str(scope) for scope in as_list(scopes)) for name, scopes in as_object(entry).items()}


def _server_url(server: Place) -> str:
    url = server.text("url")
    for name, variable in (server / "variables").members():
        default = variable.object.get("default")
        url = url.replace(f"{{{name}}}", str(default) if default is not None else "")
    return url
