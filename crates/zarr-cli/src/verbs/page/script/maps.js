// The plane of an array or an image: what is asked for, and what is shown of it.
import { make, failure, remark, redraw } from "./dom.js";
import { number, ordinal, plural, labelText } from "./words.js";
import { answers, ask, inTurn, look } from "./ask.js";
import { unpack } from "./values.js";
import { isShown } from "./nodes.js";
import { choices, rangeOf, legendOf } from "./colours.js";
import { pixels } from "./pixels.js";
import { extentOf, covers, moved, zoomed, elementAt, middleOf } from "./view.js";
import { drawPlane } from "./plane.js";
import { drawLine } from "./curve.js";
import { slider } from "./slider.js";
import { sideChoices, colourChoices, channelChoices, levelChoice, zoomButtons } from "./controls.js";
import { positionOf, told } from "./point.js";
import { listen } from "./gestures.js";
import { complete } from "./metadata.js";

// The number of pixels that a server is asked for.
export const sideFor = place => Math.max(256, Math.min(1024, Math.ceil(place.clientWidth * (devicePixelRatio || 1))));

const every = (step, what) => step > 1 ? `Every ${ordinal(step)} ${what}` : `All ${what}s`;

// The smallest number of elements that a part shows in one direction, and the smallest part that a server is asked for.
const FEW = 4;
const SMALLEST = 1e-10;

// The time in milliseconds after a movement in which no other begins.
const REST = 150;

