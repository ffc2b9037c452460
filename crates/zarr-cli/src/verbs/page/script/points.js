// The observations of AnnData as points of an embedding, coloured by a column.
import { make, style, failure, options, redraw } from "./dom.js";
import { number, digits, ordinal, plural } from "./words.js";
import { answers, ask, inTurn } from "./ask.js";
import { unpack } from "./values.js";
import { children, nameOf, isShown } from "./nodes.js";
import { CATEGORIES, palette, objectColor, table } from "./colours.js";
import { moved, zoomed } from "./view.js";
import { zoomButtons } from "./controls.js";
import { listen } from "./gestures.js";
import { rangesOf, drawScatter } from "./scatter.js";

const WHOLE = [0, 1, 0, 1];

// The smallest part that is shown, and the distance in pixels at which a point is told.
const SMALLEST = 1e-3;
const NEAR = 12;

// The number of colours of a column of numbers.
const SHADES = 64;

// Returns an embedding, and the names of all and of the columns.
async function embedding(path, of) {
  if (!answers) return inTurn(() => ask("points", { path, of }));
  const { first, held, by } = await ask("points", { path });
  if (!first) return { kind: "none" };
  return { ...first, ...(of === first.of ? {} : held[of]), names: [first.of, ...Object.keys(held)], columns: Object.keys(by), isCut: Object.keys(by).length < first.columns.length };
}

async function columnOf(path, by) {
  if (!answers) return inTurn(() => ask("column", { path, by }));
  return (await ask("points", { path })).by[by];
}

