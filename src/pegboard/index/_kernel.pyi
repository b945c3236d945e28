from pegboard.index.plain import chances as chances
from pegboard.index.plain import close as close
from pegboard.index.plain import compared as compared
from pegboard.index.plain import evidence as evidence
from pegboard.index.plain import exact as exact
from pegboard.index.plain import fused as fused
from pegboard.index.plain import held as held
from pegboard.index.plain import matched as matched
from pegboard.index.plain import nearest as nearest
from pegboard.index.plain import odds as odds
from pegboard.index.plain import ordered as ordered
from pegboard.index.plain import spread as spread
from pegboard.index.plain import summed as summed
from pegboard.index.plain import told as told
from pegboard.index.plain import weighed as weighed
from pegboard.index.plain import whole as whole

SOURCES: int
