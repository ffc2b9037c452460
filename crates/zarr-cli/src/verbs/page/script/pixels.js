// The pixels of a plane.
import { make } from "./dom.js";
import { unpack } from "./values.js";
import { CATEGORIES, table, rgb, objectColor, rangeOf } from "./colours.js";
import { sideCount } from "./axes.js";

// Returns the pixels of a plane, an element each; missing elements are transparent.
export async function pixels(plane, state) {
  const height = sideCount(plane.rows), width = sideCount(plane.columns);
  const image = new ImageData(width, height), out = image.data;
  const layers = await Promise.all(plane.layers.map(layer => unpack(layer.values)));
  const [values] = layers;
  if (plane.style === "channels") {
    for (let i = 0; i < width * height; i++) {
      let red = 0, green = 0, blue = 0;
      layers.forEach((numbers, at) => {
        const { window: [start, end], is_active } = state.channels[at], color = plane.layers[at].color;
        if (!is_active) return;
        const part = Math.max(0, Math.min(1, (numbers[i] - start) / (end - start))) || 0;
        red += part * color[0]; green += part * color[1]; blue += part * color[2];
      });
      out[4 * i] = red; out[4 * i + 1] = green; out[4 * i + 2] = blue; out[4 * i + 3] = 255;
    }
  } else if (plane.style === "categories" || plane.style === "labels") {
    const known = new Map(plane.style === "labels" ? (plane.label_colors ?? []).map(([label, ...color]) => [label, color])
      : plane.categories.map(([value, , place]) => [value, [...rgb(CATEGORIES[place % CATEGORIES.length]), 255]]));
    for (let i = 0; i < width * height; i++) out.set(plane.style === "categories" ? known.get(values[i]) ?? [0, 0, 0, 0] : objectColor(values[i], known), 4 * i);
  } else {
    const [low, high] = rangeOf(plane, state), colors = table(state.colormap, state.isReversed);
    for (let i = 0; i < width * height; i++) {
      const value = values[i];
      if (Number.isNaN(value)) continue;
      const at = 3 * Math.max(0, Math.min(255, Math.round((value - low) / (high - low) * 255)));
      out[4 * i] = colors[at]; out[4 * i + 1] = colors[at + 1]; out[4 * i + 2] = colors[at + 2]; out[4 * i + 3] = 255;
    }
  }
  const canvas = make("canvas", { width, height });
  canvas.getContext("2d").putImageData(image, 0, 0);
  return { canvas, layers, width, height };
}
