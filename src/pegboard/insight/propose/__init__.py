"""From a finding to what would be written: composed tools and hints as tables of a config, or as Python."""

from pegboard.insight.propose.proposal import Piece, Proposal
from pegboard.insight.propose.propose import propose

__all__ = ["Piece", "Proposal", "propose"]
