"""What a person's sign-in to a server leaves behind: tokens, and how to renew them."""

from dataclasses import asdict, dataclass, field, fields
from typing import Any
from urllib.parse import urlsplit

_EARLY = 30.0
"""Seconds before its end at which an access token counts as spent."""


@dataclass(frozen=True, slots=True)
class SignIn:
    """A sign-in to one server.

    Parameters:
        server: the server, as `server_key` names it.
        access_token: what goes on requests.
        refresh_token: what a new one is had for, where there is one.
        expires: Unix time at which the access token ends; None where the server did not say.
        scope: what was granted, separated by spaces.
        resource: what the tokens are for (RFC 8707).
        issuer: who gave them.
        token_endpoint: where they are renewed.
        revocation_endpoint: where they are given back (RFC 7009).
        client_id: as whom we are registered there.
        client_secret: our secret, where we were given one.
        client_auth: how we show who we are: `none`, `client_secret_post` or `client_secret_basic`.
    """

    server: str
    access_token: str = field(repr=False)
    refresh_token: str | None = field(default=None, repr=False)
    expires: float | None = None
    scope: str | None = None
    resource: str | None = None
    issuer: str | None = None
    token_endpoint: str | None = None
    revocation_endpoint: str | None = None
    client_id: str | None = None
    client_secret: str | None = field(default=None, repr=False)
    client_auth: str | None = None

    def spent(self, now: float) -> bool:
        """Whether the access token is at its end."""
        return self.expires is not None and now > self.expires - _EARLY

    @property
    def renewable(self) -> bool:
        """Whether a new access token can be had without a person."""
        return bool(self.refresh_token and self.token_endpoint and self.client_id)

    @property
    def secrets(self) -> tuple[str, ...]:
        """The texts that may not be repeated in a message."""
        return tuple(text for text in (self.access_token, self.refresh_token, self.client_secret) if text)

    def to_json(self) -> dict[str, Any]:
        """As a JSON object, secrets included."""
        return {key: value for key, value in asdict(self).items() if value is not None}

    @classmethod
    def from_json(cls, found: dict[str, Any]) -> "SignIn":
        """Read it again; keys that are not known are left out.

        Raises:
            ValueError: the server or the access token is missing, or something is no text where one belongs.
        """
        known = {each.name for each in fields(cls)}
        kept = {key: value for key, value in found.items() if key in known and value is not None}
        texts = [key for key in kept if key != "expires" and not isinstance(kept[key], str)]
        if texts or not kept.get("server") or not kept.get("access_token"):
            raise ValueError(f"no sign-in: {', '.join(texts) or 'server or access_token is missing'}")
        if "expires" in kept and (isinstance(kept["expires"], bool) or not isinstance(kept["expires"], int | float)):
            raise ValueError("no sign-in: expires is no number")
        return cls(**kept)


def server_key(url: str) -> str:
    """The name that sign-ins to a server are kept under: its address without user, query and fragment."""
    parts = urlsplit(url)
    return f"{parts.scheme.lower()}://{parts.netloc.rpartition('@')[2].lower()}{parts.path.rstrip('/')}"
