"""Kit: a tiny package with a real MCP server, built as a wheel within the test; it needs nothing but Python."""

import base64
import hashlib
import zipfile
from pathlib import Path

SERVER = '''\
"""An MCP server on the standard library alone: JSON-RPC, a line a message."""

import json
import os
import sys

TOOL = {
    "name": "get_forecast",
    "description": "VERSION forecast of the weather for a place.",
    "inputSchema": {"type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"]},
    "annotations": {"readOnlyHint": True},
}


def answer(method, params):
    if method == "initialize":
        info = {"name": "tiny-weather", "version": "VERSION"}
        version = params.get("protocolVersion", "2025-06-18")
        return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
    if method == "tools/list":
        return {"tools": [TOOL]}
    if method == "tools/call":
        text = "Sunny in " + params["arguments"]["place"] + os.environ.get("TINY_SUFFIX", "")
        return {"content": [{"type": "text", "text": text}]}
    return None


def main():
    if os.environ.get("TINY_BROKEN"):
        sys.exit("tiny-weather: it was told to break")
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message:
            continue
        result = answer(message["method"], message.get("params") or {})
        reply = {"jsonrpc": "2.0", "id": message["id"]}
        if result is None:
            reply["error"] = {"code": -32601, "message": "Method not found"}
        else:
            reply["result"] = result
        sys.stdout.write(json.dumps(reply) + "\\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
'''


def wheel(folder: Path, version: str = "1.0.0", *, program: bool = True, requires: str | None = None) -> Path:
    """A wheel of `tiny-weather`.

    Parameters:
        folder: the wheelhouse.
        version: its version.
        program: whether it brings a program.
        requires: a package that it needs.
    """
    folder.mkdir(parents=True, exist_ok=True)
    info = f"tiny_weather-{version}.dist-info"
    needs = f"Requires-Dist: {requires}\n" if requires else ""
    files = {
        "tiny_weather.py": SERVER.replace("VERSION", version),
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: tiny-weather\nVersion: {version}\n{needs}",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    if program:
        files[f"{info}/entry_points.txt"] = "[console_scripts]\ntiny-weather = tiny_weather:main\n"
    record = "".join(f"{name},sha256={_hash(text)},{len(text.encode())}\n" for name, text in files.items())
    path = folder / f"tiny_weather-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in {**files, f"{info}/RECORD": f"{record}{info}/RECORD,,\n"}.items():
            archive.writestr(name, text)
    return path


def sha256(path: Path) -> str:
    """The hash of a file, in hex."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _hash(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()


def board(folder: Path, entry: str, more: str = "") -> Path:
    """A board with a wheelhouse and one directory of one discoverable; `entry` are further keys of it, in TOML."""
    wheel(folder / "wheels")
    (folder / "offers.toml").write_text(
        "[discoverables.weather]\n"
        'description = "Weather forecast for any place: rain, wind, temperature."\n'
        'categories = ["weather"]\n' + entry
    )
    (folder / "ops.py").write_text(
        "from pegboard import tool\n\n\n@tool\ndef add(a: int, b: int) -> int:\n"
        '    """Add two numbers."""\n    return a + b\n'
    )
    (folder / "pegboard.toml").write_text(
        '[board]\nname = "desk"\n\n[sources.ops]\npython = "ops"\n\n'
        '[directories.ours]\nfrom = "offers.toml"\nwheelhouse = "wheels"\n\n' + more
    )
    return folder


PYPI = 'pypi = "tiny-weather"\nversion = "1.0.0"\n'
