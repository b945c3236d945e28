"""What one operation is, read from the description: enough to make a request, and to tell a model what it does."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pegboard.schema.types import Schema
from pegboard.sources.openapi.documents import Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One parameter.

    Parameters:
        name: its name on the wire; with `place` it is unique.
        place: `path`, `query`, `header`, `cookie`, or `querystring` (the whole query string, OpenAPI 3.2).
        schema: its JSON Schema, converted, with references to `$defs`.
        required: whether a request needs it.
        style: how values are written: `form`, `simple`, `label`, `matrix`, `spaceDelimited`, `pipeDelimited`,
            `tabDelimited`, `deepObject`, or `json` (one JSON text).
        explode: whether lists and objects become several.
        reserved: whether reserved characters stay as they are.
        empty: whether an empty value is sent.
    """

    name: str
    place: str
    schema: Schema = field(repr=False)
    required: bool = False
    style: str = "form"
    explode: bool = True
    reserved: bool = False
    empty: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoding:
    """How one property of a form travels.

    Parameters:
        content_type: its media type in a multipart body.
        style: as of a query parameter.
        explode: likewise.
    """

    content_type: str | None = None
    style: str = "form"
    explode: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """What a request carries.

    Parameters:
        media_type: in which form it is sent.
        schema: its JSON Schema, converted.
        required: whether a request needs it.
        encodings: how the properties of a form travel, where the description says so.
        description: what it is.
    """

    media_type: str
    schema: Schema = field(repr=False)
    required: bool = True
    encodings: Mapping[str, Encoding] = field(default_factory=dict[str, Encoding])
    description: str = ""

    @property
    def kind(self) -> str:
        """`json`, `form`, `multipart`, `text` or `bytes`."""
        kind = self.media_type.partition(";")[0].strip().lower()
        if kind in ("application/json", "*/*", "application/*") or kind.endswith(("+json", "/json")):
            return "json"
        if kind == "application/x-www-form-urlencoded":
            return "form"
        if kind.startswith("multipart/"):
            return "multipart"
        if kind.startswith("text/") or kind.endswith(("/xml", "+xml", "/yaml", "+yaml", "/x-yaml", "/graphql", "/sql")):
            return "text"
        return "bytes"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """What tells an operation from the others.

    Parameters:
        method: the verb, in capitals.
        path: the path template.
        item: the path item that holds it.
        place: where it stands in the description.
        id: its `operationId`, or None.
        tags: its tags.
        deprecated: whether it is.
    """

    method: str
    path: str
    item: Place
    place: Place
    id: str | None = None
    tags: tuple[str, ...] = ()
    deprecated: bool = False

    @property
    def label(self) -> str:
        """What notes call it."""
        return f"{self.method} {self.path}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One operation with its parts.

    Parameters:
        outline: which operation it is.
        summary: its summary.
        description: its description.
        parameters: its parameters, those of its path included, in order.
        body: what it carries.
        accepts: the media types of its successful answers.
        output: the schema of its successful JSON answer, converted.
        security: the alternatives of schemes (name to scopes) that it needs; empty: none.
        servers: the URLs that its path is relative to, as written.
        sunset: when it ends, where the description says so.
    """

    outline: Outline
    summary: str = ""
    description: str = ""
    parameters: tuple[Parameter, ...] = ()
    body: Body | None = None
    accepts: tuple[str, ...] = ()
    output: Schema | None = field(default=None, repr=False)
    security: tuple[Mapping[str, tuple[str, ...]], ...] = ()
    servers: tuple[str, ...] = ()
    sunset: str | None = None

    @property
    def method(self) -> str:
        """The verb, in capitals."""
        return self.outline.method

    @property
    def path(self) -> str:
        """The path template."""
        return self.outline.path


@dataclass(frozen=True, slots=True)
class Remark:
    """Something odd about an operation.

    Parameters:
        label: the operation, as `METHOD path`.
        at: the JSON pointer.
        message: what was found, and what was done.
        fatal: whether the operation was set aside.
    """

    label: str
    at: str
    message: str
    fatal: bool = False
