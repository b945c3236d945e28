"""Where sign-ins are kept: the system's keyring, an encrypted file, or an environment variable."""

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, cast

from pegboard.errors import MissingExtraError, StoreError
from pegboard.wire.oauth.signin import SignIn

_SERVICE = "pegboard"
_KEY = "PEGBOARD_SIGN_IN_KEY"
_VARIABLE = "PEGBOARD_SIGN_IN_"


class Vault(Protocol):
    """Keeps sign-ins, by server."""

    @property
    def place(self) -> str:
        """Where it keeps them, in words."""
        ...

    def load(self, server: str) -> SignIn | None:
        """The sign-in to a server; None where there is none. Raises `StoreError` where it cannot be read."""
        ...

    def save(self, signin: SignIn) -> None:
        """Keep it, instead of an older one. Raises `StoreError` where it cannot be kept."""
        ...

    def remove(self, server: str) -> bool:
        """Forget it; whether there was one."""
        ...


class FileVault:
    """One encrypted file a server (Fernet: AES-128-CBC with HMAC-SHA256), readable by the user alone.

    The key is the environment variable PEGBOARD_SIGN_IN_KEY, or a file of its own beside them that is made when it is
    first needed: it keeps tokens out of backups of single files and of synchronised folders, not from who reads both.

    Parameters:
        folder: where the files stand; it is made when it is needed.
        environ: the environment; the process's own by default.
    """

    def __init__(self, folder: Path, environ: Mapping[str, str] | None = None) -> None:
        self._folder = folder
        self._environ = os.environ if environ is None else environ

    @property
    def place(self) -> str:
        """The folder."""
        return f"encrypted files in {self._folder}"

    def load(self, server: str) -> SignIn | None:
        """Read and decrypt it."""
        file = self._file(server)
        if not file.exists():
            return None
        from cryptography.fernet import InvalidToken

        try:
            return SignIn.from_json(json.loads(self._cipher().decrypt(file.read_bytes())))
        except (InvalidToken, ValueError, TypeError):
            raise StoreError(
                "The sign-in cannot be decrypted: it is damaged, or was kept under another key.",
                where=str(file),
                next_step=f"Set {_KEY} to that key, or sign in again with `pegboard auth login`.",
            ) from None
        except OSError as problem:
            raise self._problem("read", file, problem) from problem

    def save(self, signin: SignIn) -> None:
        """Encrypt it, and put it in the old one's place at once."""
        file = self._file(signin.server)
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            _write(file, self._cipher().encrypt(json.dumps(signin.to_json()).encode()))
        except OSError as problem:
            raise self._problem("written", file, problem) from problem

    def remove(self, server: str) -> bool:
        """Delete its file."""
        file = self._file(server)
        existed = file.exists()
        file.unlink(missing_ok=True)
        return existed

    def _file(self, server: str) -> Path:
        return self._folder / f"{hashlib.sha256(server.encode()).hexdigest()[:24]}.signin"

    def _cipher(self) -> Any:
        from cryptography.fernet import Fernet

        given = self._environ.get(_KEY)
        try:
            return Fernet(given if given else self._own_key())
        except ValueError:
            raise StoreError(
                "The key is none.",
                where=_KEY if given else str(self._folder / "key"),
                next_step="It is 32 random bytes in URL-safe base64.",
            ) from None

    def _own_key(self) -> bytes:
        from cryptography.fernet import Fernet

        file = self._folder / "key"
        if not file.exists():
            with suppress(FileExistsError):
                with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as new:
                    new.write(Fernet.generate_key())
        return file.read_bytes().strip()

    @staticmethod
    def _problem(what: str, file: Path, problem: OSError) -> StoreError:
        return StoreError(
            f"The sign-in cannot be {what}: {problem.strerror or problem}.",
            where=str(file),
            next_step="Correct its permissions, or make room.",
        )


def _write(file: Path, content: bytes) -> None:
    part = file.with_suffix(f".{os.getpid()}")
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as new:
        new.write(content)
    part.replace(file)


