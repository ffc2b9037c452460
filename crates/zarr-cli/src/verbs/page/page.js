"use strict";
// Text of the store goes into text nodes and attributes only, so it stays text.

// The largest number of cells along a side of a chunk map, of children that a list shows, and of cards.
const CELLS = 128, SIBLINGS = 200, CARDS = 60;
// The depth from which groups are folded.
const FOLDED = 4;
const ANOMALY = /anomal|differen|bias|increment|tendenc|departure|deviation from/i;
const CATEGORIES = ["#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#76b7b2", "#edc948", "#b07aa1", "#ff9da7", "#9c755f", "#bab0ac", "#1b9e77", "#d95f02", "#7570b3", "#e7298a", "#66a61e", "#e6ab02", "#a6761d", "#666666", "#8dd3c7", "#bebada"];

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
  if (answers) answer = ["tree", "look"].includes(what) ? answers[what] : answers[what][parameters.path];
  else {
    const pairs = Object.entries(parameters).filter(([, value]) => value != null && value !== "").map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
    const url = `${what}?${pairs.join("&")}`;
    let response = await fetch(url);
    for (let tries = 0; response.status === 503 && tries < 5; tries++) {
      await new Promise(done => setTimeout(done, 400 * (tries + 1)));
      response = await fetch(url);
    }
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
// Returns a number with as many digits as the step between its neighbours has.
function digits(value, step) {
  if (!Number.isFinite(value)) return String(value);
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return String(value);
  const large = Math.abs(value);
  if (large && (large < 1e-4 || large >= 1e9)) return value.toExponential(3);
  const places = step > 0 ? Math.max(0, Math.min(8, 1 - Math.floor(Math.log10(step)))) : null;
  return places == null ? String(Number(value.toPrecision(6))) : value.toFixed(places);
}
// Returns the text of a round number on an axis whose numbers are `gap` apart.
function tickText(value, gap) {
  const large = Math.abs(value);
  if (!(gap > 0) || gap < 1e-6 || large >= 1e9) return digits(value);
  return value.toFixed(Math.max(0, Math.ceil(-Math.log10(gap) - 1e-9) + (Number((gap * 10 ** Math.ceil(-Math.log10(gap))).toFixed(6)) % 1 ? 1 : 0)));
}
const UNITS = { micrometer: "µm", nanometer: "nm", millimeter: "mm", meter: "m", angstrom: "Å", second: "s", millisecond: "ms", minute: "min", hour: "h" };
const unit = units => units ? UNITS[units] ?? units : "";
const isSince = units => / since /.test(units ?? "");
function degrees(value, place) {
  if (place === "longitude") {
    const east = ((value % 360) + 540) % 360 - 180;
    const shown = Number(Math.abs(east).toPrecision(6));
    return shown === 0 || shown === 180 ? `${shown}°` : `${shown}° ${east < 0 ? "W" : "E"}`;
  }
  const shown = Number(Math.abs(value).toPrecision(6));
  return shown === 0 ? "0°" : `${shown}° ${value < 0 ? "S" : "N"}`;
}
const style = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// ---- The tree

let nodes = new Map();
const open = new Set(), folded = new Set();
const nameOf = path => path === "/" ? "/" : path.slice(path.lastIndexOf("/") + 1);
const aboveOf = path => path === "/" ? "" : path.slice(0, path.lastIndexOf("/")) || "/";
const depthOf = path => path === "/" ? 0 : path.split("/").length - 1;
let children = new Map();

const TITLES = [["variable", "Variables"], ["coordinate", "Coordinates"], ["other", "Other"], ["group", "Groups"]];

function drawTree() {
  const words = byId("filter").value.toLowerCase();
  const needed = new Set();
  for (const node of nodes.values()) if (!words || node.path.toLowerCase().includes(words)) {
    for (let path = node.path; path && !needed.has(path); path = aboveOf(path)) needed.add(path);
  }
  const path = current();
  const around = new Set();
  for (let above = path; above; above = aboveOf(above)) around.add(above);
  function item(node) {
    const small = node.kind === "array" ? isSince(node.units) || !node.units ? node.lengths : node.units : node.what ?? (node.kind === "group" ? "" : node.kind);
    const link = make("a", { href: `#${encodeURI(node.path)}`, className: node.kind },
      make("span", { textContent: nameOf(node.path) }), make("small", { textContent: small ?? "" }));
    const own = node.kind === "group" && children.get(node.path);
    if (!own) return make("li", {}, link);
    const isFolded = !words && !around.has(node.path) && !open.has(node.path) && (folded.has(node.path) || depthOf(node.path) >= FOLDED || (node.what && depthOf(node.path) > 0));
    const button = make("button", { type: "button", className: "fold", textContent: isFolded ? "▸" : "▾", "aria-label": `${isFolded ? "Unfold" : "Fold"} ${node.path}` });
    button.addEventListener("click", () => {
      if (isFolded) { open.add(node.path); folded.delete(node.path); } else { folded.add(node.path); open.delete(node.path); }
      drawTree();
    });
    const row = node.path === "/" ? link : make("div", { className: "row" }, button, link);
    return make("li", { className: isFolded ? "folded" : "" }, row, isFolded ? null : list(node.path));
  }
  function list(above) {
    const made = make("ul"), all = (children.get(above) ?? []).filter(node => needed.has(node.path));
    const isDataset = all.some(node => node.role === "coordinate");
    for (const [role, title] of TITLES) {
      const some = all.filter(node => (node.role ?? "group") === role);
      if (!some.length) continue;
      if (isDataset) made.append(make("li", { className: "title", textContent: title }));
      const shown = some.filter((node, at) => at < SIBLINGS || around.has(node.path));
      made.append(...shown.map(item));
      if (shown.length < some.length) made.append(make("li", { className: "more", textContent: `${number(some.length - shown.length)} more: use the filter` }));
    }
    return made;
  }
  byId("nodes").replaceChildren(...[nodes.get("/")].filter(root => root && needed.has("/")).map(item));
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
const remark = text => make("p", { className: "note", textContent: text });

function section(title, ...children) {
  return make("section", {}, make("h3", { textContent: title }), ...children);
}

function facts(pairs) {
  const list = make("dl");
  for (const [name, shown] of pairs) if (shown != null && shown !== "") list.append(make("dt", { textContent: name }), make("dd", { textContent: shown, className: name === "type" ? "type" : "" }));
  return list;
}

let shown = 0;

async function show(focus) {
  const turn = ++shown;
  visible = null;
  const path = current(), place = byId("node"), side = byId("facts");
  byId("tree").classList.remove("open");
  byId("menu").setAttribute("aria-expanded", "false");
  drawTree();
  const listed = nodes.get(path);
  document.title = `${path === "/" ? "" : `${nameOf(path)} – `}${byId("name").textContent}`;
  const about = listed?.kind === "array" && [listed.long_name ?? listed.standard_name, isSince(listed.units) ? "" : unit(listed.units)].filter(Boolean).join(", ");
  const title = path === "/" && listed?.kind === "group" ? titleOf(listed) : path;
  place.replaceChildren(make("h2", { title: path }, title, about ? make("small", { textContent: ` ${about}` }) : null));
  side.replaceChildren();
  scrollTo(0, 0);
  if (focus) place.focus({ preventScroll: true });
  if (!listed) return place.append(failure("There is no such node."));
  const asked = ask("node", { path }).catch(reason => ({ reason }));
  let drawn;
  if (listed.unreadable_because) place.append(failure(listed.unreadable_because));
  else if (listed.kind === "array" || listed.what === "image") drawn = drawPicture(place, listed, turn);
  const node = await asked;
  if (turn !== shown) return;
  if (node.reason) return place.append(failure(node.reason));
  if (listed.kind === "group" && !listed.unreadable_because) drawGroup(place, listed, node);
  describe(side, listed, node);
  if (path === "/" && listed.kind === "group") summary(listed, node);
  await drawn;
  if (turn === shown && listed.kind === "array" && !listed.unreadable_because) await drawMap(side.querySelector(".chunks"), listed);
}

function titleOf({ path, what }) {
  const own = children.get(path) ?? [];
  return { image: "Image", plate: "Plate", well: "Well", anndata: "AnnData" }[what] ?? (own.some(child => child.role === "coordinate") ? "Dataset" : "Group");
}

// Says in the head of the page what the store is.
function summary(root, node) {
  const title = node.attributes.find(own => ["title", "name"].includes(own.name))?.value;
  const lengths = node.dimensions?.map(({ name, length }) => `${name} ${number(length)}`).join(", ");
  if (title || lengths) byId("summary").textContent = [title, titleOf(root).toLowerCase(), lengths, `Zarr ${root.zarr_format}`].filter(Boolean).join(" · ");
}

// Returns an attribute `_FillValue` as text. xarray writes that of floats as the base64 of their eight bytes.
function fillValue(value) {
  if (!/^[A-Za-z0-9+/]{11}=$/.test(value ?? "")) return value;
  const bytes = Uint8Array.from(atob(value), letter => letter.charCodeAt(0));
  return String(new DataView(bytes.buffer).getFloat64(0, true));
}

// Fills the column of metadata.
function describe(side, listed, node) {
  const attribute = name => node.attributes.find(own => own.name === name)?.value;
  const shape = listed.shape?.map((length, dim) => `${listed.names?.[dim] ?? `dimension ${dim}`}: ${number(length)}`).join("\n");
  const packed = [attribute("scale_factor") && `× ${attribute("scale_factor")}`, attribute("add_offset") && `+ ${attribute("add_offset")}`].filter(Boolean).join(" ");
  side.append(section(listed.kind === "array" ? "Array" : "Group", facts([
    ["kind", [listed.what || listed.kind, listed.zarr_format && `Zarr format ${listed.zarr_format}`].filter(Boolean).join(", ")],
    ["type", listed.type],
    ["packing", packed],
    ["missing", fillValue(attribute("_FillValue")) ?? attribute("missing_value")],
    ["shape", listed.shape && (shape || "a scalar")],
    ["chunks", listed.chunks],
    ["codecs", listed.pipeline],
    ["fill value", listed.shape && JSON.stringify(listed.fill_value)],
    ["size", listed.bytes != null ? `${size(listed.bytes)} of elements` : null],
  ])));
  for (const note of node.notes) side.append(remark(note));
  if (listed.kind === "array") side.append(make("div", { className: "chunks" }));
  const few = node.attributes.length <= 8 && listed.kind === "group" && !listed.what;
  if (node.attributes.length) side.append(make("details", { open: few, className: "attributes" },
    make("summary", { textContent: `Attributes (${number(node.attributes.length)})` }),
    facts(node.attributes.map(({ name, value }) => [name, value === "" ? "“”" : value]))));
  side.append(...node.documents.map(({ name, text }) =>
    make("details", {}, make("summary", { textContent: name }), make("pre", { textContent: text, tabIndex: 0 }))));
  side.append(section("Command", make("pre", { className: "command" })));
  complete(listed);
}

// Adds to the metadata what the plane that is shown says.
let visible = null;
function complete(listed) {
  const [command, type] = ["pre.command", "dd.type"].map(query => byId("facts").querySelector(query));
  if (command) command.textContent = commandOf(listed, visible);
  if (type && visible?.type && visible.type !== listed.type) type.textContent = `${listed.type} → ${visible.type}`;
}

function commandOf(listed, plane) {
  const store = byId("name").textContent + (listed.path === "/" ? "" : listed.path);
  // Names and labels of a store may hold anything, and the command is pasted into a shell.
  const quote = text => /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
  const quoted = quote(store);
  if (!plane) return `zarr info ${quoted}`;
  if (listed.kind === "group") return `zarr cat -o image.png ${quoted}${plane.level ? ` --level ${quote(plane.level)}` : ""}`;
  const picked = plane.at.map((at, dim) => {
    if ([plane.rows?.dimension, plane.columns?.dimension, plane.channels].includes(dim)) return null;
    const label = plane.at_labels?.[dim];
    const name = plane.names[dim];
    if (name.startsWith("dimension ")) return undefined;
    return label == null ? `${name}@${at}` : `${name}=${label}`;
  });
  const isPlain = picked.includes(undefined);
  const part = isPlain ? plane.at.map((at, dim) => [plane.rows.dimension, plane.columns.dimension].includes(dim) ? ":" : at).join() : picked.filter(Boolean).join();
  return `zarr cat --decode -f csv ${quoted}${part ? ` -s ${quote(part)}` : ""}`;
}

// ---- Groups

function drawGroup(place, listed, node) {
  if (node.dimensions?.some(({ first }) => first != null)) {
    place.append(facts(node.dimensions.map(({ name, length, first, second, last, units }) => {
      const ends = first == null ? "" : first === last ? first : `${first} … ${last}`;
      const [one, two] = [Number(first), Number(second)];
      const by = first != null && second != null && Number.isFinite(one) && Number.isFinite(two) ? ` by ${Number((two - one).toPrecision(6))}` : "";
      return [name, [`${ends}${by}`, isSince(units) ? "" : units, `(${number(length)})`].filter(Boolean).join(" ")];
    })));
  }
  if (node.image) drawLevels(place, node.image);
  const plate = plateOf(node);
  if (plate) return drawPlate(place, listed, plate);
  const own = children.get(listed.path) ?? [];
  const levels = new Set((node.image?.levels ?? []).map(({ path }) => path.split("/")[0]));
  const rank = node => ["variable", "group", "other", "coordinate"].indexOf(node.role ?? "group");
  const isDataset = own.some(child => child.role === "coordinate");
  const cards = own.filter(child => !levels.has(nameOf(child.path)) && !(isDataset && ["coordinate", "other"].includes(child.role)));
  cards.sort((one, other) => rank(one) - rank(other));
  if (cards.length) place.append(make("div", { className: "cards" }, ...cards.slice(0, CARDS).map(child => card(child))));
  if (cards.length > CARDS) place.append(remark(`${plural(cards.length - CARDS, "node")} more: see the list on the left.`));
  if (!own.length && !node.image) place.append(remark("The group is empty."));
}

function drawLevels(place, image) {
  const axes = image.axes.map(({ name }) => name).join(", ");
  const scale = level => level.scale.map((step, dim) => image.axes[dim].unit ? `${Number(step.toPrecision(4))} ${unit(image.axes[dim].unit)}` : null).filter(Boolean);
  const rows = image.levels.map(level => make("tr", {},
    make("td", {}, make("a", { href: `#${encodeURI(`${current() === "/" ? "" : current()}/${level.path}`)}`, textContent: level.path })),
    make("td", { textContent: level.shape.map(number).join(" × ") }), make("td", { textContent: scale(level).join(" × ") })));
  place.append(make("details", { open: true }, make("summary", { textContent: `${image.format}${image.name ? `, ${image.name}` : ""}: ${plural(image.levels.length, "level")} (${axes})` }), make("table", {}, ...rows)));
}

function card(listed, caption = true) {
  const thumb = make("div", { className: "thumb" });
  const link = make("a", { className: "card", href: `#${encodeURI(listed.path)}`, title: listed.path }, thumb);
  if (caption) {
    const size = listed.kind === "array" ? [listed.names?.join(", ") || listed.lengths || "scalar", listed.names ? listed.lengths : null, listed.type].filter(Boolean).join(" · ")
      : [listed.what || (listed.kind === "group" ? "group" : listed.kind), plural((children.get(listed.path) ?? []).length, "node")].join(" · ");
    link.append(make("p", {}, make("b", { textContent: nameOf(listed.path) }), listed.units ? ` ${unit(listed.units)}` : ""),
      listed.long_name ? make("p", { textContent: listed.long_name }) : "", make("p", {}, make("small", { textContent: size })));
  }
  const first = pictured(listed);
  if (first) lazily(thumb, () => drawThumb(thumb, first));
  else thumb.textContent = listed.unreadable_because ? "unreadable" : namesIn(listed);
  return link;
}

// Returns the names of the first nodes in a group.
function namesIn(listed) {
  const names = (children.get(listed.path) ?? []).map(child => nameOf(child.path));
  return names.slice(0, 8).join(", ") + (names.length > 8 ? ", …" : "");
}

// Returns the node whose picture stands for a node: itself, or the first image of a well.
function pictured(listed) {
  if (listed.unreadable_because) return null;
  if (listed.kind === "array" || listed.what === "image") return listed;
  if (listed.what === "well") return (children.get(listed.path) ?? []).find(child => child.what === "image");
  return null;
}

// Returns what is in the attributes of a plate.
function plateOf(node) {
  const parse = name => {
    try { return JSON.parse(node.attributes.find(own => own.name === name)?.value ?? "null"); } catch { return null; }
  };
  const plate = parse("ome")?.plate ?? parse("plate");
  return plate && [plate.rows, plate.columns, plate.wells].every(Array.isArray) ? plate : null;
}

function drawPlate(place, listed, plate) {
  const base = listed.path === "/" ? "" : listed.path;
  const wells = new Map(plate.wells.map(well => [String(well?.path), nodes.get(`${base}/${well?.path}`)]));
  const head = make("tr", {}, make("th"), ...plate.columns.map(column => make("th", { textContent: column?.name ?? "" })));
  const rows = plate.rows.map(row => make("tr", {}, make("th", { textContent: row?.name ?? "" }), ...plate.columns.map(column => {
    const well = wells.get(`${row?.name}/${column?.name}`);
    return make("td", {}, well ? card(well, false) : "–");
  })));
  place.append(make("div", { className: "plate" }, make("table", {}, head, ...rows)));
}

// ---- Numbers

const cache = new WeakMap();
async function unpack(values) {
  if (!cache.has(values)) cache.set(values, unpacked(values));
  return cache.get(values);
}
async function unpacked({ type, start, step, count, data }) {
  const packed = Uint8Array.from(atob(data), letter => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  if (type === "f4" || type === "f8") {
    const width = Number(type[1]), plain = new Uint8Array(bytes.length);
    for (let i = 0; i < count; i++) for (let at = 0; at < width; at++) plain[i * width + at] = bytes[at * count + i];
    return type === "f4" ? new Float32Array(plain.buffer) : new Float64Array(plain.buffer);
  }
  const numbers = new Float64Array(count), last = type === "u1" ? 255 : 65535;
  let code = 0;
  for (let i = 0; i < count; i++) {
    code = (code + bytes[i] + (type === "u1" ? 0 : bytes[count + i] << 8)) & last;
    numbers[i] = code === last ? NaN : start + step * code;
  }
  return numbers;
}

// One plane is drawn by the server at a time.
let line = Promise.resolve();
function inTurn(work) {
  const done = line.then(work);
  line = done.catch(() => {});
  return done;
}

// Returns what is shown of a node: from the server, or the plane of the file that is next to `at`.
async function look(path, parameters) {
  if (!answers) return inTurn(() => ask("plane", { path, ...parameters }));
  const { planes, first } = await ask("plane", { path });
  const base = planes[first];
  if (!parameters.at) return base;
  const wanted = String(parameters.at).split(",").map(Number);
  const distance = plane => plane.at.reduce((sum, at, dim) => sum + Math.abs(at - wanted[dim]), 0);
  const nearest = planes.reduce((best, plane) => distance(plane) < distance(best) ? plane : best);
  return { ...base, ...nearest };
}

// ---- Colours

let colormaps = {}, defaults = {};
function table(name, reverse) {
  const bytes = colormaps[name] ?? colormaps.viridis;
  if (!reverse) return bytes;
  const turned = new Uint8Array(768);
  for (let at = 0; at < 256; at++) turned.set(bytes.subarray(3 * at, 3 * at + 3), 3 * (255 - at));
  return turned;
}
const rgb = hex => [1, 3, 5].map(at => parseInt(hex.slice(at, at + 2), 16));
// Returns a colour for the number of an object, always the same.
function objectColor(label, known) {
  if (known?.has(label)) return known.get(label);
  if (label === 0 || Number.isNaN(label)) return [0, 0, 0, 0];
  const hue = (label * 0.61803398875 % 1) * 6, high = 235, low = 70 + label * 37 % 60;
  const part = hue % 1, up = low + (high - low) * part, down = high - (high - low) * part;
  return [...[[high, up, low], [down, high, low], [low, high, up], [low, down, high], [up, low, high], [high, low, down]][Math.floor(hue)].map(Math.round), 255];
}

// What is chosen of a picture; the rest follows from the plane.
function choices(plane, listed) {
  const [first] = plane.layers;
  const isCentred = plane.style === "numbers" && first.values.min < 0 && first.values.max > 0 && ANOMALY.test(`${listed.path} ${plane.long_name ?? ""}`);
  const colormap = defaults.colormap ?? (plane.style === "image" ? "gray" : isCentred ? "rdbu" : "viridis");
  return { colormap, isCentred, isReversed: isCentred && !defaults.colormap, range: defaults.range ?? null, seen: null, channels: plane.layers.map(({ window, is_active }) => ({ window, is_active })) };
}

function rangeOf(plane, state) {
  if (state.range) return state.range;
  const { min, max } = plane.layers[0].values;
  if (Number.isFinite(min) && Number.isFinite(max)) state.seen = state.seen ? [Math.min(state.seen[0], min), Math.max(state.seen[1], max)] : [min, max];
  const [low, high] = state.seen ?? [0, 1];
  if (state.isCentred) { const most = Math.max(-low, high); return [-most, most]; }
  return low === high ? [low, low + 1] : [low, high];
}

// Returns the pixels of a plane, an element each; missing elements are transparent.
async function pixels(plane, state) {
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

const sideCount = ({ start, end, step }) => Math.ceil((end - start) / step);
const isUp = ({ place, labels }) => ["latitude", "northing"].includes(place) && labels?.length > 1 && labels[0] < labels.at(-1);

function hatch(ink, scale) {
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

// ---- Axes

// Returns round numbers in a range.
function ticks(low, high, most, place) {
  const span = Math.abs(high - low);
  if (!(span > 0) || !Number.isFinite(span)) return [low];
  const power = 10 ** Math.floor(Math.log10(span / most));
  let steps = [1, 2, 2.5, 5, 10].map(step => step * power);
  if (place && span > 20) steps = [5, 10, 15, 30, 45, 60, 90];
  const step = steps.find(step => span / step <= most) ?? steps.at(-1), found = [];
  const from = Math.ceil(Math.min(low, high) / step - 1e-9);
  for (let at = from; at * step <= Math.max(low, high) + 1e-9 * span; at++) found.push(Number((at * step).toPrecision(12)));
  return found;
}

// Returns where ticks are along a side, in elements of the picture, and their texts.
function marks(side, count, most) {
  const { labels, start, step, place } = side;
  const isNumeric = labels?.every(label => typeof label === "number");
  const isRising = isNumeric && labels.length > 1 && labels.every((label, at) => !at || (label - labels[at - 1]) * (labels[1] - labels[0]) > 0);
  if (isRising) {
    const sign = Math.sign(labels[1] - labels[0]), first = labels[0], last = labels.at(-1);
    const found = ticks(first, last, most, place === "latitude" || place === "longitude");
    const gap = found.length > 1 ? Math.abs(found[1] - found[0]) : 0;
    return found.map(value => {
      let low = 0, high = labels.length - 1;
      while (high - low > 1) { const middle = (low + high) >> 1; if ((labels[middle] - value) * sign <= 0) low = middle; else high = middle; }
      const at = low + (value - labels[low]) / (labels[high] - labels[low] || 1);
      return [at + .5, ["latitude", "longitude"].includes(place) ? degrees(value, place) : tickText(value, gap)];
    }).filter(([at]) => at >= -1e-6 && at <= count + 1e-6);
  }
  if (labels) {
    const every = Math.max(1, Math.ceil(count / most)), found = [];
    for (let at = 0; at < count; at += every) found.push([at + .5, textOf(labels[at])]);
    return found;
  }
  return ticks(start, start + (count - 1) * step, most).filter(Number.isInteger).map(value => [(value - start) / step + .5, number(value)]);
}

const textOf = label => typeof label === "number" ? digits(label) : label.length > 16 ? `${label.slice(0, 15)}…` : label;
function labelOf(side, at) {
  const label = side.labels?.[at];
  if (label == null) return `${side.name} ${number(side.start + at * side.step)}`;
  if (typeof label === "number" && ["latitude", "longitude"].includes(side.place)) return `${side.name} ${digits(label)}`;
  return `${side.name} ${typeof label === "number" ? digits(label) : label}${side.units && typeof label === "number" ? ` ${unit(side.units)}` : ""}`;
}

function prepare(canvas, width, height) {
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

// Draws a plane with axes and colour bar. Returns the box of the picture.
function drawPlane(canvas, plane, state, drawn) {
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

// Draws a curve, or a band between the smallest and the largest numbers. Returns where its elements are.
function drawCurve(canvas, curve, height = 260) {
  const available = Math.min(canvas.parentElement.clientWidth, 1060), { lows, highs, labels } = curve;
  let { ink } = prepare(canvas, available, height);
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
  for (const [at, text] of marks(side, count, available < 520 ? 3 : 6)) {
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

// ---- Thumbnails

function lazily(place, work) {
  const seen = new IntersectionObserver(entries => {
    if (entries.some(entry => entry.isIntersecting)) { seen.disconnect(); work(); }
  }, { rootMargin: "200px" });
  seen.observe(place);
}

async function drawThumb(place, listed) {
  try {
    const plane = await look(listed.path, { side: 160 });
    if (plane.kind === "plane") {
      const drawn = await pixels(plane, choices(plane, listed));
      let ratio = drawn.height * plane.cell / drawn.width;
      if (!plane.is_to_scale || ratio > 3 || ratio < 1 / 3) ratio = Math.max(.4, Math.min(1.2, ratio));
      const width = ratio > .55 ? Math.round(240 / ratio * .55) : 240, height = Math.round(width * ratio);
      const canvas = make("canvas", { width, height }), ink = canvas.getContext("2d");
      ink.fillStyle = plane.style === "labels" ? style("--soft") : hatch(ink, 1);
      ink.fillRect(0, 0, width, height);
      ink.imageSmoothingEnabled = drawn.width > width;
      if (isUp(plane.rows)) { ink.translate(0, height); ink.scale(1, -1); }
      ink.drawImage(drawn.canvas, 0, 0, width, height);
      place.replaceChildren(canvas);
    } else if (plane.kind === "curve") {
      const canvas = make("canvas", { width: 240, height: 120 }), ink = canvas.getContext("2d");
      ink.strokeStyle = style("--curve");
      ink.lineWidth = 1.5;
      ink.beginPath();
      plane.lows.forEach((value, at) => { if (typeof value === "number") ink.lineTo(4 + at / Math.max(1, plane.lows.length - 1) * 232, 114 - (value - plane.min) / (plane.max - plane.min || 1) * 108); });
      ink.stroke();
      place.replaceChildren(canvas);
    } else if (plane.kind === "texts") place.textContent = plane.values.slice(0, 6).join(", ") + (plane.values.length > 6 ? ", …" : "");
    else place.textContent = "no picture";
  } catch (reason) {
    place.classList.add("error");
    place.textContent = reason.message;
  }
}

// ---- Pictures

function slider(name, { length, at, label, onInput }) {
  const output = make("output");
  const input = make("input", { type: "range", min: 0, max: Math.max(0, length - 1), step: 1, value: at, "aria-label": name });
  const set = (at, text) => output.replaceChildren(text ?? "", make("small", { textContent: `${text ? "  " : ""}${number(at + 1)} of ${number(length)}` }));
  const move = by => { input.value = Math.max(0, Math.min(length - 1, Number(input.value) + by)); changed(); };
  const changed = () => { set(Number(input.value), label(Number(input.value))); onInput(Number(input.value)); };
  input.addEventListener("input", changed);
  const button = (text, by, what) => { const made = make("button", { type: "button", textContent: text, "aria-label": what }); made.addEventListener("click", () => move(by)); return made; };
  set(at, label(at));
  const place = make("div", { className: "slider" }, make("b", { textContent: name }), button("◀", -1, `${name}: back`), input, button("▶", 1, `${name}: on`), output);
  return { place, set, input };
}

function options(names, chosen) {
  return names.map(([value, text]) => make("option", { value, textContent: text, selected: value === chosen }));
}
const labelText = (label, units) => label == null ? null : typeof label === "number" ? `${digits(label)}${units ? ` ${unit(units)}` : ""}` : label;

// The number of pixels that a server is asked for.
const sideFor = place => Math.max(256, Math.min(1024, Math.ceil(place.clientWidth * (devicePixelRatio || 1))));

async function drawPicture(place, listed, turn) {
  const inside = make("div");
  place.append(inside);
  let plane;
  try { plane = await look(listed.path, answers ? {} : { side: sideFor(inside) }); } catch (reason) { return turn === shown && inside.append(failure(reason)); }
  if (turn !== shown) return;
  if (plane.kind === "none") return inside.append(remark(`No picture: ${plane.reason}.`));
  if (plane.kind === "texts") return drawTexts(inside, plane);
  if (plane.kind === "curve") return drawLine(inside, plane);
  await drawMaps(inside, listed, plane, turn);
}

function drawTexts(place, texts) {
  const { values, taken, labels, lengths } = texts;
  if (!taken.length) return place.append(make("p", { className: "value" }, make("b", { textContent: values[0] ?? "" }), ` ${unit(texts.units)}`));
  const all = lengths.reduce((product, length) => product * length, 1), columns = taken.length > 1 ? taken.at(-1) : 1;
  const rows = [];
  for (let at = 0; at < values.length; at += columns) rows.push(make("tr", {}, make("th", { textContent: labels?.[at] ?? number(at / columns) }), ...values.slice(at, at + columns).map(text => make("td", { textContent: text }))));
  place.append(make("table", { className: "texts" }, ...rows), all > values.length ? remark(`The first ${number(values.length)} of ${plural(all, "element")}.`) : "");
}

function legendOf(categories) {
  return make("ul", { className: "legend" }, ...categories.map(([value, words, at]) => {
    const swatch = make("i");
    swatch.style.background = CATEGORIES[at % CATEGORIES.length];
    return make("li", {}, swatch, words ? `${words} (${value})` : String(value));
  }));
}

function drawLine(place, curve, height) {
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

// Draws now, and again when the width or the colours change.
function redraw(canvas, draw) {
  draw();
  let width = canvas.parentElement.clientWidth;
  new ResizeObserver(() => {
    if (canvas.isConnected && canvas.parentElement.clientWidth !== width) { width = canvas.parentElement.clientWidth; draw(); }
  }).observe(canvas.parentElement);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => canvas.isConnected && draw());
}

async function drawMaps(inside, listed, plane, turn) {
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
    if (turn !== shown) return;
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
    visible = plane;
    complete(listed);
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
        if (turn !== shown) return;
        if (next.kind !== "plane") throw new Error(next.reason ?? "there is no picture");
        const isOther = next.layers.length !== state.channels.length;
        plane = next;
        if (isOther) Object.assign(state, choices(plane, listed));
        problem.replaceChildren();
        figure.hidden = false;
        await draw();
        for (const [dim, one] of moving) one.set(plane.at[dim], labelText(plane.at_labels[dim], plane.at_units[dim]));
      } catch (reason) {
        if (turn !== shown) return;
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
    if (turn === shown) await controls();
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
      if (turn !== shown || !curve) return;
      below.replaceChildren(make("h3", { textContent: `At this point, along ${curve.name}` }));
      if (curve.kind === "curve") drawLine(below, curve, 180); else below.append(remark(`${curve.reason}.`));
    } catch (reason) { if (turn === shown) below.replaceChildren(failure(reason)); }
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
        if (turn === shown) { await controls(); form.querySelectorAll("select.side")[side]?.focus(); }
      });
      return make("label", {}, text, select);
    };
    const parts = [];
    if (!answers && plane.lengths.length > 2 && plane.style !== "channels") parts.push(choose(0, "down"), choose(1, "right"));
    if (["numbers", "image"].includes(plane.style)) {
      const colours = make("select", { className: "colours" }, ...options(Object.keys(colormaps).map(name => [name, name]), state.colormap));
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
  if (turn !== shown) return;
  redraw(canvas, () => { if (drawn) box = drawPlane(canvas, plane, state, drawn); });
  await controls();
}

// ---- Chunk maps

const dimension = (listed, dim) => listed.names?.[dim] ?? `dimension ${dim}`;

async function drawMap(place, listed) {
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

// ---- Start

async function start() {
  try {
    const [tree, palette] = [await ask("tree"), await ask("look")];
    colormaps = Object.fromEntries(Object.entries(palette.colormaps).map(([name, colors]) => [name, Uint8Array.from(atob(colors), letter => letter.charCodeAt(0))]));
    defaults = { colormap: palette.colormap, range: palette.range };
    byId("name").textContent = tree.name;
    nodes = new Map(tree.nodes.map(node => [node.path, node]));
    children = new Map();
    for (const node of nodes.values()) {
      const above = aboveOf(node.path);
      if (!children.has(above)) children.set(above, []);
      children.get(above).push(node);
    }
    for (const list of children.values()) list.sort((one, other) => nameOf(one.path).localeCompare(nameOf(other.path), "en", { numeric: true }));
    const count = kind => tree.nodes.filter(node => node.kind === kind).length;
    const root = nodes.get("/"), more = tree.more_nodes;
    const about = [root?.what, root?.zarr_format && `Zarr ${root.zarr_format}`, root?.kind === "group" ? `${plural(count("array"), "array")}, ${plural(count("group"), "group")}` : null, more ? `${plural(more, "node")} ${more === 1 ? "is" : "are"} not shown` : null];
    byId("summary").textContent = about.filter(Boolean).join(" · ");
    byId("filter").addEventListener("input", drawTree);
    byId("menu").addEventListener("click", () => byId("menu").setAttribute("aria-expanded", String(byId("tree").classList.toggle("open"))));
    addEventListener("hashchange", () => show(true));
    await show(false);
  } catch (reason) {
    byId("summary").replaceChildren(failure(reason));
  }
}
start();