// Returns the colour of each category: that of the store, or one of ours.
function coloursOf({ words, colours }) {
  const own = at => at < CATEGORIES.length ? CATEGORIES[at] : `rgb(${objectColor(at + 1).slice(0, 3).join(" ")})`;
  return words.map((_, at) => /^#[0-9a-f]{6}/i.test(colours?.[at]) ? colours[at].slice(0, 7) : own(at));
}

// Returns lists of points with the colour of each, missing ones first, and the bar of numbers.
function grouped(count, column, values) {
  const all = Array.from({ length: count }, (_, at) => at);
  if (!column) return { groups: [{ colour: style("--curve"), places: all }] };
  const missing = { colour: style("--dim"), places: all.filter(at => Number.isNaN(values[at])) };
  if (column.words) {
    const groups = coloursOf(column).map((colour, at) => ({ colour, words: column.words[at], places: [] }));
    for (const at of all) groups[values[at]]?.places.push(at);
    return { groups: [missing, ...groups], legend: groups };
  }
  let { min: low, max: high } = column.values;
  if (!Number.isFinite(low) || !Number.isFinite(high)) [low, high] = [0, 1];
  if (low === high) high = low + 1;
  const colormap = palette.defaults.colormap ?? "viridis", colors = table(colormap);
  const groups = Array.from({ length: SHADES }, (_, at) => {
    const from = 3 * Math.round(at / (SHADES - 1) * 255);
    return { colour: `rgb(${colors[from]} ${colors[from + 1]} ${colors[from + 2]})`, places: [] };
  });
  for (const at of all) groups[Math.max(0, Math.min(SHADES - 1, Math.floor((values[at] - low) / (high - low) * SHADES)))]?.places.push(at);
  return { groups: [missing, ...groups], bar: { low, high, colormap } };
}

// Draws the observations of a group of AnnData, if it has an embedding.
export async function drawPoints(place, listed, turn) {
  let points;
  try { points = await embedding(listed.path); } catch (reason) { return isShown(turn) && place.append(failure(reason)); }
  if (!isShown(turn) || points.kind !== "points") return;
  const form = make("form", { "aria-label": "What the points show" });
  form.addEventListener("submit", event => event.preventDefault());
  const canvas = make("canvas", { className: "points", role: "img", tabIndex: 0 });
  const value = make("p", { className: "value", role: "status" }), legend = make("div"), caption = make("p", { className: "note" }), problem = make("div");
  const buttons = zoomButtons(by => zoom(by), () => reset());
  const figure = make("figure", {}, buttons.place, make("div", {}, canvas), value, legend, caption);
  place.append(form, problem, figure);
  // Categories say more than numbers.
  const base = `${listed.path === "/" ? "" : listed.path}/obs`;
  const isCategorical = name => (children.get(`${base}/${name}`) ?? []).some(child => nameOf(child.path) === "categories");
  const asked = { of: points.of, by: points.columns.find(isCategorical) ?? points.columns[0] ?? "" };
  let column = null, values = null, ranges, look, box, view = WHOLE, isBusy = false, again = false;

  async function draw() {
    const [x, y] = await Promise.all([points.x, points.y].map(unpack));
    values = column && await unpack(column.values);
    ranges = rangesOf({ x, y, xs: points.x, ys: points.y }, points.of === "spatial");
    look = grouped(x.length, column, values);
    if (!isShown(turn)) return;
    paint();
    const by = column ? `, coloured by ${column.by}` : "";
    canvas.setAttribute("aria-label", `Points of ${points.of}, ${plural(x.length, "observation")}${by}; + and - zoom, 0 shows the whole`);
    Object.assign(canvas.dataset, { of: points.of, by: column?.by ?? "" });
    legend.replaceChildren(look.legend ? make("ul", { className: "legend" }, ...look.legend.filter(({ places }) => places.length).map(({ colour, words, places }) => {
      const swatch = make("i");
      swatch.style.background = colour;
      return make("li", {}, swatch, `${words} `, make("small", { textContent: number(places.length) }));
    })) : "");
    caption.textContent = [
      points.step > 1 ? `Every ${ordinal(points.step)} of ${plural(points.rows, "observation")} is drawn: ${number(x.length)}.` : `${plural(x.length, "observation")}.`,
      column && look.groups[0].places.length ? `Grey: ${number(look.groups[0].places.length)} missing.` : "",
      points.isCut ? "This file has some of the columns." : "",
    ].filter(Boolean).join(" ");
  }
  function paint() {
    box = drawScatter(canvas, ranges, look.groups, view, `${points.of} 1 →   ${points.of} 2 ${points.of === "spatial" ? "↓" : "↑"}`, look.bar);
    canvas.classList.toggle("zoomed", view !== WHOLE);
    buttons.set(view !== WHOLE);
    canvas.dataset.view = view.join();
  }
  async function update() {
    if (isBusy) { again = true; return; }
    isBusy = true;
    figure.classList.add("busy");
    do {
      again = false;
      try {
        const { of, by } = asked;
        if (of !== points.of) { points = await embedding(listed.path, of); view = WHOLE; }
        if (by !== (column?.by ?? "")) column = by ? await columnOf(listed.path, by) : null;
        if (!isShown(turn)) return;
        if (column && column.rows !== points.rows) throw new Error(`the column ${column.by} has ${number(column.rows)} rows, and the embedding ${number(points.rows)}`);
        problem.replaceChildren();
        await draw();
      } catch (reason) {
        if (!isShown(turn)) return;
        column = null;
        problem.replaceChildren(failure(reason));
        await draw();
      }
    } while (again);
    isBusy = false;
    figure.classList.remove("busy");
  }

  // ---- The part that is shown, and the point under the pointer

  function zoom(by, x, y) {
    if (!box || by >= 1 && view === WHOLE) return false;
    const part = (at, start, length, first, last) => first + (at - start) / length * (last - first);
    const point = x == null ? { y: (view[0] + view[1]) / 2, x: (view[2] + view[3]) / 2 } : { y: part(y, box.top, box.height, view[0], view[1]), x: part(x, box.left, box.width, view[2], view[3]) };
    if (point.y < view[0] || point.y > view[1] || point.x < view[2] || point.x > view[3]) return false;
    view = zoomed(view, by, point, [SMALLEST, SMALLEST], WHOLE) ?? WHOLE;
    paint();
    return true;
  }
  function move(x, y) {
    if (!box || view === WHOLE) return;
    view = moved(view, -y / box.height * (view[1] - view[0]), -x / box.width * (view[3] - view[2]));
    paint();
  }
  function reset() { view = WHOLE; paint(); }
  function tell(x, y) {
    if (!box) return;
    let nearest = null, least = NEAR;
    for (let at = 0; at < ranges.x.length; at++) {
      const far = Math.hypot(box.placeX(ranges.x[at]) - x, box.placeY(ranges.y[at]) - y);
      if (far < least) [nearest, least] = [at, far];
    }
    if (nearest == null) return value.replaceChildren();
    const found = column && values[nearest], text = !column ? "" : Number.isNaN(found) ? "missing" : column.words ? column.words[found] ?? "" : digits(found);
    value.replaceChildren(`observation ${number(nearest * points.step)}${column ? `, ${column.by}: ` : ""}`, make("b", { textContent: text }), `  at ${digits(ranges.x[nearest])}, ${digits(ranges.y[nearest])}`);
  }
  listen(canvas, {
    zoom, move, reset,
    point: tell, choose: tell,
    leave: () => value.replaceChildren(),
    step: (down, right) => move(-right * canvas.clientWidth / 8, -down * canvas.clientHeight / 8),
    enter: () => {},
  });

  const select = (text, names, name) => {
    const made = make("select", { className: name }, ...options(names, asked[name]));
    made.addEventListener("change", () => { asked[name] = made.value; update(); });
    return make("label", {}, text, made);
  };
  form.replaceChildren(select("embedding", points.names.map(name => [name, name]), "of"), select("colour", [["", "one colour"], ...points.columns.map(name => [name, name])], "by"));
  await update();
  if (isShown(turn)) redraw(canvas, () => { if (look) paint(); });
}
