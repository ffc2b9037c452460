// Points with axes on a canvas.
import { style } from "./dom.js";
import { tickText } from "./words.js";
import { ticks } from "./axes.js";
import { prepare } from "./ink.js";
import { drawBar, barWidth } from "./bar.js";

// Returns the numbers between which points lie, with some room around them.
export function rangesOf({ x, y, xs, ys }, isDown) {
  const range = ({ min, max }) => {
    const room = (max - min) * .04 || Math.abs(min) * .04 || .5;
    return [min - room, max + room];
  };
  const [left, right] = range(xs), [low, high] = range(ys);
  return { x, y, left, right, top: isDown ? low : high, bottom: isDown ? high : low };
}

// Draws the part `view` of points. `groups` are lists of their places, each with a colour; `bar` has the numbers of the colours.
// Returns the box, and where a point is in it.
export function drawScatter(canvas, ranges, groups, view, names, bar) {
  const available = Math.min(canvas.parentElement.clientWidth, 1000), isNarrow = available < 520;
  const { x, y, left, right, top, bottom } = ranges, count = x.length;
  const across = part => left + (right - left) * part, down = part => top + (bottom - top) * part;
  let { ink } = prepare(canvas, available, 10);
  const texts = (from, to, most) => {
    const found = ticks(from, to, most), gap = found.length > 1 ? Math.abs(found[1] - found[0]) : 0;
    return found.map(value => [value, tickText(value, gap)]);
  };
  const vertical = texts(down(view[0]), down(view[1]), 6), horizontal = texts(across(view[2]), across(view[3]), isNarrow ? 4 : 6);
  // Wide enough for most texts, so that the picture stays where it is.
  const margin = Math.ceil(Math.max(34, ...vertical.map(([, text]) => ink.measureText(text).width))) + 12;
  const behind = bar ? 14 + barWidth(ink, bar.low, bar.high, "") : 14;
  // One step is as long on both sides, unless that would be a thin line.
  const ratio = Math.max(.4, Math.min(1.2, Math.abs((bottom - top) / (right - left))));
  const tall = Math.max(220, Math.min(innerHeight * .68, 720));
  let width = Math.max(60, available - margin - behind), height = width * ratio;
  if (height > tall) { height = tall; width = height / ratio; }
  width = Math.round(width); height = Math.round(height);
  const box = { left: margin, top: 8, width, height };
  const prepared = prepare(canvas, Math.min(available, margin + width + behind), box.top + height + 38);
  ink = prepared.ink;
  const placeX = value => box.left + ((value - left) / (right - left) - view[2]) / (view[3] - view[2]) * width;
  const placeY = value => box.top + ((value - top) / (bottom - top) - view[0]) / (view[1] - view[0]) * height;
  ink.save();
  ink.beginPath();
  ink.rect(box.left, box.top, width, height);
  ink.clip();
  const radius = Math.max(1, Math.min(6, Math.max(1.1, Math.min(3.5, 150 / Math.sqrt(count))) / Math.sqrt(view[3] - view[2])));
  ink.globalAlpha = .8;
  for (const { colour, places } of groups) {
    ink.fillStyle = colour;
    ink.beginPath();
    for (const at of places) {
      const [px, py] = [placeX(x[at]), placeY(y[at])];
      if (!(px > box.left - radius && px < box.left + width + radius && py > box.top - radius && py < box.top + height + radius)) continue;
      if (radius < 2) ink.rect(px - radius, py - radius, 2 * radius, 2 * radius);
      else { ink.moveTo(px + radius, py); ink.arc(px, py, radius, 0, 7); }
    }
    ink.fill();
  }
  ink.restore();
  ink.strokeRect(box.left + .5, box.top + .5, width - 1, height - 1);
  ink.fillStyle = style("--text");
  ink.textAlign = "right"; ink.textBaseline = "middle";
  for (const [value, text] of vertical) {
    const at = Math.round(placeY(value)) + .5;
    ink.beginPath(); ink.moveTo(box.left - 4, at); ink.lineTo(box.left, at); ink.stroke();
    ink.fillText(text, box.left - 7, at);
  }
  ink.textAlign = "center"; ink.textBaseline = "top";
  for (const [value, text] of horizontal) {
    const at = Math.round(placeX(value)) + .5;
    ink.beginPath(); ink.moveTo(at, box.top + height); ink.lineTo(at, box.top + height + 4); ink.stroke();
    ink.fillText(text, at, box.top + height + 7);
  }
  ink.fillStyle = style("--dim");
  ink.fillText(names, box.left + width / 2, box.top + height + 23);
  if (bar) drawBar(ink, { left: box.left + width + 14, top: box.top, height, low: bar.low, high: bar.high }, bar, "");
  return { ...box, placeX, placeY };
}
