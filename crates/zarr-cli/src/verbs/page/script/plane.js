// A plane with axes and colour bar on a canvas.
import { style } from "./dom.js";
import { unit } from "./words.js";
import { rangeOf } from "./colours.js";
import { sideCount, isUp, marks } from "./axes.js";
import { prepare, hatch } from "./ink.js";
import { drawBar, barWidth } from "./bar.js";
import { extentOf, covers, shared } from "./view.js";

// Draws a part of a plane with axes and colour bar, from the answers in `shots`: the first one holds the whole, later ones
// parts of it in more detail. One that is stale is not drawn. Returns the box of the picture.
export function drawPlane(canvas, shots, view, state) {
  const { plane } = shots[0];
  const available = canvas.parentElement.clientWidth, isNarrow = available < 520;
  const hasBar = ["numbers", "image"].includes(plane.style);
  const most = isNarrow ? 4 : 6;
  let { ink } = prepare(canvas, available, 10);
  const whole = extentOf(plane), isZoomed = !covers(view, whole);
  const best = shots.findLast(({ plane }) => covers(extentOf(plane), view)) ?? shots.at(-1);
  const place = (side, first, last) => {
    const length = best.plane.lengths[side.dimension], at = part => (part * length - side.start) / side.step;
    return marks(side, Math.max(0, at(first)), Math.min(sideCount(side), at(last)), most).map(([at, text]) => [((side.start + at * side.step) / length - first) / (last - first), text]);
  };
  const down = place(best.plane.rows, view[0], view[1]), right = place(best.plane.columns, view[2], view[3]);
  const wide = list => Math.max(12, ...list.map(([, text]) => ink.measureText(text).width));
  const [low, high] = hasBar ? rangeOf(plane, state) : [0, 1];
  const bottom = 38, top = 8;
  // While it is zoomed, the picture stays where it is.
  const left = state.left = Math.max(Math.ceil(wide(down)) + 12, isZoomed ? state.left ?? 0 : 0);
  const behind = hasBar ? 14 + barWidth(ink, low, high, unit(plane.units)) : 16;
  const room = Math.max(60, Math.min(available - left - behind, 1000)), tall = Math.max(180, Math.min(innerHeight * .62, 640));
  // A plane that would be a thin line is not to scale. A part is as wide by its height as the whole.
  const element = plane.cell * plane.columns.step / plane.rows.step;
  let ratio = (plane.rows.end - plane.rows.start) * element / (plane.columns.end - plane.columns.start);
  const isToScale = plane.is_to_scale && ratio <= 6 && ratio >= 1 / 8;
  if (!isToScale) ratio = Math.max(.3, Math.min(1.4, ratio));
  let width = room, height = width * ratio;
  if (height > tall) { height = tall; width = height / ratio; }
  width = Math.max(20, Math.round(width)); height = Math.max(20, Math.round(height));
  const box = { left, top, width, height, isToScale, isUp: isUp(plane.rows), view };
  const prepared = prepare(canvas, Math.min(available, left + width + behind), top + height + bottom);
  ink = prepared.ink;
  ink.fillStyle = style("--soft");
  ink.fillRect(left, top, width, height);
  ink.save();
  if (box.isUp) { ink.translate(0, 2 * top + height); ink.scale(1, -1); }
  const missing = plane.style === "labels" ? style("--soft") : hatch(ink, prepared.scale);
  for (const { plane, drawn, isStale } of shots) {
    if (isStale) continue;
    const part = shared(extentOf(plane), view);
    if (!part) continue;
    const source = (side, part) => (part * plane.lengths[side.dimension] - side.start) / side.step;
    const [y, bottom] = [source(plane.rows, part[0]), source(plane.rows, part[1])], [x, end] = [source(plane.columns, part[2]), source(plane.columns, part[3])];
    const across = part => left + (part - view[2]) / (view[3] - view[2]) * width, along = part => top + (part - view[0]) / (view[1] - view[0]) * height;
    const target = [across(part[2]), along(part[0]), across(part[3]) - across(part[2]), along(part[1]) - along(part[0])];
    ink.imageSmoothingEnabled = end - x > target[2] * prepared.scale || bottom - y > target[3] * prepared.scale;
    ink.imageSmoothingQuality = "high";
    ink.fillStyle = missing;
    ink.fillRect(...target);
    ink.drawImage(drawn.canvas, x, y, end - x, bottom - y, ...target);
  }
  ink.restore();
  ink.strokeRect(left + .5, top + .5, width - 1, height - 1);
  ink.fillStyle = style("--text");
  ink.textBaseline = "middle";
  ink.textAlign = "right";
  const lineAt = (x, y, dx, dy) => { ink.beginPath(); ink.moveTo(x, y); ink.lineTo(x + dx, y + dy); ink.stroke(); };
  for (const [at, text] of down) {
    const y = top + (box.isUp ? 1 - at : at) * height;
    lineAt(left - 4, Math.round(y) + .5, 4, 0);
    ink.fillText(text, left - 7, y);
  }
  ink.textBaseline = "top";
  let taken = -Infinity;
  for (const [at, text] of right) {
    const x = left + at * width, half = ink.measureText(text).width / 2;
    lineAt(Math.round(x) + .5, top + height, 0, 4);
    if (x - half < taken) continue;
    const inside = Math.min(x, canvas.clientWidth - half - 1);
    ink.textAlign = "center";
    ink.fillText(text, Math.max(half, inside), top + height + 7);
    taken = x + half + 8;
  }
  ink.fillStyle = style("--dim");
  const title = side => `${side.name}${side.units && !["latitude", "longitude"].includes(side.place) ? `, ${unit(side.units)}` : ""}`;
  ink.textAlign = "center";
  ink.fillText(`${title(plane.rows)} ↓   ${title(plane.columns)} →`.replace("↓", box.isUp ? "↑" : "↓"), left + width / 2, top + height + 23);
  if (hasBar) drawBar(ink, { left: left + width + 14, top, height, low, high }, state, unit(plane.units));
  return box;
}
