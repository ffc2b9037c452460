// The bar that says which colour a number has.
import { style } from "./dom.js";
import { tickText } from "./words.js";
import { table } from "./colours.js";
import { ticks } from "./axes.js";

const WIDTH = 14;

function textsOf(low, high) {
  const found = ticks(low, high, 6), gap = found.length > 1 ? Math.abs(found[1] - found[0]) : 0;
  return found.map(value => [value, tickText(value, gap)]);
}
const widest = (ink, texts) => Math.ceil(Math.max(12, ...texts.map(([, text]) => ink.measureText(text).width)));

// Returns the width of a bar with its texts.
export function barWidth(ink, low, high, units) {
  return WIDTH + 8 + widest(ink, textsOf(low, high)) + (units ? 18 : 2);
}

// Draws the colours of the numbers from `low` to `high`, the largest at the top.
export function drawBar(ink, { left, top, height, low, high }, { colormap, isReversed }, units) {
  const colors = table(colormap, isReversed), texts = textsOf(low, high);
  for (let y = 0; y < height; y++) {
    const at = 3 * Math.round((1 - y / Math.max(1, height - 1)) * 255);
    ink.fillStyle = `rgb(${colors[at]} ${colors[at + 1]} ${colors[at + 2]})`;
    ink.fillRect(left, top + y, WIDTH, Math.min(1.5, height - y));
  }
  ink.strokeRect(left + .5, top + .5, WIDTH - 1, height - 1);
  ink.fillStyle = style("--text");
  ink.textAlign = "left";
  ink.textBaseline = "middle";
  for (const [value, text] of texts) {
    const y = top + height - (value - low) / (high - low) * height;
    ink.beginPath(); ink.moveTo(left + WIDTH, Math.round(y) + .5); ink.lineTo(left + WIDTH + 4, Math.round(y) + .5); ink.stroke();
    ink.fillText(text, left + WIDTH + 7, Math.max(top + 6, Math.min(top + height - 6, y)));
  }
  if (!units) return;
  ink.save();
  ink.translate(left + WIDTH + 7 + widest(ink, texts) + 12, top + height / 2);
  ink.rotate(-Math.PI / 2);
  ink.textAlign = "center";
  ink.fillText(units, 0, 0);
  ink.restore();
}
