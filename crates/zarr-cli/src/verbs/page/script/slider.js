// A slider with a button at each end and the label of its position.
import { make } from "./dom.js";
import { number } from "./words.js";

export function slider(name, { length, at, label, onInput }) {
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
