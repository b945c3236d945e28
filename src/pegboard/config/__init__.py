"""`pegboard.toml`: what may stand in it, as data, and how it is read."""

from pegboard.config.load import FILE_NAME, InvalidConfigError, Problem, load, parse
from pegboard.config.model import BoardConfig, Config, SourceConfig
from pegboard.config.template import template

__all__ = [
    "FILE_NAME",
    "BoardConfig",
    "Config",
    "InvalidConfigError",
    "Problem",
    "SourceConfig",
    "load",
    "parse",
    "template",
]
