"""Which credentials an operation needs, and which of them the operator gave."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pegboard.errors import ConfigError, nearest
from pegboard.schema.types import JsonObject, as_object
from pegboard.sources.http.auth import Credential, Fixed, basic, bearer, credential
from pegboard.sources.openapi.operation import Operation


@dataclass(frozen=True, slots=True)
class Security:
    """The credentials of one source.

    Parameters:
        schemes: the security schemes of the description, by name.
        given: what the operator gave, by scheme.
        every: what signs every request, whatever the description says.
    """

    schemes: Mapping[str, JsonObject]
    given: Mapping[str, Credential]
    every: Credential | None = None

    def of(self, operation: Operation) -> tuple[Credential, ...]:
        """What signs the requests of an operation: the first alternative that can be met whole."""
        if self.every is not None:
            return (self.every,)
        for alternative in operation.security:
            if alternative and all(name in self.given for name in alternative):
                return tuple(self.given[name] for name in alternative)
        if any(not alternative for alternative in operation.security) or not operation.security:
            return ()
        wanted = {name for alternative in operation.security for name in alternative}
        return tuple(self.given[name] for name in self.given if name in wanted)

    def needs(self, operation: Operation) -> str | None:
        """What an operation must be signed in to, in words; None where it needs nothing."""
        if not operation.security or any(not alternative for alternative in operation.security):
            return None
        ways = [" and ".join(self._said(name) for name in alternative) for alternative in operation.security]
        return " or ".join(dict.fromkeys(ways))

    def hidden(self, operation: Operation) -> frozenset[str]:
        """The names of parameters that a given credential fills, so that no model has to."""
        signing = self.of(operation)
        return frozenset(one.name for one in signing if isinstance(one, Fixed))

    def _said(self, name: str) -> str:
        scheme = self.schemes.get(name, {})
        kind = str(scheme.get("type", "unknown"))
        kind = str(scheme.get("scheme", kind)).lower() if kind == "http" else kind
        return f"{kind}:{name}"


def read_security(auth: Any, schemes: Mapping[str, JsonObject], *, where: str) -> Security:
    """The credentials that a config gives.

    Parameters:
        auth: a text or table for the only scheme, or a table by scheme; references replaced.
        schemes: the security schemes of the description.
        where: the key, for errors.

    Raises:
        ConfigError: it names a scheme that the description does not have, or gives what it cannot use.
    """
    if auth is None or auth == {}:
        return Security(schemes, {})
    if isinstance(auth, Mapping) and _by_scheme(as_object(auth), schemes, where):
        given = {name: _credential(value, schemes[name], f"{where}.{name}") for name, value in as_object(auth).items()}
        return Security(schemes, given)
    if len(schemes) == 1:
        [(name, scheme)] = schemes.items()
        return Security(schemes, {name: _credential(auth, scheme, where)})
    return Security(schemes, {}, credential(auth, where=where))


_KEYS = frozenset(("token", "username", "password", "header", "query", "cookie", "value", "client_id", "client_secret"))


def _by_scheme(auth: JsonObject, schemes: Mapping[str, JsonObject], where: str) -> bool:
    if set(auth) <= set(schemes):
        return True
    if set(auth) <= _KEYS | {"token_url", "scopes"}:
        return False
    [unknown] = [name for name in auth if name not in schemes][:1]
    near = nearest(unknown, schemes) or list(schemes)
    raise ConfigError(
        f"The description has no security scheme {unknown!r}.",
        where=where,
        next_step=f"It has: {', '.join(near)}." if near else "It has none; write a token or a header.",
    )


def _credential(value: Any, scheme: JsonObject, where: str) -> Credential:
    kind = scheme.get("type")
    if isinstance(value, str):
        text = value.strip()
        if kind == "apiKey":
            return Fixed(str(scheme.get("in", "header")), str(scheme.get("name", "Authorization")), text)
        if kind == "basic" or (kind == "http" and str(scheme.get("scheme", "")).lower() == "basic"):
            user, colon, password = text.partition(":")
            return basic(user, password) if colon else Fixed("header", "Authorization", f"Basic {text}")
        return Fixed("header", "Authorization", text) if " " in text else bearer(text)
    flow = _client_flow(scheme)
    scopes = as_object(flow.get("scopes"))
    token_url = flow.get("tokenUrl")
    return credential(
        value, where=where, token_url=token_url if isinstance(token_url, str) else None, scopes=tuple(scopes)
    )


def _client_flow(scheme: JsonObject) -> JsonObject:
    if scheme.get("flow") == "application":  # Swagger 2.0
        return scheme
    return as_object(as_object(scheme.get("flows")).get("clientCredentials"))
