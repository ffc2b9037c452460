"""Pictures of arrays and groups for notebooks."""

from __future__ import annotations

import html
import itertools
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    #: The length of a dimension, and the length of each of its chunks, or their lengths.
    Side = tuple[int, int | Sequence[int]]

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


def grid(sides: Sequence[Side]) -> str:
    """Draws the chunks of the last two dimensions. If chunks are many, some of their borders are left out."""
    if not sides:
        return ""
    rows, columns = sides[-2] if len(sides) > 1 else (1, 1), sides[-1]
    longest = max(rows[0], columns[0])
    height, width = (max(_SIDE * length / longest, _SIDE / 8) for length, _ in (rows, columns))
    lines = [f"<line x1='0' x2='{width:.1f}' y1='{y:.1f}' y2='{y:.1f}'/>" for y in _borders(rows, height)]
    lines += [f"<line y1='0' y2='{height:.1f}' x1='{x:.1f}' x2='{x:.1f}'/>" for x in _borders(columns, width)]
    label = html.escape(f"{_count(rows)} x {_count(columns)} chunks")
    return (
        f"<svg width='{width + 2:.0f}' height='{height + 2:.0f}' viewBox='-1 -1 {width + 2:.1f} {height + 2:.1f}' "
        f"stroke='currentColor' role='img' aria-label='{label}'><title>{label}</title>{''.join(lines)}</svg>"
    )


def _count(side: Side) -> int:
    length, chunks = side
    return -(-length // chunks) if isinstance(chunks, int) else len(chunks)


def _borders(side: Side, pixels: float) -> list[float]:
    """Returns the places of the borders of chunks, and of both ends."""
    length, chunks = side
    count = _count(side)
    shown = [*range(0, count, -(-count // _LINES)), count]
    if isinstance(chunks, int):
        ends = [min(index * chunks, length) for index in shown]
    else:
        sums = [0, *itertools.accumulate(chunks)]
        ends = [sums[index] for index in shown]
    return [pixels * end / length for end in ends]
