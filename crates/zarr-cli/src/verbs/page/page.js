"use strict";
// Text of the store goes into text nodes and attributes only, so it stays text.

const COLORMAPS = ["gray", "viridis", "cividis", "inferno", "magma", "plasma", "turbo", "blues", "greens", "reds", "rdbu", "spectral", "cool", "sinebow"];
// The largest number of cells along a side of a chunk map.
const CELLS = 128;

const embedded = document.getElementById("answers");
const answers = embedded && JSON.parse(embedded.textContent);
const byId = id => document.getElementById(id);

function make(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in made && !name.startsWith("aria-")) made[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...children.filter(child => child != null));
  return made;
}

// Returns the answer to a question, or throws an error with its reason.
async function ask(what, parameters = {}) {
  let answer;
  if (answers) answer = what === "tree" ? answers.tree : answers[what][parameters.path];
  else {
    const pairs = Object.entries(parameters).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
    const response = await fetch(`${what}?${pairs.join("&")}`);
    const text = await response.text();
    try { answer = JSON.parse(text); } catch { throw new Error(text.trim() || `status ${response.status}`); }
  }
  if (!answer) throw new Error("this file has no answer to that");
  if (answer.error) throw new Error(answer.error);
  return answer;
}

const number = value => value.toLocaleString("en");
const plural = (count, what) => `${number(count)} ${what}${count === 1 ? "" : "s"}`;
function size(bytes) {
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let unit = 0;
  for (; bytes >= 1024 && unit < units.length - 1; unit++) bytes /= 1024;
  return `${unit && bytes < 100 ? bytes.toPrecision(3) : number(Math.round(bytes))} ${units[unit]}`;
}
const value = shown => typeof shown === "number" ? String(Number(shown.toPrecision(6))) : shown;

// ---- The tree

let nodes = new Map();

function drawTree() {
  const words = byId("filter").value.toLowerCase();
  const shows = node => !words || node.path.toLowerCase().includes(words);
  const lists = new Map([["", byId("nodes")]]);
  byId("nodes").replaceChildren();
  const needed = new Set();
  for (const node of nodes.values()) if (shows(node)) {
    for (let path = node.path; ; path = path.slice(0, path.lastIndexOf("/"))) {
      needed.add(path || "/");
      if (!path || path === "/") break;
    }
  }
  for (const node of nodes.values()) {
    if (!needed.has(node.path)) continue;
    const above = node.path === "/" ? "" : node.path.slice(0, node.path.lastIndexOf("/")) || "/";
    const link = make("a", { href: `#${encodeURI(node.path)}`, className: node.kind },
      make("span", { textContent: node.path === "/" ? "/" : node.path.slice(node.path.lastIndexOf("/") + 1) }),
      make("small", { textContent: node.lengths ?? (node.kind === "group" ? "" : node.kind) }));
    const item = make("li", {}, link);
    (lists.get(above) ?? byId("nodes")).append(item);
    if (node.kind === "group") {
      const inside = make("ul");
      item.append(inside);
      lists.set(node.path, inside);
    }
  }
  for (const list of lists.values()) if (!list.children.length && list !== byId("nodes")) list.remove();
  mark();
}

