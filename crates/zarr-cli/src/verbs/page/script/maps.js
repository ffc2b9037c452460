// The plane of an array or an image, and what is chosen of it.
import { make, style, failure, remark, options, redraw } from "./dom.js";
import { number, plural, digits, unit, labelText, labelOf } from "./words.js";
import { answers, ask, inTurn, look } from "./ask.js";
import { unpack } from "./values.js";
import { isShown } from "./nodes.js";
import { palette, choices, rangeOf, legendOf } from "./colours.js";
import { pixels } from "./pixels.js";
import { drawPlane } from "./plane.js";
import { drawLine } from "./curve.js";
import { slider } from "./slider.js";
import { complete } from "./metadata.js";

// The number of pixels that a server is asked for.
export const sideFor = place => Math.max(256, Math.min(1024, Math.ceil(place.clientWidth * (devicePixelRatio || 1))));

export async function drawMaps(inside, listed, plane, turn) {
  const sliders = make("form", { "aria-label": "Position" }), form = make("form", { "aria-label": "What the picture shows" });
  for (const of of [sliders, form]) of.addEventListener("submit", event => event.preventDefault());
  const canvas = make("canvas", { className: "plane", role: "img", tabIndex: 0 });
  const value = make("p", { className: "value", role: "status" });
  const caption = make("p", { className: "note" });
  const legend = make("div"), below = make("div"), problem = make("div");
  const figure = make("figure", {}, make("div", {}, canvas), value, legend, caption);
  inside.replaceChildren(sliders, form, problem, figure, below);
  const state = choices(plane, listed);
  const asked = { sides: null, at: plane.at.slice(), level: null, zoom: null };
  const positions = answers ? (await ask("plane", { path: listed.path })).planes.length : 0;
  const longest = () => Math.max(...plane.lengths.filter((_, dim) => isFixed(dim)));
  let drawn, box, chosen = null, waiting = false, again = false;

  async function draw() {
    drawn = await pixels(plane, state);
    if (!isShown(turn)) return;
    box = drawPlane(canvas, plane, state, drawn);
    // For tests and for programs that read the page.
    Object.assign(canvas.dataset, { at: plane.at.join(), rows: plane.rows.name, columns: plane.columns.name, range: ["numbers", "image"].includes(plane.style) ? rangeOf(plane, state).join() : "" });
    const others = plane.at.map((at, dim) => isFixed(dim) ? `${plane.names[dim]} ${labelText(plane.at_labels[dim], plane.at_units[dim]) ?? number(at)}` : null).filter(Boolean);
    canvas.setAttribute("aria-label", `Plane of ${listed.path}${others.length ? ` at ${others.join(", ")}` : ""}; the arrow keys choose an element`);
    const missing = plane.layers[0].values.missing / Math.max(1, plane.layers[0].values.count);
    const { rows, columns } = plane;
    const part = side => side.end - side.start < plane.lengths[side.dimension] ? `${side.name} ${number(side.start)} to ${number(side.end - 1)} of ${number(plane.lengths[side.dimension])}` : null;
    caption.textContent = [
      missing ? `Hatched: missing, ${(missing * 100).toPrecision(2)} %.` : "",
      rows.step === columns.step && rows.step > 1 ? `Each ${rows.step}th element.` : rows.step > 1 || columns.step > 1 ? `Each ${rows.step}th row, each ${columns.step}th column.` : "",
      [part(rows), part(columns)].some(Boolean) ? `Shown: ${[part(rows), part(columns)].filter(Boolean).join(", ")}.` : "",
      box.isToScale ? "" : "Not to scale.",
      positions > 1 && positions < longest() ? `${number(positions)} of ${plural(longest(), "position")} are in this file.` : "",
      plane.level ? `Level ${plane.level}: ${plane.levels.find(level => level.path === plane.level)?.shape.map(number).join(" × ")}.` : "",
    ].filter(Boolean).join(" ");
    legend.replaceChildren(plane.categories ? legendOf(plane.categories) : "");
    complete(listed, plane);
    if (chosen) tell(chosen);
  }
  const isFixed = dim => ![plane.rows.dimension, plane.columns.dimension, plane.channels].includes(dim) && plane.lengths[dim] > 1;

  // One request at a time; the last state counts.
  async function update() {
    if (waiting) { again = true; return; }
    waiting = true;
    figure.classList.add("busy");
    do {
      again = false;
      try {
        const next = await look(listed.path, { sides: asked.sides, at: asked.at.join(), level: asked.level, zoom: asked.zoom?.map(part => part.toFixed(9)).join(), side: sideFor(inside) });
        if (!isShown(turn)) return;
        if (next.kind !== "plane") throw new Error(next.reason ?? "there is no picture");
        const isOther = next.layers.length !== state.channels.length;
        plane = next;
        if (isOther) Object.assign(state, choices(plane, listed));
        problem.replaceChildren();
        figure.hidden = false;
        await draw();
        for (const [dim, one] of moving) one.set(plane.at[dim], labelText(plane.at_labels[dim], plane.at_units[dim]));
      } catch (reason) {
        if (!isShown(turn)) return;
        figure.hidden = true;
        problem.replaceChildren(failure(reason));
      }
    } while (again);
    waiting = false;
    figure.classList.remove("busy");
  }

  // ---- The element under the pointer

  function elementAt(x, y) {
    const column = Math.floor((x - box.left) / box.width * drawn.width);
    const row = Math.floor((y - box.top) / box.height * drawn.height);
    return column < 0 || row < 0 || column >= drawn.width || row >= drawn.height ? null : { row: box.isUp ? drawn.height - 1 - row : row, column };
  }
  function tell({ row, column }) {
    const i = row * drawn.width + column;
    const words = new Map((plane.categories ?? []).map(([number, words]) => [number, words]));
    const texts = plane.layers.map(({ label, values }, at) => {
      const found = drawn.layers[at][i];
      const text = Number.isNaN(found) ? "missing" : words.get(found) || digits(found, values.type === "u2" && values.step < 1 ? values.step * 2 : undefined);
      return `${plane.layers.length > 1 ? `${label} ` : ""}${text}`;
    });
    const at = plane.at.slice();
    at[plane.rows.dimension] = plane.rows.start + row * plane.rows.step;
    at[plane.columns.dimension] = plane.columns.start + column * plane.columns.step;
    value.replaceChildren(`${labelOf(plane.rows, row)}, ${labelOf(plane.columns, column)}: `, make("b", { textContent: `${texts.join(", ")}${texts.length === 1 && texts[0] !== "missing" ? ` ${unit(plane.units)}` : ""}` }), `  element [${at.map((at, dim) => dim === plane.channels ? ":" : at).join(", ")}]`);
    return at;
  }
  canvas.addEventListener("pointermove", event => { const found = box && elementAt(event.offsetX, event.offsetY); if (found) tell(found); });
  canvas.addEventListener("pointerleave", () => chosen ? tell(chosen) : value.replaceChildren());
  // A click chooses an element, and dragging a part of the plane.
  let from = null;
  const within = event => [Math.max(0, Math.min(1, (event.offsetX - box.left) / box.width)), Math.max(0, Math.min(1, (event.offsetY - box.top) / box.height))];
  const isDragged = event => from && Math.hypot(event.offsetX - from.x, event.offsetY - from.y) > 8;
  canvas.addEventListener("pointerdown", event => { from = box && event.button === 0 && event.pointerType === "mouse" && elementAt(event.offsetX, event.offsetY) ? { x: event.offsetX, y: event.offsetY, part: within(event) } : null; });
  canvas.addEventListener("pointermove", event => {
    if (answers || !event.buttons || !isDragged(event)) return;
    box = drawPlane(canvas, plane, state, drawn);
    const ink = canvas.getContext("2d"), [x, y] = within(event);
    ink.lineWidth = 2;
    ink.strokeStyle = style("--mark");
    ink.strokeRect(box.left + from.part[0] * box.width, box.top + from.part[1] * box.height, (x - from.part[0]) * box.width, (y - from.part[1]) * box.height);
  });
  canvas.addEventListener("click", event => {
    const found = box && elementAt(event.offsetX, event.offsetY);
    if (!answers && isDragged(event)) {
      const [x, y] = within(event), flip = part => box.isUp ? 1 - part : part;
      const ends = [[flip(from.part[1]), flip(y)], [from.part[0], x]].map(pair => pair.sort((one, other) => one - other));
      const [top, bottom, left, right] = asked.zoom ?? [0, 1, 0, 1];
      const part = (first, last, [one, other]) => [first + (last - first) * one, first + (last - first) * other];
      zoomTo([...part(top, bottom, ends[0]), ...part(left, right, ends[1])]);
    } else if (found) { chosen = found; drawAlong(tell(found)); }
  });
  async function zoomTo(zoom) {
    if (zoom && (zoom[1] - zoom[0] < 1e-6 || zoom[3] - zoom[2] < 1e-6)) return;
    asked.zoom = zoom;
    chosen = null;
    below.replaceChildren();
    await update();
    if (isShown(turn)) await controls();
  }
  canvas.addEventListener("keydown", event => {
    const move = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0], Enter: [0, 0] }[event.key];
    if (!move || !drawn) return;
    event.preventDefault();
    const clamp = (at, length) => Math.max(0, Math.min(length - 1, at)), up = box.isUp ? -1 : 1;
    chosen = chosen ? { row: clamp(chosen.row + up * move[0], drawn.height), column: clamp(chosen.column + move[1], drawn.width) } : { row: drawn.height >> 1, column: drawn.width >> 1 };
    const at = tell(chosen);
    if (event.key === "Enter") drawAlong(at);
  });

  // Draws the numbers at a point along the dimension of the longest slider.
  async function drawAlong(at) {
    const [dim] = plane.lengths.map((length, dim) => [dim, length]).filter(([dim]) => isFixed(dim)).sort((one, other) => other[1] - one[1])[0] ?? [];
    if (dim == null || plane.style === "channels") return;
    try {
      const curve = answers ? await fromPlanes(at, dim) : await inTurn(() => ask("plane", { path: listed.path, at: at.join(), along: dim, level: asked.level }));
      if (!isShown(turn) || !curve) return;
      below.replaceChildren(make("h3", { textContent: `At this point, along ${curve.name}` }));
      if (curve.kind === "curve") drawLine(below, curve, 180); else below.append(remark(`${curve.reason}.`));
    } catch (reason) { if (isShown(turn)) below.replaceChildren(failure(reason)); }
  }
  // The curve of a file has the positions of its planes.
  async function fromPlanes(at, dim) {
    const { planes } = await ask("plane", { path: listed.path });
    if (planes.length < 3) return null;
    const i = chosen.row * drawn.width + chosen.column;
    const lows = await Promise.all(planes.map(async one => { const found = (await unpack(one.layers[0].values))[i]; return Number.isNaN(found) ? null : found; }));
    const known = lows.filter(low => low != null);
    const labels = planes.map(one => one.at_labels[dim] ?? String(one.at[dim]));
    return { kind: "curve", name: plane.names[dim], lows, highs: null, labels, per: 1, units: plane.units, min: Math.min(...known), max: Math.max(...known), missing: 0, categories: null };
  }

  // ---- Controls

  const moving = new Map();
  async function controls() {
    moving.clear();
    sliders.replaceChildren();
    const names = plane.names.map((name, dim) => [String(dim), name]);
    if (answers) {
      const { planes, first } = await ask("plane", { path: listed.path });
      if (planes.length > 1) {
        const dim = plane.names.findIndex((_, dim) => planes.some(one => one.at[dim] !== planes[0].at[dim]));
        const one = slider(plane.names[dim], { length: planes.length, at: first, label: at => labelText(planes[at].at_labels[dim], planes[at].at_units[dim]) ?? `at ${number(planes[at].at[dim])}`, onInput: at => { asked.at = planes[at].at.slice(); update(); } });
        sliders.append(one.place);
      }
    } else plane.lengths.forEach((length, dim) => {
      if (!isFixed(dim)) return;
      const one = slider(plane.names[dim], { length, at: plane.at[dim], label: at => at === plane.at[dim] ? labelText(plane.at_labels[dim], plane.at_units[dim]) : null, onInput: at => { asked.at[dim] = at; update(); } });
      moving.set(dim, one);
      sliders.append(one.place);
    });
    // A plane that is too large is shown in part: sliders move the part.
    if (!answers && !asked.zoom) for (const side of [plane.rows, plane.columns]) {
      if (side.end - side.start >= plane.lengths[side.dimension]) continue;
      const one = slider(`from ${side.name}`, { length: plane.lengths[side.dimension], at: side.start, label: () => null, onInput: at => { asked.at[side.dimension] = at; update(); } });
      sliders.append(one.place);
    }
    const choose = (side, text) => {
      const own = [plane.rows.dimension, plane.columns.dimension];
      const select = make("select", { className: "side" }, ...options(names, String(own[side])));
      select.addEventListener("change", async () => {
        const to = Number(select.value), other = own[1 - side];
        const sides = to === other ? own[side] : other;
        asked.sides = [to, sides].sort((one, other) => one - other);
        for (const dim of asked.sides) asked.at[dim] = 0;
        asked.zoom = null;
        chosen = null;
        below.replaceChildren();
        await update();
        if (isShown(turn)) { await controls(); form.querySelectorAll("select.side")[side]?.focus(); }
      });
      return make("label", {}, text, select);
    };
    const parts = [];
    if (!answers && plane.lengths.length > 2 && plane.style !== "channels") parts.push(choose(0, "down"), choose(1, "right"));
    if (["numbers", "image"].includes(plane.style)) {
      const colours = make("select", { className: "colours" }, ...options(Object.keys(palette.colormaps).map(name => [name, name]), state.colormap));
      colours.addEventListener("change", () => { state.colormap = colours.value; state.isReversed = false; draw(); });
      const range = make("input", { type: "text", className: "range", value: state.range?.join() ?? "", placeholder: "automatic", size: 12, inputMode: "decimal" });
      range.addEventListener("change", () => {
        const numbers = range.value.split(",").map(text => text.trim()).map(text => text === "" ? NaN : Number(text));
        const isRight = numbers.length === 2 && numbers.every(Number.isFinite) && numbers[0] < numbers[1];
        problem.replaceChildren(isRight || !range.value.trim() ? "" : failure("The range is MIN,MAX, with MIN below MAX."));
        state.range = isRight ? numbers : null;
        draw();
      });
      parts.push(make("label", {}, "colours", colours), make("label", {}, "range", range));
    }
    if (plane.style === "channels") plane.layers.forEach(({ label, color }, at) => {
      const own = state.channels[at], box = make("input", { type: "checkbox", checked: own.is_active }), dot = make("i");
      dot.style.background = `rgb(${color.join(" ")})`;
      box.addEventListener("change", () => { own.is_active = box.checked; draw(); });
      const window = make("input", { type: "text", value: own.window.map(end => Number(end.toPrecision(5))).join(), size: 9, "aria-label": `${label}: darkest and brightest number` });
      window.addEventListener("change", () => {
        const ends = window.value.split(",").map(Number);
        if (ends.length === 2 && ends.every(Number.isFinite) && ends[0] < ends[1]) { own.window = ends; draw(); }
      });
      parts.push(make("label", { className: "channel" }, box, dot, label, window));
    });
    if (!answers && plane.levels?.length > 1 && listed.kind === "group") {
      const levels = make("select", { className: "level" }, ...options([["", `fitting (${plane.level})`], ...plane.levels.map(({ path, shape }) => [path, `${path}: ${shape.map(number).join(" × ")}`])], asked.level ?? ""));
      levels.addEventListener("change", async () => { asked.level = levels.value; asked.at = plane.at.slice(); await update(); });
      parts.push(make("label", {}, "level", levels));
    }
    if (asked.zoom) {
      const whole = make("button", { type: "button", className: "whole", textContent: "Whole picture" });
      whole.addEventListener("click", () => zoomTo(null));
      parts.push(whole);
    } else if (!answers) parts.push(make("span", { className: "note", textContent: "Drag to zoom." }));
    form.replaceChildren(...parts);
  }

  await draw();
  if (!isShown(turn)) return;
  redraw(canvas, () => { if (drawn) box = drawPlane(canvas, plane, state, drawn); });
  await controls();
}
