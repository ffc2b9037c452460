// Parts of a plane: the first and the last row, the first and the last column, from 0 to 1 of the whole.

// Returns the part that an answer holds.
export function extentOf(plane) {
  const ends = side => [side.start / plane.lengths[side.dimension], side.end / plane.lengths[side.dimension]];
  return [...ends(plane.rows), ...ends(plane.columns)];
}

export const covers = (outer, inner) => outer[0] <= inner[0] + 1e-9 && outer[1] >= inner[1] - 1e-9 && outer[2] <= inner[2] + 1e-9 && outer[3] >= inner[3] - 1e-9;

// Returns what two parts share, or null.
export function shared(one, other) {
  const [top, bottom, left, right] = one.map((end, at) => at % 2 ? Math.min(end, other[at]) : Math.max(end, other[at]));
  return top < bottom && left < right ? [top, bottom, left, right] : null;
}

// Returns a part moved by parts of the whole, as far as the whole goes.
export function moved([top, bottom, left, right], down, along) {
  const y = Math.max(-top, Math.min(1 - bottom, down)), x = Math.max(-left, Math.min(1 - right, along));
  return [top + y, bottom + y, left + x, right + x];
}

// Returns a part `by` times as large around a point that stays where it is. It is not smaller than the `least` heights and
// widths, and null where it would be as large as `most`.
export function zoomed(view, by, { y, x }, least, most) {
  const [top, bottom, left, right] = view, [height, width] = [bottom - top, right - left];
  const smallest = Math.max(least[0] / height, least[1] / width), largest = Math.min((most[1] - most[0]) / height, (most[3] - most[2]) / width);
  const factor = Math.max(Math.min(smallest, 1), by);
  if (factor >= largest - 1e-9) return null;
  const [first, start] = [y - (y - top) * factor, x - (x - left) * factor];
  return moved([first, first + height * factor, start, start + width * factor], 0, 0);
}

// Returns the place of the element of an answer at a point of the whole, or null where it holds none.
export function elementAt(plane, { y, x }) {
  const at = (side, part) => Math.floor((part * plane.lengths[side.dimension] - side.start) / side.step);
  const row = at(plane.rows, y), column = at(plane.columns, x);
  const isIn = (side, at) => at >= 0 && side.start + at * side.step < side.end;
  return isIn(plane.rows, row) && isIn(plane.columns, column) ? { row, column } : null;
}

// Returns the middle of an element of an answer as a point of the whole.
export function middleOf(plane, { row, column }) {
  const part = (side, at) => Math.min((side.start + (at + .5) * side.step), side.end - .5) / plane.lengths[side.dimension];
  return { y: part(plane.rows, row), x: part(plane.columns, column) };
}
