// A curve with axes on a canvas, and the element under the pointer.
import { make, style, remark, redraw } from "./dom.js";
import { number, plural, digits, tickText, unit, labelText } from "./words.js";
import { CATEGORIES, legendOf } from "./colours.js";
import { ticks, marks } from "./axes.js";
import { prepare } from "./ink.js";

// Draws a curve, or a band between the smallest and the largest numbers. Returns where its elements are.
function drawCurve(canvas, curve, height = 260) {
  const available = Math.min(canvas.parentElement.clientWidth, 1060), { lows, highs, labels } = curve;
  const { ink } = prepare(canvas, available, height);
  const count = lows.length;
  const [min, max] = [curve.min ?? 0, curve.max ?? 1];
  const pad = (max - min) * .05 || Math.abs(min) * .05 || .5, low = min - pad, high = max + pad;
  const rising = ticks(low, high, height < 200 ? 3 : 5), gap = rising.length > 1 ? rising[1] - rising[0] : 0;
  const texts = rising.map(value => tickText(value, gap));
  const left = Math.ceil(Math.max(...texts.map(text => ink.measureText(text).width))) + 12, bottom = 38, top = 8;
  const width = Math.max(40, available - left - 14), tall = height - top - bottom;
  const x = at => left + (count > 1 ? at / (count - 1) * width : width / 2), y = value => top + (high - value) / (high - low) * tall;
  ink.textAlign = "right"; ink.textBaseline = "middle";
  rising.forEach((value, at) => {
    ink.strokeStyle = style("--line");
    ink.beginPath(); ink.moveTo(left, Math.round(y(value)) + .5); ink.lineTo(left + width, Math.round(y(value)) + .5); ink.stroke();
    ink.fillText(texts[at], left - 6, y(value));
  });
  const side = { labels, start: 0, step: curve.per, place: "", name: curve.name };
  ink.textAlign = "center"; ink.textBaseline = "top";
  let taken = -Infinity;
  for (const [at, text] of marks(side, 0, count, available < 520 ? 3 : 6)) {
    const place = x(at - .5), half = ink.measureText(text).width / 2;
    ink.beginPath(); ink.moveTo(Math.round(place) + .5, top + tall); ink.lineTo(Math.round(place) + .5, top + tall + 4); ink.stroke();
    const inside = Math.max(half, Math.min(place, available - half));
    if (inside - half < taken) continue;
    ink.fillText(text, inside, top + tall + 7);
    taken = inside + half + 8;
  }
  ink.fillStyle = style("--dim");
  ink.fillText(`${curve.name}${curve.label_units ? `, ${unit(curve.label_units)}` : ""} →`, left + width / 2, top + tall + 23);
  ink.strokeStyle = ink.fillStyle = style("--curve");
  ink.lineWidth = 1.5;
  if (curve.categories) {
    const known = new Map(curve.categories.map(([value, , place]) => [value, CATEGORIES[place % CATEGORIES.length]]));
    const wide = Math.max(1, width / Math.max(1, count - 1));
    lows.forEach((value, at) => { if (known.has(value)) { ink.fillStyle = known.get(value); ink.fillRect(x(at) - wide / 2, y(value) - 4, wide + .5, 8); } });
    return { left, width, top, tall, count };
  }
  if (highs) {
    ink.globalAlpha = .35;
    lows.forEach((value, at) => { if (value != null) ink.fillRect(x(at) - .6, y(highs[at]), 1.2 * Math.max(1, width / count), Math.max(1, y(value) - y(highs[at]))); });
    ink.globalAlpha = 1;
  }
  ink.beginPath();
  let isDown = false;
  lows.forEach((value, at) => {
    if (typeof value !== "number") { isDown = false; return; }
    const middle = highs ? (value + highs[at]) / 2 : value;
    if (isDown) ink.lineTo(x(at), y(middle)); else ink.moveTo(x(at), y(middle));
    if (!isDown && typeof lows[at + 1] !== "number") ink.fillRect(x(at) - 1.5, y(middle) - 1.5, 3, 3);
    isDown = true;
  });
  ink.stroke();
  return { left, width, top, tall, count };
}

export function drawLine(place, curve, height) {
  const canvas = make("canvas", { className: "curve", role: "img", "aria-label": `Curve along ${curve.name}` });
  const value = make("p", { className: "value", role: "status" });
  place.append(make("div", {}, canvas), value, curve.categories ? legendOf(curve.categories) : "");
  const notes = [curve.highs ? `Each step shows the smallest and the largest of ${number(curve.per)} elements.` : "", curve.is_sampled ? "Not all elements are read." : "", curve.missing ? `${plural(curve.missing, "element")} missing.` : ""].filter(Boolean);
  if (notes.length) place.append(remark(notes.join(" ")));
  let box;
  const draw = () => { if (canvas.isConnected) box = drawCurve(canvas, curve, height); };
  redraw(canvas, draw);
  const words = new Map((curve.categories ?? []).map(([number, words]) => [number, words]));
  canvas.addEventListener("pointermove", event => {
    const at = Math.max(0, Math.min(box.count - 1, Math.round((event.offsetX - box.left) / box.width * (box.count - 1))));
    const low = curve.lows[at], high = curve.highs?.[at], label = labelText(curve.labels?.[at], curve.label_units) ?? number(at * curve.per);
    const text = low == null ? "missing" : high != null && high !== low ? `${digits(low)} to ${digits(high)}` : words.get(low) || (typeof low === "number" ? digits(low) : low);
    value.replaceChildren(`${curve.name} ${label}: `, make("b", { textContent: text }), ` ${unit(curve.units)}`);
  });
}
