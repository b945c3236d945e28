"""Keep secrets out of traces, logs and error texts.

Three nets: values that someone registered as secret, keys that look secret, and texts in the form of known tokens.
"""

import json
import logging
import re
from base64 import b64encode
from collections.abc import Iterable, Mapping
from typing import Any, cast
from urllib.parse import quote, quote_plus

from pegboard.schema.types import Json

MASK = "[redacted]"

_SHORTEST = 6
"""A shorter secret is masked only where it is the whole text: inside of others it would hit by chance."""

_TOKENS = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"
    r"|\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*"
    r"|\b(?:sk|pk|rk)[-_][\w-]{16,}"
    r"|\b(?:gh[pousr]|glpat|github_pat|npm|hf|xox[abeprs])[-_][\w-]{16,}"
    r"|\bAKIA[0-9A-Z]{16}\b"
    r"|\bAIza[\w-]{35}\b"
    r"|(?i:(?<=bearer )|(?<=basic ))[\w.~+/=-]{8,}"
    r"|(?<=://)[^/\s:@\"']{1,256}:[^/\s@\"']{1,256}(?=@)"
    r"|(?i:(?<=\btoken=)|(?<=[?&]key=)|(?<=api_key=)|(?<=apikey=)|(?<=password=)|(?<=secret=)|(?<=access_token=))"
    r"[^&\s\"']+",
    re.DOTALL,
)
_SHORTEST_TOKEN = 8

_SUSPICIOUS = (
    *("pass", "pwd", "secret", "token", "key", "auth", "cookie", "cred", "jwt", "otp", "bearer ", "basic ", "://"),
    *("-----begin", "eyj", "sk-", "sk_", "pk-", "pk_", "rk-", "rk_", "ghp", "gho", "ghu", "ghs", "ghr", "glpat"),
    *("github", "npm", "hf_", "hf-", "xox", "akia", "aiza"),
)
"""Every key that looks secret, and every token, has one of these in lower case."""

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_SECRET_WORDS = frozenset(
    (
        *("password", "passwd", "pwd", "passphrase", "secret", "secrets", "credential", "credentials", "authorization"),
        *("apikey", "accesstoken", "authtoken", "refreshtoken", "idtoken", "sessiontoken", "bearertoken", "jwt", "otp"),
        *("clientsecret", "privatekey", "secretkey", "cookie", "cookies"),
    )
)
_SECRET_KEYS = frozenset(("api", "access", "private", "secret", "signing", "encryption", "account", "auth"))
_PLAIN_TOKENS = frozenset(("page", "next", "previous", "sync", "continuation", "cursor", "start", "delta", "stop"))


def looks_secret(key: str) -> bool:
    """Whether a key names a secret (`Authorization`, `api_key`, `accessToken`), in any spelling of its words.

    `max_tokens` and the tokens of paging (`next_page_token`) are no secrets.
    """
    words = [word.lower() for word in _WORDS.findall(key)]
    if not words:
        return False
    if _SECRET_WORDS.intersection(words):
        return True
    before = words[-2] if len(words) > 1 else ""
    if words[-1] == "token":
        return before not in _PLAIN_TOKENS
    return words[-1] in ("key", "keys") and before in _SECRET_KEYS


class Redactor:
    """Masks secrets. Registering is safe from any thread; masking never fails.

    Parameters:
        secrets: values that are secret from the start.
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._spellings: set[str] = set()
        self._whole: set[str] = set()
        self._short: tuple[str, ...] = ()
        self._pattern: re.Pattern[str] | None = None
        for secret in secrets:
            self.register(secret)

    def register(self, secret: str) -> None:
        """Mask this value from now on, also where it stands escaped, in a URL, or in base64."""
        if not secret or secret in self._whole:
            return
        self._whole = self._whole | {secret}
        if len(secret) < _SHORTEST:
            self._short = (*self._short, json.dumps(secret, ensure_ascii=False)[1:-1])
        else:
            self._spellings = self._spellings | set(_spellings(secret))
            longest_first = sorted(self._spellings, key=lambda text: (-len(text), text))
            self._pattern = re.compile("|".join(map(re.escape, longest_first)))

    def text(self, text: str) -> str:
        """The text with each secret masked."""
        if text in self._whole:
            return MASK
        if self._pattern is not None:
            text = self._pattern.sub(MASK, text)
        return _TOKENS.sub(MASK, text) if len(text) >= _SHORTEST_TOKEN else text

    def is_clean(self, json_text: str) -> bool:
        """Whether the JSON text of a value certainly holds no secret: much quicker than `value`, for most values."""
        lower = json_text.lower()
        for mark in _SUSPICIOUS:  # a plain loop: `any` over a generator takes four times as long, for every call
            if mark in lower:
                return False
        if self._pattern is not None and self._pattern.search(json_text):
            return False
        return not any(short in json_text for short in self._short)

    def value(self, value: Json) -> Json:
        """The JSON value with each secret masked, in texts and under keys that look secret.

        What holds no secret comes back as the same object.
        """
        try:
            return self._masked(value)
        except RecursionError:
            return MASK

    def _masked(self, value: Json) -> Json:
        match value:
            case str():
                return self.text(value)
            case dict():
                return self._masked_members(cast("dict[str, Any]", value))
            case Mapping():
                return self._masked_members(dict(cast("Mapping[str, Any]", value)))
            case list() | tuple():
                items = cast("list[Any]", value)
                masked = [self._masked(item) for item in items]
                return masked if any(new is not old for new, old in zip(masked, items, strict=True)) else items
            case bool() | None:
                return value
            case _:
                return MASK if self._whole and str(value) in self._whole else value

    def _masked_members(self, members: dict[str, Any]) -> dict[str, Any]:
        masked: dict[str, Any] = {}
        changed = False
        for key, inner in members.items():
            new = MASK if inner not in (None, "") and not isinstance(inner, bool) and _is_secret(key) else None
            masked[key] = new if new is not None else self._masked(inner)
            changed = changed or masked[key] is not inner
        return masked if changed else members

    @property
    def log_filter(self) -> logging.Filter:
        """A filter for `logging` handlers that masks secrets in messages, their arguments and tracebacks."""
        return _LogFilter(self)


_known_keys: dict[str, bool] = {}


def _is_secret(key: Any) -> bool:
    """`looks_secret`, remembered: the same few keys come again and again."""
    found = _known_keys.get(key)
    if found is None:
        found = looks_secret(str(key))
        if len(_known_keys) < 10_000:
            _known_keys[key] = found
    return found


def _spellings(secret: str) -> list[str]:
    """The forms in which a secret turns up: as it is, in JSON, in a URL, in base64 (of any alignment)."""
    raw = secret.encode("utf-8", "surrogatepass")
    escaped = {json.dumps(secret, ensure_ascii=ascii)[1:-1] for ascii in (True, False)}
    shifted = [b64encode(b"\0" * shift + raw).decode() for shift in range(3)]
    encoded = [text[(0, 2, 3)[shift] :].rstrip("=")[:-1] for shift, text in enumerate(shifted)]
    safe = secret.encode("utf-8", "replace").decode()
    found = {secret, *escaped, quote(safe, safe=""), quote_plus(safe), *encoded}
    return sorted(text for text in found if len(text) >= _SHORTEST)


class _LogFilter(logging.Filter):
    def __init__(self, redactor: Redactor) -> None:
        super().__init__()
        self._redactor = redactor

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = self._redactor.text(record.getMessage()), None
        if record.exc_info:
            record.exc_text = self._redactor.text(logging.Formatter().formatException(record.exc_info))
        return True
