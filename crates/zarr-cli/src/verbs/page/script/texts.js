// The first elements as texts.
import { make, remark } from "./dom.js";
import { number, plural, unit } from "./words.js";

export function drawTexts(place, texts) {
  const { values, taken, labels, lengths } = texts;
  if (!taken.length) return place.append(make("p", { className: "value" }, make("b", { textContent: values[0] ?? "" }), ` ${unit(texts.units)}`));
  const all = lengths.reduce((product, length) => product * length, 1), columns = taken.length > 1 ? taken.at(-1) : 1;
  const rows = [];
  for (let at = 0; at < values.length; at += columns) rows.push(make("tr", {}, make("th", { textContent: labels?.[at] ?? number(at / columns) }), ...values.slice(at, at + columns).map(text => make("td", { textContent: text }))));
  place.append(make("table", { className: "texts" }, ...rows), all > values.length ? remark(`The first ${number(values.length)} of ${plural(all, "element")}.`) : "");
}
