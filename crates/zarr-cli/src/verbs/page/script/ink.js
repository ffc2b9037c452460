// What every drawing on a canvas begins with.
import { make, style } from "./dom.js";

export function prepare(canvas, width, height) {
  const scale = devicePixelRatio || 1;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const ink = canvas.getContext("2d");
  ink.setTransform(scale, 0, 0, scale, 0, 0);
  ink.font = "12px system-ui, sans-serif";
  ink.fillStyle = style("--text");
  ink.strokeStyle = style("--dim");
  ink.lineWidth = 1;
  return { ink, scale };
}

export function hatch(ink, scale) {
  const tile = make("canvas", { width: 8 * scale, height: 8 * scale }), lines = tile.getContext("2d");
  lines.scale(scale, scale);
  lines.fillStyle = style("--soft");
  lines.fillRect(0, 0, 8, 8);
  lines.strokeStyle = style("--dim");
  lines.globalAlpha = .6;
  lines.lineWidth = 1;
  lines.beginPath();
  for (const at of [-8, 0, 8]) { lines.moveTo(at, 8); lines.lineTo(at + 8, 0); }
  lines.stroke();
  const pattern = ink.createPattern(tile, "repeat");
  pattern.setTransform(new DOMMatrix().scale(1 / scale));
  return pattern;
}
