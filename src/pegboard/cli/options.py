"""The options that verbs share."""

from pathlib import Path
from typing import Annotated, TypeAlias

from cyclopts import Parameter

from pegboard.config import FILE_NAME

ConfigFile: TypeAlias = Annotated[Path, Parameter(name="--config", help="The board's config, or the folder it is in.")]
"""Which board."""

AsJson: TypeAlias = Annotated[bool, Parameter(name="--json", negative="", help="Print one JSON document, errors too.")]
"""Whether a program reads the answer."""

DEFAULT_CONFIG = Path(FILE_NAME)