export async function drawMaps(inside, listed, plane, turn) {
  const sliders = make("form", { "aria-label": "Position" }), form = make("form", { "aria-label": "What the picture shows" });
  for (const of of [sliders, form]) of.addEventListener("submit", event => event.preventDefault());
  const canvas = make("canvas", { className: "plane", role: "img", tabIndex: 0 });
  const value = make("p", { className: "value", role: "status" });
  const caption = make("p", { className: "note" });
  const legend = make("div"), below = make("div"), problem = make("div");
  const buttons = zoomButtons(by => zoom(by), () => reset());
  const figure = make("figure", {}, buttons.place, make("div", {}, canvas), value, legend, caption);
  inside.replaceChildren(sliders, form, problem, figure, below);
  const state = choices(plane, listed);
  const asked = { sides: null, at: plane.at.slice(), of: plane.level, level: null };
  const positions = answers ? (await ask("plane", { path: listed.path })).planes.length : 0;
  const longest = () => Math.max(...plane.lengths.filter((_, dim) => isFixed(dim)));
  // The answer for the whole, which is stale if it is one of other positions, and the answer for a part of it. `plane` is the
  // last answer. `view` is the part that is shown.
  let whole = { plane }, part = null, view = extentOf(plane), isZoomed = false;
  let box, chosen = null, isWaiting = false, again = false;

  const isFixed = dim => ![plane.rows.dimension, plane.columns.dimension, plane.channels].includes(dim) && plane.lengths[dim] > 1;
  const shots = () => [whole, part].filter(shot => shot?.drawn);
  const fresh = () => shots().filter(({ isStale }) => !isStale);

  async function draw() {
    for (const shot of [whole, part]) if (shot) shot.drawn = await pixels(shot.plane, state);
    if (!isShown(turn)) return;
    paint();
    const others = plane.at.map((at, dim) => isFixed(dim) ? `${plane.names[dim]} ${labelText(plane.at_labels[dim], plane.at_units[dim]) ?? number(at)}` : null).filter(Boolean);
    canvas.setAttribute("aria-label", `Plane of ${listed.path}${others.length ? ` at ${others.join(", ")}` : ""}; the arrow keys choose an element, + and - zoom, 0 shows the whole`);
    legend.replaceChildren(plane.categories ? legendOf(plane.categories) : "");
    complete(listed, plane);
  }

  // Draws what is known of the part that is shown.
  function paint() {
    box = drawPlane(canvas, shots(), view, state);
    // A finger scrolls the page until the picture is zoomed.
    canvas.classList.toggle("zoomed", isZoomed);
    buttons.set(isZoomed);
    // For tests and for programs that read the page.
    Object.assign(canvas.dataset, { at: plane.at.join(), rows: plane.rows.name, columns: plane.columns.name, range: ["numbers", "image"].includes(plane.style) ? rangeOf(plane, state).join() : "", view: view.map(end => end.toFixed(6)).join(), level: plane.level ?? "" });
    const missing = plane.layers[0].values.missing / Math.max(1, plane.layers[0].values.count);
    const { rows, columns } = plane;
    const shown = (side, from, to) => {
      const length = plane.lengths[side.dimension], [first, last] = [Math.floor(from * length + 1e-6), Math.ceil(to * length - 1e-6) - 1];
      return last - first + 1 < length ? `${side.name} ${number(first)} to ${number(last)} of ${number(length)}` : null;
    };
    const parts = [shown(rows, view[0], view[1]), shown(columns, view[2], view[3])].filter(Boolean);
    caption.textContent = [
      missing ? `Hatched: missing, ${(missing * 100).toPrecision(2)} %.` : "",
      rows.step === columns.step && rows.step > 1 ? `Every ${ordinal(rows.step)} element.` : "",
      rows.step !== columns.step ? `${every(rows.step, "row")}, ${every(columns.step, "column")}.` : "",
      parts.length ? `Shown: ${parts.join(", ")}.` : "",
      box.isToScale ? "" : "Not to scale.",
      positions > 1 && positions < longest() ? `${number(positions)} of ${plural(longest(), "position")} are in this file.` : "",
      plane.level ? `Level ${plane.level}: ${plane.levels.find(level => level.path === plane.level)?.shape.map(number).join(" × ")}.` : "",
    ].filter(Boolean).join(" ");
    if (chosen) tell(chosen);
  }

  // Shows other positions.
  function change() {
    whole.isStale = isZoomed && !answers;
    return update();
  }

  // One request at a time; the last state counts. A file has the whole only, and a server is asked for the part.
  async function update() {
    if (isWaiting) { again = true; return; }
    isWaiting = true;
    figure.classList.add("busy");
    do {
      again = false;
      const isPart = isZoomed && !answers, { level } = plane;
      try {
        const next = await look(listed.path, { sides: asked.sides, at: asked.at.join(), of: asked.of, level: asked.level, zoom: isPart ? view.map(end => end.toFixed(12)).join() : null, side: sideFor(inside) });
        if (!isShown(turn)) return;
        if (next.kind !== "plane") throw new Error(next.reason ?? "there is no picture");
        if (isPart && !isZoomed) continue;
        if (next.layers.length !== state.channels.length) Object.assign(state, choices(next, listed));
        plane = next;
        if (isPart) part = { plane };
        else {
          [whole, part] = [{ plane }, null];
          if (!isZoomed) view = extentOf(plane);
        }
        if (!again) Object.assign(asked, { at: plane.at.slice(), of: plane.level });
        problem.replaceChildren();
        figure.hidden = false;
        await draw();
        if (!isShown(turn)) return;
        if (plane.level !== level) await controls();
        for (const [dim, one] of moving) one.set(plane.at[dim], labelText(plane.at_labels[dim], plane.at_units[dim]));
      } catch (reason) {
        if (!isShown(turn)) return;
        // What is known of a part is still shown.
        figure.hidden = !isPart;
        problem.replaceChildren(failure(reason));
      }
    } while (again);
    isWaiting = false;
    figure.classList.remove("busy");
  }

  // ---- The part that is shown

  let rest = null, isDue = false;
  // Shows another part: at once as far as it is known, and in detail when the movement ends.
  function go(to) {
    isZoomed = to != null;
    view = to ?? extentOf(whole.plane);
    if (!isDue) {
      isDue = true;
      requestAnimationFrame(() => { isDue = false; if (isShown(turn)) paint(); });
    }
    if (answers) return;
    clearTimeout(rest);
    if (isZoomed || whole.isStale) rest = setTimeout(() => isShown(turn) && update(), REST);
    else {
      problem.replaceChildren();
      if (!part) return;
      const isOther = plane.level !== whole.plane.level;
      [plane, part] = [whole.plane, null];
      Object.assign(asked, { at: plane.at.slice(), of: plane.level });
      draw();
      if (isOther) controls();
    }
  }

  // Zooms about a point of the canvas, or about the chosen element, or the middle.
  function zoom(by, x, y) {
    if (!box) return false;
    const middle = { y: (view[0] + view[1]) / 2, x: (view[2] + view[3]) / 2 };
    const point = x == null ? (chosen && covers(view, [chosen.y, chosen.y, chosen.x, chosen.x]) ? chosen : middle) : pointAt(x, y);
    if (!point || by >= 1 && !isZoomed) return false;
    // No smaller than a few elements of the finest level that can be shown.
    const finest = !answers && plane.levels?.[0]?.shape || plane.lengths;
    const least = [plane.rows, plane.columns].map(side => Math.min(1, Math.max(SMALLEST, FEW / finest[side.dimension])));
    go(zoomed(view, by, point, least, extentOf(whole.plane)));
    return true;
  }
  function move(x, y) {
    if (!box || !isZoomed) return;
    go(moved(view, -y / box.height * (view[1] - view[0]) * (box.isUp ? -1 : 1), -x / box.width * (view[3] - view[2])));
  }
  function reset() { if (isZoomed) go(null); }

  // ---- The element under the pointer

  // Returns the point of the whole that is at a place on the canvas, or null outside of the picture.
  function pointAt(x, y) {
    const across = (x - box.left) / box.width, down = (y - box.top) / box.height;
    if (across < 0 || across >= 1 || down < 0 || down >= 1) return null;
    return { y: view[0] + (box.isUp ? 1 - down : down) * (view[1] - view[0]), x: view[2] + across * (view[3] - view[2]) };
  }
  // Returns the answer that has the element at a point, the one with more detail first.
  const shotAt = point => fresh().findLast(({ plane }) => elementAt(plane, point));
  function tell(point) {
    const shot = shotAt(point);
    value.replaceChildren(...shot ? told(shot, elementAt(shot.plane, point)) : []);
  }
  function choose(point) {
    chosen = point;
    tell(point);
    drawAlong(point);
  }
  function step(down, right) {
    const shot = chosen ? shotAt(chosen) : fresh().at(-1);
    if (!shot) return;
    const { plane } = shot, own = chosen ?? { y: (view[0] + view[1]) / 2, x: (view[2] + view[3]) / 2 };
    const at = elementAt(plane, own);
    if (!at) return;
    const clamp = (at, side) => Math.max(0, Math.min(Math.ceil((side.end - side.start) / side.step) - 1, at));
    if (chosen) Object.assign(at, { row: clamp(at.row + (box.isUp ? -down : down), plane.rows), column: clamp(at.column + right, plane.columns) });
    chosen = middleOf(plane, at);
    tell(chosen);
    // The picture follows the element.
    const beyond = (first, last, at) => Math.min(0, at - first) + Math.max(0, at - last);
    const [y, x] = [beyond(view[0], view[1], chosen.y), beyond(view[2], view[3], chosen.x)];
    if (isZoomed && (y || x)) go(moved(view, Math.sign(y) * (view[1] - view[0]) / 4, Math.sign(x) * (view[3] - view[2]) / 4));
  }
  listen(canvas, {
    zoom, move, reset, step,
    point: (x, y) => { const point = box && pointAt(x, y); if (point) tell(point); },
    leave: () => chosen ? tell(chosen) : value.replaceChildren(),
    choose: (x, y) => { const point = box && pointAt(x, y); if (point) choose(point); },
    enter: () => { if (!chosen) step(0, 0); if (chosen) drawAlong(chosen); },
  });

  // Draws the numbers at a point along the dimension of the longest slider.
  async function drawAlong(point) {
    const [dim] = plane.lengths.map((length, dim) => [dim, length]).filter(([dim]) => isFixed(dim)).sort((one, other) => other[1] - one[1])[0] ?? [];
    const shot = shotAt(point);
    if (dim == null || plane.style === "channels" || !shot) return;
    const at = positionOf(shot.plane, elementAt(shot.plane, point));
    try {
      const curve = answers ? await fromPlanes(elementAt(whole.plane, point), dim) : await inTurn(() => ask("plane", { path: listed.path, at: at.join(), along: dim, level: shot.plane.level }));
      if (!isShown(turn) || !curve) return;
      below.replaceChildren(make("h3", { textContent: `At this point, along ${curve.name}` }));
      if (curve.kind === "curve") drawLine(below, curve, 180); else below.append(remark(`${curve.reason}.`));
    } catch (reason) { if (isShown(turn)) below.replaceChildren(failure(reason)); }
  }
  // The curve of a file has the positions of its planes.
  async function fromPlanes({ row, column }, dim) {
    const { planes } = await ask("plane", { path: listed.path });
    if (planes.length < 3) return null;
    const i = row * whole.drawn.width + column;
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
    if (answers) {
      const { planes, first } = await ask("plane", { path: listed.path });
      if (planes.length > 1) {
        const dim = plane.names.findIndex((_, dim) => planes.some(one => one.at[dim] !== planes[0].at[dim]));
        const one = slider(plane.names[dim], { length: planes.length, at: first, label: at => labelText(planes[at].at_labels[dim], planes[at].at_units[dim]) ?? `at ${number(planes[at].at[dim])}`, onInput: at => { asked.at = planes[at].at.slice(); change(); } });
        sliders.append(one.place);
      }
    } else plane.lengths.forEach((length, dim) => {
      if (!isFixed(dim)) return;
      const one = slider(plane.names[dim], { length, at: plane.at[dim], label: at => at === plane.at[dim] ? labelText(plane.at_labels[dim], plane.at_units[dim]) : null, onInput: at => { asked.at[dim] = at; change(); } });
      moving.set(dim, one);
      sliders.append(one.place);
    });
    // A plane that is too large is shown in part: sliders move the part.
    if (!answers && !isZoomed) for (const side of [plane.rows, plane.columns]) {
      if (side.end - side.start >= plane.lengths[side.dimension]) continue;
      const one = slider(`from ${side.name}`, { length: plane.lengths[side.dimension], at: side.start, label: () => null, onInput: at => { asked.at[side.dimension] = at; change(); } });
      sliders.append(one.place);
    }
    const parts = [];
    if (!answers && plane.lengths.length > 2 && plane.style !== "channels") parts.push(...sideChoices(plane, async (sides, side) => {
      asked.sides = sides;
      for (const dim of sides) asked.at[dim] = 0;
      [isZoomed, part, chosen, state.left] = [false, null, null, 0];
      below.replaceChildren();
      await update();
      if (isShown(turn)) { await controls(); form.querySelectorAll("select.side")[side]?.focus(); }
    }));
    if (["numbers", "image"].includes(plane.style)) parts.push(...colourChoices(state, problem, draw));
    if (plane.style === "channels") parts.push(...channelChoices(plane, state, draw));
    const levels = listed.kind === "group" && levelChoice(plane, asked.level, level => { asked.level = level; change(); });
    if (levels) parts.push(levels);
    form.replaceChildren(...parts);
  }

  await draw();
  if (!isShown(turn)) return;
  redraw(canvas, () => { if (whole.drawn) paint(); });
  await controls();
}
