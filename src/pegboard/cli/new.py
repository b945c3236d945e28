"""`pegboard new tool`: a tool of your own, with its test and its entry in the config, from a scaffold."""

import keyword
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import App, Parameter

from pegboard.cli.exit import Exit
from pegboard.cli.options import DEFAULT_CONFIG, ConfigFile
from pegboard.cli.output import data, say
from pegboard.config import FILE_NAME
from pegboard.errors import ConfigError, PegboardError

app: Any = App(name="new", help="Write a new tool, with its test, from a scaffold.")

NAMESPACE = "own"
"""The namespace of a tool that is given none."""


@app.command(name="tool")
def new_tool(
    name: str,
    *,
    config: ConfigFile = DEFAULT_CONFIG,
    preview: Annotated[bool, Parameter(negative="")] = False,
    batch: Annotated[bool, Parameter(negative="")] = False,
    effects: Literal["read_only", "additive", "idempotent", "destructive"] | None = None,
    force: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Write a Python tool that works: a module, its test, and its tables in the config.

    The tool passes `pegboard check` and its own test; put your own work in the place of what it works on.

    Parameters
    ----------
    name
        Its name, a verb and a noun, such as get_user or crm.get_user with its namespace. A noun in the plural takes a
        list.
    config
        The config, or its folder; made where there is none. Module and test are written beside it.
    preview
        With a preview; a destructive tool always has one.
    batch
        With a tool for many items at once.
    effects
        What a call does to the world; by the verb where it is not said.
    force
        Write over files that are there.
    """
    from pegboard.define.scaffold import module, test_module

    namespace, bare = _named(name)
    scaffold = _scaffold(bare, preview, effects)
    file = config / FILE_NAME if config.is_dir() else config
    written = {
        file.parent / f"{bare}.py": module(scaffold),
        file.parent / f"test_{bare}.py": test_module(scaffold),
    }
    taken = [str(path) for path in written if path.exists()]
    if taken and not force:
        raise PegboardError("There is a file already.", where=taken[0], next_step="Write over it with --force.")
    text = _config(file, namespace, bare, scaffold, batch=batch)
    _write({**written, file: text})
    for path in (*written, file):
        data(str(path))
    say(f"Look at it with `pegboard check` and `pegboard call {namespace}.{bare}`.")
    say(f"Test it with `pytest test_{bare}.py`.")
    return Exit.OK


def _named(name: str) -> tuple[str, str]:
    namespace, dot, bare = name.rpartition(".")
    if not bare.isidentifier() or keyword.iskeyword(bare) or not bare.isascii() or bare != bare.lower():
        step = "Write small letters, digits and _, such as get_user."
        raise ConfigError(f"{bare!r} is no name for a Python function.", where=name, next_step=step)
    if dot and not all(part.isidentifier() for part in namespace.split(".")):
        raise ConfigError(f"{namespace!r} is no namespace.", where=name, next_step="Write for example crm.get_user.")
    return namespace or NAMESPACE, bare


def _scaffold(bare: str, preview: bool, effects: str | None) -> Any:
    """What the name says: the verb, the noun, whether it takes many, and what it does to the world."""
    from pegboard.check.lexicon import READING
    from pegboard.check.rules.safety import GONE
    from pegboard.check.words import lemma, name_words, verb_of
    from pegboard.core import Effects
    from pegboard.define.scaffold import Scaffold

    words = name_words(bare)
    verb = verb_of(words[:1])
    nouns = words[1:]
    if verb is None or not nouns:
        raise ConfigError(
            f"The name {bare!r} does not say what the tool does, and to what.",
            next_step=f"Begin with a verb and go on with a noun, such as get_{words[-1] if words else 'user'}.",
        )
    by_verb = Effects.READ_ONLY if lemma(verb) in READING else Effects.DESTRUCTIVE if verb in GONE else Effects.ADDITIVE
    found = Effects(effects) if effects else by_verb
    last = nouns[-1]
    many = last.endswith("s") and not last.endswith(("ss", "us", "is")) and len(last) > 3
    return Scaffold(
        name=bare,
        verb=lemma(verb),
        noun="_".join(nouns),
        many=many,
        effects=found,
        preview=preview or found is Effects.DESTRUCTIVE,
    )


def _config(file: Path, namespace: str, bare: str, scaffold: Any, *, batch: bool) -> str:
    """The config with the tool's tables, which it may have already."""
    import tomllib

    from pegboard.config.amend import amended

    text = file.read_bytes().decode("utf-8") if file.exists() else ""
    try:
        sources: dict[str, Any] = tomllib.loads(text.removeprefix("\ufeff")).get("sources", {})
    except tomllib.TOMLDecodeError as problem:
        raise ConfigError(f"It is not valid TOML: {problem}.", where=str(file)) from problem
    free = namespace not in sources or sources[namespace].get("python") == bare
    table = {"python": bare} if free else {"python": bare, "prefix": namespace}
    tables: dict[tuple[str, str], dict[str, Any]] = {("sources", namespace if free else bare): table}
    if batch:
        many = f"{namespace}.{bare}_batch" if scaffold.many else f"{namespace}.{bare}s"
        tables["batch", many] = {"tool": f"{namespace}.{bare}", "over": scaffold.parameter, "limit": 50}
    return amended(text, tables, file.resolve().parent)[0]


def _write(files: dict[Path, str]) -> None:
    for path, text in files.items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode("utf-8"))
        except OSError as problem:
            raise PegboardError(
                f"It cannot be written: {problem.strerror}.",
                where=str(path),
                next_step="Name another place with --config.",
            ) from problem