function mark() {
  const path = current();
  for (const link of byId("nodes").querySelectorAll("a")) {
    if (decodeURI(link.hash.slice(1)) === path) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

function current() {
  try { return decodeURI(location.hash.slice(1)) || "/"; } catch { return "/"; }
}

// ---- A node

function failure(reason) {
  return make("p", { className: "error", role: "alert", textContent: reason.message ?? String(reason) });
}

function section(title, ...children) {
  return make("section", {}, make("h3", { textContent: title }), ...children);
}

function facts(pairs) {
  const list = make("dl");
  for (const [name, shown] of pairs) if (shown != null && shown !== "") list.append(make("dt", { textContent: name }), make("dd", { textContent: shown }));
  return list;
}

let shown = 0;

async function show(focus) {
  const turn = ++shown;
  const path = current(), place = byId("node");
  mark();
  const listed = nodes.get(path);
  document.title = `${path} – ${byId("name").textContent}`;
  place.replaceChildren(make("h2", { textContent: path }));
  if (focus) place.focus();
  if (!listed) return place.append(failure("There is no such node."));
  const names = listed.dimension_names;
  const shape = listed.shape?.map((length, dim) => `${names?.[dim] ?? `dimension ${dim}`}: ${number(length)}`).join("\n");
  place.append(facts([
    ["kind", listed.zarr_format ? `${listed.kind}, Zarr format ${listed.zarr_format}` : listed.kind],
    ["data type", listed.type],
    ["shape", listed.shape && (shape || "a scalar")],
    ["chunks", listed.chunks],
    ["codecs", listed.pipeline],
    ["fill value", listed.shape && JSON.stringify(listed.fill_value)],
    ["size", listed.bytes != null ? `${size(listed.bytes)} of elements` : null],
  ]));
  if (listed.unreadable_because) place.append(failure(listed.unreadable_because));
  if (listed.kind === "array") {
    const picture = section("Picture"), map = section("Chunks");
    place.append(picture, map);
    const drawn = drawPicture(picture, listed);
    const counted = drawMap(map, listed);
    await Promise.allSettled([drawn, counted]);
  }
  if (turn !== shown) return;
  try {
    const node = await ask("node", { path });
    if (turn !== shown) return;
    for (const note of node.notes) place.append(make("p", { className: "note", textContent: note }));
    place.append(section("Attributes", node.attributes.length
      ? facts(node.attributes.map(({ name, value }) => [name, value === "" ? "\u201c\u201d" : value]))
      : make("p", { className: "note", textContent: "none" })));
    place.append(section("Documents", ...node.documents.map(({ name, text }) =>
      make("details", {}, make("summary", { textContent: name }), make("pre", { textContent: text, tabIndex: 0 })))));
  } catch (reason) {
    if (turn === shown) place.append(failure(reason));
  }
}

// ---- Pictures

const dimension = (listed, dim) => listed.dimension_names?.[dim] ?? `dimension ${dim}`;

function slider(name, length, step, onInput, first = 0) {
  const output = make("output", { textContent: number(first) });
  const input = make("input", { type: "range", min: first, max: Math.max(first, first + length - 1), step, value: first });
  input.addEventListener("input", () => { output.textContent = number(Number(input.value)); onInput(Number(input.value)); });
  return make("label", { className: "slider" }, make("span", {}, `${name}: `, output, ` of ${number(length)}`), input);
}

function options(names, chosen) {
  return names.map(([value, text]) => make("option", { value, textContent: text, selected: value === chosen }));
}

async function drawPicture(place, listed) {
  const form = make("form", { "aria-label": "What the picture shows" });
  const image = make("img", { className: "plane", alt: "" });
  const legend = make("img", { alt: "" }), low = make("span"), high = make("span");
  const caption = make("figcaption", { className: "note", role: "status" });
  const figure = make("figure", {}, image, make("div", { className: "legend" }, low, legend, high), caption);
  const problem = make("div");
  form.addEventListener("submit", event => event.preventDefault());
  figure.hidden = true;
  const turn = shown;

  function draw(plane) {
    const { rows, columns } = plane;
    const part = ({ dimension: dim, start, end, step }) =>
      `${dimension(listed, dim)} ${number(start)} to ${number(end - 1)}${step > 1 ? ` in steps of ${number(step)}` : ""}`;
    const others = plane.at.map((at, dim) => dim === rows.dimension || dim === columns.dimension ? null : `${dimension(listed, dim)} = ${number(at)}`).filter(Boolean);
    image.src = plane.picture;
    image.alt = `Plane of ${listed.path}${others.length ? ` at ${others.join(", ")}` : ""}`;
    legend.src = plane.legend;
    low.textContent = value(plane.min);
    high.textContent = value(plane.max);
    caption.textContent = [`Down: ${part(rows)}. Right: ${part(columns)}.`, others.length ? `At ${others.join(", ")}.` : "", "NaN has no colour. The numbers are those that are stored, without scale and offset."].join(" ");
    figure.hidden = false;
    problem.replaceChildren();
  }

  if (answers) {
    try {
      const { planes } = await ask("planes", { path: listed.path });
      if (planes.length > 1) form.append(slider("picture", planes.length, 1, at => draw(planes[at - 1]), 1));
      place.append(form, problem, figure);
      draw(planes[0]);
    } catch (reason) { place.append(failure(reason)); }
    return;
  }

  const rank = listed.shape.length;
  if (rank < 2) return void place.append(make("p", { className: "note", textContent: "A picture needs an array of two or more dimensions." }));
  const state = { sides: [rank - 2, rank - 1], at: listed.shape.map(() => 0), colormap: "viridis", range: "" };
  let waiting = false, again = false;

  // One request at a time; the last state counts.
  async function update() {
    if (waiting) { again = true; return; }
    waiting = true;
    figure.classList.add("busy");
    do {
      again = false;
      try {
        const plane = await ask("plane", { path: listed.path, sides: state.sides.join(), at: state.at.join(), colormap: state.colormap, range: state.range });
        if (turn !== shown) return;
        draw(plane);
        windows(plane);
      } catch (reason) {
        if (turn !== shown) return;
        figure.hidden = true;
        problem.replaceChildren(failure(reason));
      }
    } while (again);
    waiting = false;
    figure.classList.remove("busy");
  }

  const moving = make("form", { "aria-label": "The part of the plane" });
  moving.addEventListener("submit", event => event.preventDefault());
  // A plane that is too large is shown in part: sliders move the part.
  function windows(plane) {
    if (moving.children.length) return;
    for (const { dimension: dim, start, end } of [plane.rows, plane.columns]) {
      if (end < listed.shape[dim]) moving.append(slider(`from ${dimension(listed, dim)}`, listed.shape[dim], Math.max(1, Math.floor((end - start) / 2)), at => { state.at[dim] = at; update(); }));
    }
  }

  function controls() {
    const names = listed.shape.map((_, dim) => [String(dim), dimension(listed, dim)]);
    const choose = (side, text) => {
      const select = make("select", {}, ...options(names, String(state.sides[side])));
      select.addEventListener("change", () => {
        const chosen = Number(select.value), other = state.sides[1 - side];
        const sides = chosen === other ? state.sides.map((_, at) => at === side ? chosen : state.sides[side]) : state.sides.map((old, at) => at === side ? chosen : old);
        state.sides = sides.sort((a, b) => a - b);
        for (const dim of state.sides) state.at[dim] = 0;
        moving.replaceChildren();
        controls();
        form.querySelectorAll("select")[side].focus();
        update();
      });
      return make("label", {}, text, select);
    };
    const colours = make("select", {}, ...options(COLORMAPS.map(name => [name, name]), state.colormap));
    colours.addEventListener("change", () => { state.colormap = colours.value; update(); });
    const range = make("input", { type: "text", value: state.range, placeholder: "automatic", size: 12, inputMode: "decimal" });
    range.addEventListener("change", () => { state.range = range.value.replace(/\s/g, ""); update(); });
    const flip = make("input", { type: "checkbox", checked: image.classList.contains("flipped") });
    flip.addEventListener("change", () => image.classList.toggle("flipped", flip.checked));
    const sliders = listed.shape.map((length, dim) => state.sides.includes(dim) || length < 2 ? null
      : slider(dimension(listed, dim), length, 1, at => { state.at[dim] = at; update(); }));
    sliders.forEach((label, dim) => {
      if (!label) return;
      label.querySelector("input").value = state.at[dim];
      label.querySelector("output").textContent = number(state.at[dim]);
    });
    form.replaceChildren(
      ...(rank > 2 ? [choose(0, "down"), choose(1, "right")] : []),
      make("label", {}, "colours", colours), make("label", {}, "range: min,max", range),
      make("label", { className: "check" }, flip, "upside down"),
      ...sliders.filter(Boolean));
  }
  controls();
  place.append(form, problem, moving, figure);
  await update();
}

// ---- Chunk maps

async function drawMap(place, listed) {
  const note = make("p", { className: "note", role: "status", textContent: "The chunks are being listed…" });
  place.append(note);
  let map;
  try { map = await ask("chunks", { path: listed.path }); } catch (reason) { return note.replaceWith(failure(reason)); }
  const { counts } = map;
  const all = counts.reduce((product, count) => product * count, 1);
  if (map.unknown) {
    note.textContent = `${plural(all, "chunk")}; which of them are stored is unknown: ${map.unknown}.`;
    return;
  }
  const stray = map.stray ? `; ${plural(map.stray, "object")} that belong to no chunk` : "";
  note.textContent = `${map.is_cut ? "More than " : ""}${number(map.stored)} of ${plural(all, "chunk")} stored, ${size(map.bytes)}${stray}.`;
  if (!map.stored || !all) return;

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
  const canvas = make("canvas", { width: width * scale, height: height * scale, tabIndex: 0, role: "img" });
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
  place.append(canvas, make("p", { className: "note", textContent: `${sides ? `${sides}. ` : ""}The stronger the colour, the more bytes; a cell without colour holds no stored chunk.${per(down) * per(right) > 1 || others > 1 ? " A cell stands for several chunks." : ""}` }), detail);
  paint();
}

// ---- Start

async function start() {
  try {
    const tree = await ask("tree");
    byId("name").textContent = tree.name;
    nodes = new Map(tree.nodes.map(node => [node.path, node]));
    const arrays = tree.nodes.filter(node => node.kind === "array").length;
    const more = tree.more_nodes ? `; ${plural(tree.more_nodes, "node")} are not shown` : "";
    byId("summary").textContent = `${plural(arrays, "array")}, ${plural(tree.nodes.filter(node => node.kind === "group").length, "group")}${more}`;
    drawTree();
    byId("filter").addEventListener("input", drawTree);
    addEventListener("hashchange", () => show(true));
    const first = tree.nodes.find(node => node.kind === "array");
    if (!location.hash && first && tree.nodes.length < 50) history.replaceState(null, "", `#${encodeURI(first.path)}`);
    await show(false);
  } catch (reason) {
    byId("summary").replaceChildren(failure(reason));
  }
}
start();
