"""Pictures of arrays and groups for notebooks."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: The longest side of the picture of a chunk grid, in pixels, and the most lines in a dimension.
_SIDE = 160
_LINES = 60


def table(rows: Mapping[str, Any], picture: str = "") -> str:
    """Returns a table of names and values, with a picture beside it. Rows without a value are left out."""
    shown = "".join(
        f"<tr><th style='text-align:left'>{name}</th><td style='text-align:left'>{html.escape(str(value))}</td></tr>"
        for name, value in rows.items()
        if value is not None
    )
    return f"<div style='display:flex;gap:2em;align-items:center'><table>{shown}</table>{picture}</div>"


def grid(shape: Sequence[int], lengths: Sequence[Sequence[int]]) -> str:
    """Draws the chunks of the last two dimensions. If chunks are many, some of their borders are left out."""
    if not shape:
        return ""
    rows, columns = (shape[-2], lengths[-2]) if len(shape) > 1 else (1, (1,)), (shape[-1], lengths[-1])
    longest = max(rows[0], columns[0])
    height, width = (max(_SIDE * side[0] / longest, _SIDE / 8) for side in (rows, columns))
    lines = [f"<line x1='0' x2='{width:.1f}' y1='{y:.1f}' y2='{y:.1f}'/>" for y in _borders(rows, height)]
    lines += [f"<line y1='0' y2='{height:.1f}' x1='{x:.1f}' x2='{x:.1f}'/>" for x in _borders(columns, width)]
    label = html.escape(f"{len(rows[1])} x {len(columns[1])} chunks")
    return (
        f"<svg width='{width + 2:.0f}' height='{height + 2:.0f}' viewBox='-1 -1 {width + 2:.1f} {height + 2:.1f}' "
        f"stroke='currentColor' role='img' aria-label='{label}'><title>{label}</title>{''.join(lines)}</svg>"
    )


def _borders(side: tuple[int, Sequence[int]], pixels: float) -> list[float]:
    """Returns the places of the borders of chunks, and of both ends."""
    length, chunks = side
    every = -(-len(chunks) // _LINES)
    places, end = [0.0], 0
    for index, chunk in enumerate(chunks, 1):
        end += chunk
        if index % every == 0 or index == len(chunks):
            places.append(pixels * end / length)
    return places
