"""A fault server on stdin and stdout: `python over_stdio.py '{"start": "hang"}'`.

Its own options, besides those of `behaviour`:

    start    "exit": end at once with code 3; "hang": never answer; "deaf": close stdin; a number: sleep so many seconds
    stderr   text that it writes to stderr at once
    junk     lines that it writes to stdout before each answer
    flood    how many lines of noise it writes to stdout and stderr at once
    stubborn whether it stays when its stdin closes or SIGTERM comes
"""

import json
import signal
import sys
import time
from typing import Any

from behaviour import Behaviour


def main() -> None:
    options: dict[str, Any] = json.loads(sys.argv[1]) if len(sys.argv) > 1 else {}
    sys.stderr.write(options.get("stderr", ""))
    sys.stderr.flush()
    start(options.get("start"))
    junk: list[str] = options.get("junk", [])
    behaviour = Behaviour(options)
    for _ in range(options.get("flood", 0)):
        sys.stdout.write("noise " * 20 + "\n")
        sys.stderr.write("noise " * 20 + "\n")

    def send(frame: dict[str, Any]) -> None:
        sys.stdout.write("".join(line + "\n" for line in junk) + json.dumps(frame) + "\n")
        sys.stdout.flush()

    for line in sys.stdin:
        behaviour.receive(json.loads(line), send)
    if options.get("stubborn"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(600)


def start(how: str | float | None) -> None:
    match how:
        case "exit":
            sys.exit(3)
        case "hang":
            for _ in sys.stdin:
                pass
            sys.exit(0)
        case int() | float():
            time.sleep(how)
        case _:
            pass


if __name__ == "__main__":
    main()
