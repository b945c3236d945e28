"""`python -m pegboard` and the `pegboard` command."""

import sys

from pegboard.errors import MissingExtraError


def main() -> None:
    """Run the command line, and end with its exit code."""
    from pegboard.cli.app import run

    try:
        sys.exit(run(sys.argv[1:]))
    except ModuleNotFoundError as problem:
        if problem.name != "cyclopts":
            raise
        sys.exit(f"pegboard: {MissingExtraError('gateway', feature='The command line')}")


if __name__ == "__main__":
    main()
