"""Plots as SVG text: bars, a histogram, and the graph of how values flow between tools."""

from collections.abc import Sequence
from html import escape
from math import cos, log1p, pi, sin

from pegboard.insight.summary import Flow

_WIDTH, _ROW, _LABEL = 960, 24, 360
_MOST_NODES = 24


def bars(rows: Sequence[tuple[str, int, int]], *, names: tuple[str, str] = ("calls", "")) -> str:
    """Horizontal bars, one a row, with a thinner second bar where `names` has a second; empty without rows.

    Parameters:
        rows: label, first figure, second figure.
        names: what the figures are.
    """
    most = max((max(row[1:]) for row in rows), default=0)
    if not most:
        return ""
    scale = (_WIDTH - _LABEL - 120) / most
    parts: list[str] = []
    for place, (label, first, second) in enumerate(rows):
        top = place * _ROW
        told = f"{first} {names[0]}" + (f", {second} {names[1]}" if names[1] else "")
        parts.append(
            f"<g><title>{escape(f'{label}: {told}')}</title>"
            f'<text x="{_LABEL - 8}" y="{top + 15}" text-anchor="end">{escape(_short(label, 56))}</text>'
            f'<rect class="bar" x="{_LABEL}" y="{top + 4}" width="{first * scale:.1f}" height="9"/>'
            + (
                f'<rect class="bar second" x="{_LABEL}" y="{top + 14}" width="{second * scale:.1f}" height="4"/>'
                if names[1]
                else ""
            )
            + f'<text class="faint" x="{_LABEL + first * scale + 6:.1f}" y="{top + 14}">{escape(told)}</text></g>'
        )
    return _svg(_WIDTH, len(rows) * _ROW + 4, "".join(parts), f"Bars of {names[0]}")


def histogram(lengths: Sequence[tuple[int, int]], *, mark: int, columns: int = 48) -> str:
    """Runs by their number of calls, with a line at `mark`; empty without runs."""
    if not lengths:
        return ""
    longest = max(length for length, _ in lengths)
    step = max(1, -(-(longest + 1) // columns))
    counts = [0] * (longest // step + 1)
    for length, runs in lengths:
        counts[length // step] += runs
    width, height, most = _WIDTH / len(counts), 140, max(counts)
    parts = [
        f"<g><title>{index * step}{f' to {index * step + step - 1}' if step > 1 else ''} calls: {count} runs</title>"
        f'<rect class="bar" x="{index * width + 1:.1f}" y="{height - count / most * height:.1f}" '
        f'width="{width - 2:.1f}" height="{count / most * height:.1f}"/></g>'
        for index, count in enumerate(counts)
    ]
    if longest > mark:
        at = (mark + 1) / step * width
        parts.append(
            f'<line class="axis" x1="{at:.1f}" y1="0" x2="{at:.1f}" y2="{height}"/>'
            f'<text class="faint" x="{at + 4:.1f}" y="12">more than {mark} calls</text>'
        )
    parts.append(f'<text class="faint" x="0" y="{height + 16}">0</text>')
    parts.append(f'<text class="faint" x="{_WIDTH}" y="{height + 16}" text-anchor="end">{longest} calls</text>')
    return _svg(_WIDTH, height + 24, "".join(parts), "Runs by number of calls")


def flow_graph(flows: Sequence[Flow]) -> str:
    """Tools on a circle, with an arc for each flow, as thick as it is common; empty without flows."""
    shown = [flow for flow in flows if flow.giver != flow.taker]
    tools = list(dict.fromkeys(tool for flow in shown for tool in (flow.giver, flow.taker)))[:_MOST_NODES]
    if not tools:
        return ""
    centre, radius, size = _WIDTH / 2, 230.0, 620
    at = {
        tool: (2 * pi * place / len(tools), centre + radius * cos(2 * pi * place / len(tools) - pi / 2))
        for place, tool in enumerate(tools)
    }
    points = {tool: (x, size / 2 + radius * sin(angle - pi / 2)) for tool, (angle, x) in at.items()}
    edges = [_edge(flow, points, (centre, size / 2)) for flow in shown if flow.giver in at and flow.taker in at]
    nodes = [_node(tool, points[tool], centre) for tool in tools]
    arrow = (
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto" '
        'markerUnits="userSpaceOnUse"><path d="M0 0 L8 4 L0 8 z" fill="currentColor"/></marker></defs>'
    )
    return _svg(_WIDTH, size, arrow + "".join(edges) + "".join(nodes), "How values flow between tools")


def _edge(flow: Flow, points: dict[str, tuple[float, float]], centre: tuple[float, float]) -> str:
    (x, y), (u, v) = points[flow.giver], points[flow.taker]
    bend_x, bend_y = (x + u) / 4 + centre[0] / 2, (y + v) / 4 + centre[1] / 2
    told = f"{flow.giver} → {flow.taker}: {', '.join(flow.paths[:4])} in {flow.runs} runs"
    return (
        f'<path class="edge" d="M{x:.1f} {y:.1f} Q{bend_x:.1f} {bend_y:.1f} {u:.1f} {v:.1f}" '
        f'stroke-width="{1 + log1p(flow.runs) / 1.5:.1f}" marker-end="url(#tip)"><title>{escape(told)}</title></path>'
    )


def _node(tool: str, point: tuple[float, float], centre: float) -> str:
    x, y = point
    anchor, shift = ("start", 9) if x > centre + 1 else ("end", -9) if x < centre - 1 else ("middle", 0)
    return (
        f'<g><circle class="node" cx="{x:.1f}" cy="{y:.1f}" r="5"/>'
        f'<text x="{x + shift:.1f}" y="{y + 4:.1f}" text-anchor="{anchor}">{escape(_short(tool, 34))}</text></g>'
    )


def _short(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def _svg(width: float, height: float, inner: str, label: str) -> str:
    return (
        f'<svg viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}" role="img" '
        f'aria-label="{escape(label)}">{inner}</svg>'
    )
