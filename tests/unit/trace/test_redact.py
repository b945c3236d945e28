"""No secret gets into a trace, a log or an error, whichever way it comes."""

import io
import json
import logging
from base64 import b64encode
from typing import Any
from urllib.parse import quote

import pytest

from pegboard.schema.cut import json_text
from pegboard.trace.redact import MASK, Redactor, looks_secret

SECRET = 'p@ss "wörd"/1'


@pytest.mark.parametrize(
    "key",
    [
        *("password", "Password", "db_password", "authorization", "Authorization", "proxy-authorization", "api_key"),
        *("apiKey", "API-KEY", "x-api-key", "access_token", "accessToken", "token", "client_secret", "privateKey"),
        *("Set-Cookie", "credentials", "AWS_SECRET_ACCESS_KEY", "passphrase", "refreshToken", "APIKEY"),
    ],
)
def test_keys_that_look_secret(key: str) -> None:
    assert looks_secret(key)


@pytest.mark.parametrize(
    "key",
    [
        *("max_tokens", "tokens", "next_page_token", "pageToken", "nextToken", "syncToken", "key", "primary_key"),
        *("author", "passport", "compass", "secretary", "keyword", "tokenizer", "", "path", "sort_key", "cookiecutter"),
    ],
)
def test_keys_that_only_resemble_one(key: str) -> None:
    assert not looks_secret(key)


@pytest.mark.parametrize(
    "text",
    [
        SECRET,
        f"login with {SECRET} failed",
        f"login with {json.dumps(SECRET)} failed",
        f"login with {json.dumps(SECRET, ensure_ascii=False)} failed",
        f"https://example.org/?q={quote(SECRET, safe='')}",
        f"Basic {b64encode(SECRET.encode()).decode()}",
        f"Basic {b64encode(b'user:' + SECRET.encode()).decode()}",
        f"x{b64encode(b'u:' + SECRET.encode() + b':more').decode()}",
    ],
)
def test_a_registered_secret_is_masked_in_every_spelling(text: str) -> None:
    redacted = Redactor([SECRET]).text(text)
    assert MASK in redacted
    assert "rd" not in redacted.replace("redacted", "")


def test_a_short_secret_is_masked_only_where_it_is_the_whole_text() -> None:
    redactor = Redactor(["abc"])
    assert redactor.text("abc") == MASK
    assert redactor.text("the abc of it") == "the abc of it"
    assert Redactor([""]).text("") == ""


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("key sk-abcdefghijklmnop1234 here", f"key {MASK} here"),
        ("ghp_abcdefghijklmnopqrst1234", MASK),
        ("AKIAIOSFODNN7EXAMPLE", MASK),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl", MASK),
        ("Authorization: Bearer abc.def.ghi-jkl", f"Authorization: Bearer {MASK}"),
        ("postgres://me:hunter2@db/x", f"postgres://{MASK}@db/x"),
        ("https://h/p?token=abc123&x=1", f"https://h/p?token={MASK}&x=1"),
        ("failed with token=abcdefgh123.", f"failed with token={MASK}"),
        ("https://h/p?page_token=abc123", "https://h/p?page_token=abc123"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----", MASK),
        (
            "a task, a risk; ghost = 1 at https://example.org/a:b",
            "a task, a risk; ghost = 1 at https://example.org/a:b",
        ),
    ],
)
def test_texts_in_the_form_of_known_tokens(text: str, left: str) -> None:
    assert Redactor().text(text) == left


def test_values_are_masked_in_place_and_the_rest_is_kept() -> None:
    redactor = Redactor([SECRET, "4711471147"])
    value = {
        "path": "a.txt",
        "password": "x",
        "nested": [{"api_key": {"deep": 1}}, f"with {SECRET}"],
        "number": 4711471147,
        "token": None,
        "use_token": True,
    }
    assert redactor.value(value) == {
        "path": "a.txt",
        "password": MASK,
        "nested": [{"api_key": MASK}, f"with {MASK}"],
        "number": MASK,
        "token": None,
        "use_token": True,
    }


def test_what_holds_no_secret_comes_back_as_the_same_object() -> None:
    value = {"a": [1, 2.5, None, True, "text", {"b": []}]}
    assert Redactor([SECRET]).value(value) is value


def test_a_value_without_a_floor_is_masked_whole() -> None:
    value: dict[str, Any] = {}
    value["self"] = value
    assert Redactor().value(value) == MASK


def test_logs_are_masked_with_their_arguments_and_tracebacks() -> None:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.addFilter(Redactor([SECRET]).log_filter)
    logger = logging.Logger("test")
    logger.addHandler(handler)
    try:
        raise ValueError(SECRET)
    except ValueError:
        logger.exception("failed with %s", SECRET)
    assert SECRET not in stream.getvalue()
    assert stream.getvalue().count(MASK) >= 2


@pytest.mark.parametrize(
    "value",
    [
        {"password": "x"},
        {"x-api-key": "x"},
        [f"see {SECRET}"],
        [b64encode(f"u:{SECRET}".encode()).decode()],
        ["short", "abc"],
        ["ghp_abcdefghijklmnopqrst1234"],
        ["AKIAIOSFODNN7EXAMPLE"],
        ["postgres://me:hunter2@db/x"],
        ["Authorization: Basic dXNlcjpwYXNz"],
        {"Cookie": 1},
        ["-----BEGIN PRIVATE KEY-----x"],
        ["xoxb-123456789012-abcdef"],
    ],
)
def test_what_would_be_masked_is_never_called_clean(value: Any) -> None:
    redactor = Redactor([SECRET, "abc"])
    assert redactor.value(value) != value
    assert not redactor.is_clean(json_text(value))


def test_plain_values_are_called_clean() -> None:
    assert Redactor([SECRET, "abc"]).is_clean(
        json_text({"path": "a/b", "rows": [1, 2.5, None], "text": "a plain text"})
    )
