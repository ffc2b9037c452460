// The map of the stored chunks of an array.
import { make, failure, remark } from "./dom.js";
import { number, plural, size } from "./words.js";
import { answers, ask } from "./ask.js";

// The largest number of cells along a side.
const CELLS = 128;
const dimension = (listed, dim) => listed.names?.[dim] ?? `dimension ${dim}`;

export async function drawMap(place, listed) {
  const note = make("summary", { role: "status", textContent: "The chunks are being listed…" });
  const details = make("details", {}, note);
  place.append(details);
  let map;
  try { map = await ask("chunks", { path: listed.path }); } catch (reason) { return details.replaceWith(answers ? "" : failure(reason)); }
  const { counts } = map;
  const all = counts.reduce((product, count) => product * count, 1);
  if (map.unknown) {
    details.replaceWith(remark(`${plural(all, "chunk")}; which of them are stored is unknown: ${map.unknown}.`));
    return;
  }
  const stray = map.stray ? `; ${plural(map.stray, "object")} that belong to no chunk` : "";
  note.textContent = `${map.is_cut ? "More than " : ""}${number(map.stored)} of ${plural(all, "chunk")} stored, ${size(map.bytes)}${stray}.`;
  if (!map.stored || !all) return void details.replaceWith(remark(note.textContent));

  // The sides of the map are the last two dimensions with several chunks; all others are added up.
  const rank = counts.length;
  const several = counts.map((count, dim) => [count, dim]).filter(([count]) => count > 1).map(([, dim]) => dim);
  const [down, right] = several.length > 1 ? several.slice(-2) : [null, several[0] ?? null];
  const count = dim => dim == null ? 1 : counts[dim];
  const per = dim => Math.ceil(count(dim) / CELLS);
  const height = Math.ceil(count(down) / per(down)), width = Math.ceil(count(right) / per(right));
  const cells = Array.from({ length: height * width }, () => ({ chunks: 0, bytes: 0 }));
  for (let at = 0; at < map.cells.length; at += rank + 1) {
    const place = dim => dim == null ? 0 : Math.floor(map.cells[at + dim] / per(dim));
    const cell = cells[place(down) * width + place(right)];
    cell.chunks += 1;
    cell.bytes += map.cells[at + rank];
  }
  const most = Math.max(...cells.map(cell => cell.bytes), 1);
  const scale = Math.max(1, Math.min(24, Math.floor(736 / width)));
  const canvas = make("canvas", { className: "map", width: width * scale, height: height * scale, tabIndex: 0, role: "img" });
  canvas.style.maxWidth = `${width * scale}px`;
  const others = all / (count(down) * count(right));
  const detail = make("p", { className: "note", "aria-live": "polite", textContent: "Point at a cell, or move with the arrow keys, to see its chunks." });
  canvas.setAttribute("aria-label", `Map of the stored chunks, ${height} by ${width} cells; the arrow keys move`);
  let chosen = null;

  function paint() {
    const style = getComputedStyle(document.documentElement), ink = canvas.getContext("2d");
    const colour = style.getPropertyValue("--cell").trim();
    ink.clearRect(0, 0, canvas.width, canvas.height);
    const gap = scale > 5 ? 1 : 0;
    cells.forEach((cell, at) => {
      if (!cell.chunks) return;
      ink.fillStyle = `rgb(${colour} / ${0.15 + 0.85 * Math.sqrt(cell.bytes / most)})`;
      ink.fillRect(at % width * scale, Math.floor(at / width) * scale, scale - gap, scale - gap);
    });
    if (chosen != null) {
      ink.strokeStyle = style.getPropertyValue("--text").trim();
      ink.lineWidth = 2;
      ink.strokeRect(chosen % width * scale + 1, Math.floor(chosen / width) * scale + 1, Math.max(2, scale - 2), Math.max(2, scale - 2));
    }
  }

  function choose(at) {
    chosen = at;
    const span = (dim, place) => {
      if (dim == null) return null;
      const first = place * per(dim), last = Math.min(first + per(dim), counts[dim]) - 1;
      return `${dimension(listed, dim)} ${number(first)}${last > first ? ` to ${number(last)}` : ""}`;
    };
    const places = [span(down, Math.floor(at / width)), span(right, at % width)].filter(Boolean).join(", ");
    const rows = Math.min(per(down), count(down) - Math.floor(at / width) * per(down));
    const columns = Math.min(per(right), count(right) - at % width * per(right));
    detail.textContent = `${places ? `Chunks at ${places}` : "All chunks"}: ${number(cells[at].chunks)} of ${number(rows * columns * others)} stored, ${size(cells[at].bytes)}.`;
    paint();
  }

  canvas.addEventListener("pointermove", event => {
    const box = canvas.getBoundingClientRect();
    const x = Math.floor((event.clientX - box.left) / box.width * width), y = Math.floor((event.clientY - box.top) / box.height * height);
    if (x >= 0 && x < width && y >= 0 && y < height) choose(y * width + x);
  });
  canvas.addEventListener("keydown", event => {
    const move = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    if (!move) return;
    event.preventDefault();
    const [y, x] = [Math.floor((chosen ?? 0) / width), (chosen ?? 0) % width];
    const clamp = (at, length) => Math.max(0, Math.min(length - 1, at));
    choose(chosen == null ? 0 : clamp(y + move[0], height) * width + clamp(x + move[1], width));
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paint);
  const sides = [down != null && `Down: ${dimension(listed, down)}`, right != null && `right: ${dimension(listed, right)}`].filter(Boolean).join(", ");
  details.append(canvas, make("p", { className: "note", textContent: `${sides ? `${sides}. ` : ""}The stronger the colour, the more bytes; a cell without colour holds no stored chunk.${per(down) * per(right) > 1 || others > 1 ? " A cell stands for several chunks." : ""}` }), detail);
  paint();
}
