// Where ticks are along a side, and their texts.
import { number, tickText, degrees, textOf } from "./words.js";

export const sideCount = ({ start, end, step }) => Math.ceil((end - start) / step);
export const isUp = ({ place, labels }) => ["latitude", "northing"].includes(place) && labels?.length > 1 && labels[0] < labels.at(-1);

// Returns round numbers in a range.
export function ticks(low, high, most, place) {
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

// Returns where ticks are along a side between two places, in its elements, and their texts.
export function marks(side, from, to, most) {
  const { labels, start, step, place } = side;
  const isNumeric = labels?.every(label => typeof label === "number");
  const isRising = isNumeric && labels.length > 1 && labels.every((label, at) => !at || (label - labels[at - 1]) * (labels[1] - labels[0]) > 0);
  const isShown = ([at]) => at >= from - 1e-6 && at <= to + 1e-6;
  if (isRising) {
    const sign = Math.sign(labels[1] - labels[0]);
    // Labels are those of the middles of elements.
    const labelAt = at => {
      const near = Math.max(0, Math.min(labels.length - 1, at - .5)), low = Math.min(labels.length - 2, Math.floor(near));
      return labels[low] + (labels[low + 1] - labels[low]) * (near - low);
    };
    const found = ticks(labelAt(from), labelAt(to), most, place === "latitude" || place === "longitude");
    const gap = found.length > 1 ? Math.abs(found[1] - found[0]) : 0;
    return found.map(value => {
      let low = 0, high = labels.length - 1;
      while (high - low > 1) { const middle = (low + high) >> 1; if ((labels[middle] - value) * sign <= 0) low = middle; else high = middle; }
      const at = low + (value - labels[low]) / (labels[high] - labels[low] || 1);
      return [at + .5, ["latitude", "longitude"].includes(place) ? degrees(value, place) : tickText(value, gap)];
    }).filter(isShown);
  }
  if (labels) {
    const every = Math.max(1, Math.ceil((to - from) / most)), found = [];
    for (let at = Math.max(0, Math.ceil((from - .5) / every) * every); at < labels.length; at += every) found.push([at + .5, textOf(labels[at])]);
    return found.filter(isShown);
  }
  return ticks(start + from * step, start + (to - 1) * step, most).filter(Number.isInteger).map(value => [(value - start) / step + .5, number(value)]).filter(isShown);
}
