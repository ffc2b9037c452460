// A plane with axes and colour bar on a canvas.
import { style } from "./dom.js";
import { tickText, unit } from "./words.js";
import { table, rangeOf } from "./colours.js";
import { isUp, ticks, marks } from "./axes.js";
import { prepare, hatch } from "./ink.js";

// Draws a plane with axes and colour bar. Returns the box of the picture.
export function drawPlane(canvas, plane, state, drawn) {
  const available = canvas.parentElement.clientWidth, isNarrow = available < 520;
  const hasBar = ["numbers", "image"].includes(plane.style);
  const most = isNarrow ? 4 : 6;
  let { ink } = prepare(canvas, available, 10);
  const { width: columns, height: rows } = drawn;
  const down = marks(plane.rows, rows, most), right = marks(plane.columns, columns, most);
  const wide = list => Math.max(12, ...list.map(([, text]) => ink.measureText(text).width));
  const [low, high] = hasBar ? rangeOf(plane, state) : [0, 1];
  const bar = hasBar ? ticks(low, high, 6) : [];
  const gap = bar.length > 1 ? Math.abs(bar[1] - bar[0]) : 0;
  const barTexts = bar.map(value => [0, tickText(value, gap)]);
  const left = Math.ceil(wide(down)) + 12, bottom = 38, top = 8;
  const behind = hasBar ? 14 + 14 + 8 + Math.ceil(wide(barTexts)) + (unit(plane.units) ? 18 : 2) : 16;
  const room = Math.max(60, Math.min(available - left - behind, 1000)), tall = Math.max(180, Math.min(innerHeight * .62, 640));
  // A plane that would be a thin line is not to scale.
  let ratio = rows * plane.cell / columns;
  const isToScale = plane.is_to_scale && ratio <= 6 && ratio >= 1 / 8;
  if (!isToScale) ratio = Math.max(.3, Math.min(1.4, ratio));
  let width = room, height = width * ratio;
  if (height > tall) { height = tall; width = height / ratio; }
  width = Math.max(20, Math.round(width)); height = Math.max(20, Math.round(height));
  const box = { left, top, width, height, isToScale, isUp: isUp(plane.rows) };
  const prepared = prepare(canvas, Math.min(available, left + width + behind), top + height + bottom);
  ink = prepared.ink;
  ink.fillStyle = plane.style === "labels" ? style("--soft") : hatch(ink, prepared.scale);
  ink.fillRect(left, top, width, height);
  ink.save();
  ink.imageSmoothingEnabled = columns > width * prepared.scale || rows > height * prepared.scale;
  ink.imageSmoothingQuality = "high";
  if (box.isUp) { ink.translate(0, 2 * top + height); ink.scale(1, -1); }
  ink.drawImage(drawn.canvas, left, top, width, height);
  ink.restore();
  ink.strokeRect(left + .5, top + .5, width - 1, height - 1);
  ink.fillStyle = style("--text");
  ink.textBaseline = "middle";
  ink.textAlign = "right";
  const lineAt = (x, y, dx, dy) => { ink.beginPath(); ink.moveTo(x, y); ink.lineTo(x + dx, y + dy); ink.stroke(); };
  for (const [at, text] of down) {
    const y = top + (box.isUp ? rows - at : at) / rows * height;
    lineAt(left - 4, Math.round(y) + .5, 4, 0);
    ink.fillText(text, left - 7, y);
  }
  ink.textBaseline = "top";
  let taken = -Infinity;
  for (const [at, text] of right) {
    const x = left + at / columns * width, half = ink.measureText(text).width / 2;
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
  if (hasBar) {
    const x = left + width + 14, colors = table(state.colormap, state.isReversed);
    for (let y = 0; y < height; y++) {
      const at = 3 * Math.round((1 - y / Math.max(1, height - 1)) * 255);
      ink.fillStyle = `rgb(${colors[at]} ${colors[at + 1]} ${colors[at + 2]})`;
      ink.fillRect(x, top + y, 14, 1.5);
    }
    ink.strokeRect(x + .5, top + .5, 13, height - 1);
    ink.fillStyle = style("--text");
    ink.textAlign = "left";
    ink.textBaseline = "middle";
    bar.forEach((value, at) => {
      const y = top + height - (value - low) / (high - low) * height;
      lineAt(x + 14, Math.round(y) + .5, 4, 0);
      ink.fillText(barTexts[at][1], x + 21, Math.max(top + 6, Math.min(top + height - 6, y)));
    });
    if (unit(plane.units)) {
      ink.save();
      ink.translate(x + 21 + wide(barTexts) + 12, top + height / 2);
      ink.rotate(-Math.PI / 2);
      ink.textAlign = "center";
      ink.fillText(unit(plane.units), 0, 0);
      ink.restore();
    }
  }
  return box;
}
