"""What a client's config spells out and a `pegboard.toml` must not: variables and secrets, turned into references."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from pegboard.config.clients.machine import Machine
from pegboard.trace.redact import Redactor, looks_secret

_BRACES = re.compile(r"\$\{([^}]*)\}")
_DOLLAR = re.compile(r"\$\{([^}]*)\}|\$([A-Za-z_]\w*)")
_VARIABLE = re.compile(r"([A-Za-z_]\w*)(?::-(.*))?", re.DOTALL)
_SECRET_ENDING = re.compile(r"(?i)(?:^|[_\W])(?:key|token|auth|pat|dsn|secret|credentials?)$")
_FLAG = re.compile(r"(--?[\w-]+|[A-Za-z_]\w*)=(.+)", re.DOTALL)
_HEADER = re.compile(r"([A-Za-z][\w-]*):\s*(.+)", re.DOTALL)
_SCHEME = re.compile(r"(?i)((?:bearer|basic|token)\s+)(.+)", re.DOTALL)
_REDACTOR = Redactor()


class Unreadable(ValueError):
    """A text that means nothing outside of its client; the message says why."""


def variable_name(text: str) -> str:
    """A text as the name of an environment variable."""
    name = re.sub(r"\W+", "_", text).strip("_").upper() or "SECRET"
    return f"_{name}" if name[0].isdigit() else name


def is_secret(key: str, value: str) -> bool:
    """Whether a value looks secret, by its key or by its own form. What already is a reference is none."""
    if not value or "${" in value:
        return False
    return looks_secret(key) or bool(_SECRET_ENDING.search(key)) or _REDACTOR.text(value) != value


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads the texts of one file: the client's variables become references.

    Parameters:
        machine: for the variables that stand for folders.
        folder: what the client calls the workspace; None where there is none.
        variables: the client's spelling, as in `Client.variables`.
    """

    machine: Machine
    folder: str | None
    variables: str

    def text(self, text: str) -> str:
        """The text with Pegboard's references.

        Raises:
            Unreadable: it has a variable that only the client can fill.
        """
        if self.variables == "none":
            return text.replace("${", "$${")
        pattern = _DOLLAR if self.variables == "dollar" else _BRACES
        return pattern.sub(lambda found: self._reference(found[found.lastindex or 1]), text)

    def _reference(self, body: str) -> str:
        scheme, colon, rest = body.partition(":")
        if colon and scheme in ("env", "file") and rest:
            return f"${{{body}}}"
        if colon and scheme == "input":
            return f"${{env:{variable_name(rest)}}}"
        if body == "userHome":
            return str(self.machine.home)
        if body in ("pathSeparator", "/"):
            return "\\" if self.machine.platform == "windows" else "/"
        if body in ("workspaceFolder", "workspaceRoot") and self.folder is not None:
            return self.folder
        found = _VARIABLE.fullmatch(body)
        if found is None or body in ("workspaceFolder", "workspaceRoot", "workspaceFolderBasename"):
            raise Unreadable(f"${{{body}}} has a value in the client alone")
        fallback = found[2]
        return f"${{env:{found[1]}}}" if fallback is None or found[1] in self.machine.environ else fallback


@dataclass(slots=True)
class Vault:
    """Gives each secret a variable of its own, and forgets none.

    Parameters:
        values: the secrets by variable. They stay in memory.
    """

    values: dict[str, str] = field(default_factory=dict[str, str])

    def hide(self, value: str, *names: str) -> str:
        """A reference that stands for a secret.

        Parameters:
            value: the secret.
            names: what to call it, the best first; the next one is taken where another secret has the name. A secret
                that is known already keeps its variable.
        """
        for name, known_value in self.values.items():
            if known_value == value:
                return f"${{env:{name}}}"
        known = [variable_name(name) for name in names]
        known += [f"{known[-1]}_{number}" for number in range(2, 1000)]
        name = next(name for name in known if self.values.get(name, value) == value)
        self.values[name] = value
        return f"${{env:{name}}}"

    def environment(self, source: str, env: Mapping[str, str]) -> dict[str, str]:
        """A program's variables without their secrets."""
        return {
            key: self.hide(value, key, f"{source}_{key}") if is_secret(key, value) else value
            for key, value in env.items()
        }

    def headers(self, source: str, headers: Mapping[str, str]) -> dict[str, str]:
        """HTTP headers without their secrets; `Bearer` stays readable."""
        return {key: self.header(source, key, value) for key, value in headers.items()}

    def header(self, source: str, key: str, value: str) -> str:
        """One header's value without its secret."""
        if not is_secret(key, value):
            return value
        found = _SCHEME.fullmatch(value)
        if found:
            return found[1] + self.hide(found[2], f"{source}_token")
        return self.hide(value, f"{source}_{key}")

    def address(self, source: str, url: str) -> str:
        """An address; as a whole a secret where a part of it is one."""
        return self.hide(url, f"{source}_url") if is_secret("", url) else url

    def arguments(self, source: str, arguments: list[str]) -> list[str]:
        """A program's arguments without their secrets: `--token X`, `--token=X`, `NAME=X`, `Header: X`, tokens."""
        before = ["", *arguments]
        return [self._argument(source, last, text) for last, text in zip(before, arguments, strict=False)]

    def _argument(self, source: str, last: str, text: str) -> str:
        flag, header = _FLAG.fullmatch(text), _HEADER.fullmatch(text)
        if flag and is_secret(flag[1], flag[2]):
            name = flag[1].lstrip("-")
            own = name if flag[1] == name else f"{source}_{name}"
            return f"{flag[1]}={self.hide(flag[2], own, f'{source}_{name}')}"
        if header and not header[2].startswith("//") and is_secret(header[1], header[2]):
            return f"{header[1]}: {self.header(source, header[1], header[2])}"
        if last.startswith("--") and "=" not in last and not text.startswith("-") and is_secret(last, text):
            return self.hide(text, f"{source}_{last}")
        return self.hide(text, f"{source}_argument") if is_secret("", text) else text
