"""What a discoverable may do once it is there, in words that a person can decide by."""

from collections.abc import Iterable, Sequence
from pathlib import PurePath
from urllib.parse import urlsplit

from pegboard.core.discoverable import Need, Package, Part

_REGISTRIES = {"pypi": "from PyPI", "npm": "from npm", "oci": "as a container image", "folder": "as a folder"}


def permissions(parts: Sequence[Part], needs: Sequence[Need], declared: Iterable[str] = ()) -> tuple[str, ...]:
    """Each permission once: what its parts do, what it reads, and what its author declares."""
    found = [line for part in parts for line in _of_part(part)]
    found += [f"reads the environment variable {need.variable}" for need in needs]
    return tuple(dict.fromkeys([*found, *declared]))


def auth_of(needs: Sequence[Need]) -> str | None:
    """What has to be signed in to, from what the person has to bring."""
    secrets = [need for need in needs if need.secret]
    return f"env:{secrets[0].variable}" if secrets else None


def _of_part(part: Part) -> list[str]:
    package = part.package
    lines = [] if package is None else [f"installs {_named(package)}"]
    target = part.table.get("mcp")
    if isinstance(target, str):
        return [*lines, f"sends calls to {urlsplit(target).hostname}"]
    return [*lines, "runs a program on this machine" if isinstance(target, list) else f"adds a source {part.name}"]


def _named(package: Package) -> str:
    loose = package.registry != "folder" and package.sha256 is None
    version = f" {package.version}" if package.version else " (whatever version is the newest)" if loose else ""
    name = PurePath(package.identifier).name if package.registry == "folder" else package.identifier
    return f"{name}{version} {_REGISTRIES.get(package.registry, package.registry)}"
