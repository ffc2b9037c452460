// What is chosen of a plane: its sides, colours, channels and level.
import { make, failure, options } from "./dom.js";
import { number } from "./words.js";
import { answers } from "./ask.js";
import { palette } from "./colours.js";

// Returns a choice of the dimensions of both sides. `turn` gets the two in the order of the array.
export function sideChoices(plane, turn) {
  const names = plane.names.map((name, dim) => [String(dim), name]), own = [plane.rows.dimension, plane.columns.dimension];
  return ["down", "right"].map((text, side) => {
    const select = make("select", { className: "side" }, ...options(names, String(own[side])));
    select.addEventListener("change", () => {
      const to = Number(select.value), other = own[1 - side];
      turn([to, to === other ? own[side] : other].sort((one, other) => one - other), side);
    });
    return make("label", {}, text, select);
  });
}

// Returns a choice of the colour map, and one of the range.
export function colourChoices(state, problem, draw) {
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
  return [make("label", {}, "colours", colours), make("label", {}, "range", range)];
}

// Returns a choice for each channel: whether it is shown, and its window.
export function channelChoices(plane, state, draw) {
  return plane.layers.map(({ label, color }, at) => {
    const own = state.channels[at], box = make("input", { type: "checkbox", checked: own.is_active }), dot = make("i");
    dot.style.background = `rgb(${color.join(" ")})`;
    box.addEventListener("change", () => { own.is_active = box.checked; draw(); });
    const window = make("input", { type: "text", value: own.window.map(end => Number(end.toPrecision(5))).join(), size: 9, "aria-label": `${label}: darkest and brightest number` });
    window.addEventListener("change", () => {
      const ends = window.value.split(",").map(Number);
      if (ends.length === 2 && ends.every(Number.isFinite) && ends[0] < ends[1]) { own.window = ends; draw(); }
    });
    return make("label", { className: "channel" }, box, dot, label, window);
  });
}

// Returns a choice of the level of an image, if a server has several.
export function levelChoice(plane, chosen, choose) {
  if (answers || !(plane.levels?.length > 1)) return null;
  const names = plane.levels.map(({ path, shape }) => [path, `${path}: ${shape.map(number).join(" × ")}`]);
  const levels = make("select", { className: "level" }, ...options([["", chosen ? "fitting" : `fitting (${plane.level})`], ...names], chosen ?? ""));
  levels.addEventListener("change", () => choose(levels.value));
  return make("label", {}, "level", levels);
}

// Returns the buttons that zoom.
export function zoomButtons(zoom, reset) {
  const button = (text, what, work, className = "") => {
    const made = make("button", { type: "button", textContent: text, className, title: what, "aria-label": what });
    made.addEventListener("click", work);
    return made;
  };
  const out = button("−", "Zoom out", () => zoom(2)), whole = button("Whole picture", "Whole picture", reset, "whole");
  return { place: make("div", { className: "zoom", role: "group", "aria-label": "Zoom" }, out, button("+", "Zoom in", () => zoom(.5)), whole), set: isZoomed => { for (const one of [out, whole]) one.disabled = !isZoomed; } };
}
