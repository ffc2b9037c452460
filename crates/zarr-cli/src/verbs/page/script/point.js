// The element at a point of a plane, in words.
import { make } from "./dom.js";
import { digits, unit, labelOf } from "./words.js";

// Returns the position of an element of an answer in the array.
export function positionOf(plane, { row, column }) {
  const at = plane.at.slice();
  at[plane.rows.dimension] = plane.rows.start + row * plane.rows.step;
  at[plane.columns.dimension] = plane.columns.start + column * plane.columns.step;
  return at;
}

// Returns what is said of an element: the labels of its coordinates, its number with the unit, and its position.
export function told({ plane, drawn }, place) {
  const { row, column } = place, i = row * drawn.width + column;
  const words = new Map((plane.categories ?? []).map(([number, words]) => [number, words]));
  const texts = plane.layers.map(({ label, values }, at) => {
    const found = drawn.layers[at][i];
    const text = Number.isNaN(found) ? "missing" : words.get(found) || digits(found, values.type === "u2" && values.step < 1 ? values.step * 2 : undefined);
    return `${plane.layers.length > 1 ? `${label} ` : ""}${text}`;
  });
  const units = texts.length === 1 && texts[0] !== "missing" ? ` ${unit(plane.units)}` : "";
  const position = positionOf(plane, place).map((at, dim) => dim === plane.channels ? ":" : at);
  return [`${labelOf(plane.rows, row)}, ${labelOf(plane.columns, column)}: `, make("b", { textContent: `${texts.join(", ")}${units}` }), `  element [${position.join(", ")}]`];
}
