"""A config with what is installed beside it."""

from collections.abc import Mapping
from dataclasses import replace

from pegboard.config import Config, SourceConfig
from pegboard.config.load import InvalidConfigError, source_config
from pegboard.directory.state import Installed, State


def with_state(config: Config, state: State) -> Config:
    """The config with the installed sources after its own, and with what is switched.

    A source of the config keeps its name against an installed one. An installed one that cannot be read is left out,
    with a warning.
    """
    sources = dict(config.sources)
    warnings = list(config.warnings)
    for one in state.sources.values():
        if not one.table:
            continue
        if one.name in sources:
            warnings.append(f"The installed source {one.name} is hidden by the one of this name in the config.")
            continue
        try:
            sources[one.name] = installed_config(config, one)
        except InvalidConfigError as problem:
            warnings.append(f"The installed source {one.name} is left out: {problem}")
    return replace(config, sources=_switched(sources, state.switched), warnings=tuple(warnings))


def installed_config(config: Config, one: Installed) -> SourceConfig:
    """An installed source as the config would hold it.

    Raises:
        InvalidConfigError: its table has mistakes.
    """
    found = source_config(one.name, one.table, config.board, config.folder)
    return replace(found, origin=one.tool_id, definition=one.digest)


def _switched(sources: Mapping[str, SourceConfig], switched: Mapping[str, bool]) -> dict[str, SourceConfig]:
    return {
        name: replace(source, disabled=switched[name]) if name in switched else source
        for name, source in sources.items()
    }