class KeyringVault:
    """The system's keyring (extra `keyring`).

    Parameters:
        backend: a keyring backend; the system's own by default.

    Raises:
        MissingExtraError: the extra is not installed.
    """

    def __init__(self, backend: Any = None) -> None:
        self._backend = backend or _keyring()

    @property
    def place(self) -> str:
        """The backend's name."""
        return f"the keyring ({type(self._backend).__module__.rpartition('.')[2]})"

    def load(self, server: str) -> SignIn | None:
        """Ask the keyring for it."""
        try:
            found = self._backend.get_password(_SERVICE, server)
            return None if found is None else SignIn.from_json(json.loads(found))
        except Exception as problem:
            raise self._problem("read", server, problem) from problem

    def save(self, signin: SignIn) -> None:
        """Give it to the keyring."""
        try:
            self._backend.set_password(_SERVICE, signin.server, json.dumps(signin.to_json()))
        except Exception as problem:
            raise self._problem("kept", signin.server, problem) from problem

    def remove(self, server: str) -> bool:
        """Have the keyring forget it."""
        try:
            if self._backend.get_password(_SERVICE, server) is None:
                return False
            self._backend.delete_password(_SERVICE, server)
        except Exception as problem:
            raise self._problem("removed", server, problem) from problem
        return True

    @staticmethod
    def _problem(what: str, server: str, problem: Exception) -> StoreError:
        return StoreError(
            f"The keyring's entry cannot be {what} ({type(problem).__name__}).",
            where=server,
            next_step='Unlock the keyring, or keep sign-ins in files: [board] sign_ins = "file".',
        )


class EnvironmentVault:
    """Sign-ins from environment variables first (PEGBOARD_SIGN_IN_<SOURCE>, for machines where nobody signs in).

    The variable holds what `pegboard auth export` prints, or an access token alone. What is renewed is kept in the
    other vault, and wins once it is there for the same refresh token's client.

    Parameters:
        source: the source's name.
        server: the server that the variable is for.
        beyond: opens where everything else is kept.
        environ: the environment; the process's own by default.
    """

    def __init__(
        self, source: str, server: str, beyond: Callable[[], Vault], environ: Mapping[str, str] | None = None
    ) -> None:
        self.variable = variable_of(source)
        self._server, self._open = server, beyond
        self._environ = os.environ if environ is None else environ

    @cached_property
    def _beyond(self) -> Vault:
        return self._open()

    @property
    def place(self) -> str:
        """The variable, where it is set."""
        return self.variable if self._environ.get(self.variable) else self._beyond.place

    def load(self, server: str) -> SignIn | None:
        """The variable's, where it is set; a renewed one of it before it."""
        given = self._environ.get(self.variable, "").strip()
        if not given or server != self._server:
            return self._beyond.load(server)
        mine = self._read(given)
        if not mine.renewable:
            return mine
        renewed = self._beyond.load(server)
        return renewed if renewed is not None and renewed.client_id == mine.client_id else mine

    def save(self, signin: SignIn) -> None:
        """Into the other."""
        self._beyond.save(signin)

    def remove(self, server: str) -> bool:
        """From the other."""
        return self._beyond.remove(server)

    def _read(self, given: str) -> SignIn:
        if not given.startswith("{"):
            return SignIn(self._server, given)
        try:
            return SignIn.from_json({**json.loads(given), "server": self._server})
        except (ValueError, TypeError):
            raise StoreError(
                "It holds no sign-in.",
                where=self.variable,
                next_step="Set it to what `pegboard auth export` prints, or to an access token.",
            ) from None


def variable_of(source: str) -> str:
    """The environment variable that may hold a source's sign-in."""
    return _VARIABLE + "".join(letter if letter.isalnum() else "_" for letter in source).upper()


def vault_of(kind: str, folder: Path, environ: Mapping[str, str] | None = None) -> Vault:
    """The vault that a setting names.

    Parameters:
        kind: `keyring`, `file`, or `auto`: the keyring where there is one that works, else files.
        folder: where the files stand.
        environ: the environment; the process's own by default.

    Raises:
        MissingExtraError: the keyring is wanted, and its extra is not installed.
    """
    if kind == "file":
        return FileVault(folder, environ)
    if kind == "keyring":
        return KeyringVault()
    try:
        return KeyringVault()
    except (MissingExtraError, StoreError):
        return FileVault(folder, environ)


def _keyring() -> Any:
    try:
        import keyring
        from keyring.backends import fail, null
    except ImportError:
        raise MissingExtraError("keyring", feature="Keeping sign-ins in the system's keyring") from None
    backend = cast("Any", keyring).get_keyring()
    if isinstance(backend, fail.Keyring | null.Keyring) or getattr(backend, "priority", 1) < 1:
        raise StoreError(
            "This machine has no keyring that works.",
            where="[board] sign_ins",
            next_step='Keep sign-ins in files: sign_ins = "file".',
        )
    return backend
