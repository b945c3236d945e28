"""What is worked out for every tool at each request: compiled (`native/`) where it could be, else in numpy (`plain`).

Both give the same numbers to the last bit; what each function does stands in `plain`.
"""

try:
    from pegboard.index import _kernel as chosen
except ImportError:
    from pegboard.index import plain as chosen

below = chosen.below
close = chosen.close
compared = chosen.compared
exact = chosen.exact
fused = chosen.fused
held = chosen.held
matched = chosen.matched
nearest = chosen.nearest
odds = chosen.odds
spread = chosen.spread
standing = chosen.standing
summed = chosen.summed
weighed = chosen.weighed
whole = chosen.whole
