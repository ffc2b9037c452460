// Colours of numbers, categories and objects, and what is chosen of them.
import { make } from "./dom.js";

// The colour maps, and those that the command line chose.
export const palette = { colormaps: {}, defaults: {} };
const ANOMALY = /anomal|differen|bias|increment|tendenc|departure|deviation from/i;
export const CATEGORIES = ["#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#76b7b2", "#edc948", "#b07aa1", "#ff9da7", "#9c755f", "#bab0ac", "#1b9e77", "#d95f02", "#7570b3", "#e7298a", "#66a61e", "#e6ab02", "#a6761d", "#666666", "#8dd3c7", "#bebada"];

export function table(name, reverse) {
  const bytes = palette.colormaps[name] ?? palette.colormaps.viridis;
  if (!reverse) return bytes;
  const turned = new Uint8Array(768);
  for (let at = 0; at < 256; at++) turned.set(bytes.subarray(3 * at, 3 * at + 3), 3 * (255 - at));
  return turned;
}

export const rgb = hex => [1, 3, 5].map(at => parseInt(hex.slice(at, at + 2), 16));

// Returns a colour for the number of an object, always the same.
export function objectColor(label, known) {
  if (known?.has(label)) return known.get(label);
  if (label === 0 || Number.isNaN(label)) return [0, 0, 0, 0];
  const hue = (label * 0.61803398875 % 1) * 6, high = 235, low = 70 + label * 37 % 60;
  const part = hue % 1, up = low + (high - low) * part, down = high - (high - low) * part;
  return [...[[high, up, low], [down, high, low], [low, high, up], [low, down, high], [up, low, high], [high, low, down]][Math.floor(hue)].map(Math.round), 255];
}

// What is chosen of a picture; the rest follows from the plane.
export function choices(plane, listed) {
  const [first] = plane.layers;
  const isCentred = plane.style === "numbers" && first.values.min < 0 && first.values.max > 0 && ANOMALY.test(`${listed.path} ${plane.long_name ?? ""}`);
  const colormap = palette.defaults.colormap ?? (plane.style === "image" ? "gray" : isCentred ? "rdbu" : "viridis");
  return { colormap, isCentred, isReversed: isCentred && !palette.defaults.colormap, range: palette.defaults.range ?? null, seen: null, channels: plane.layers.map(({ window, is_active }) => ({ window, is_active })) };
}

export function rangeOf(plane, state) {
  if (state.range) return state.range;
  const { min, max } = plane.layers[0].values;
  if (Number.isFinite(min) && Number.isFinite(max)) state.seen = state.seen ? [Math.min(state.seen[0], min), Math.max(state.seen[1], max)] : [min, max];
  const [low, high] = state.seen ?? [0, 1];
  if (state.isCentred) { const most = Math.max(-low, high); return [-most, most]; }
  return low === high ? [low, low + 1] : [low, high];
}

export function legendOf(categories) {
  return make("ul", { className: "legend" }, ...categories.map(([value, words, at]) => {
    const swatch = make("i");
    swatch.style.background = CATEGORIES[at % CATEGORIES.length];
    return make("li", {}, swatch, words ? `${words} (${value})` : String(value));
  }));
}
