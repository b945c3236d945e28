"""Tools about tools: which ones a model sees at once, and how it finds and calls the others."""

from pegboard.discovery.desk import Desk
from pegboard.discovery.meta import META_NAMES, meta_tools
from pegboard.discovery.residency import Exposed, Residency, expose

__all__ = ["META_NAMES", "Desk", "Exposed", "Residency", "expose", "meta_tools"]
