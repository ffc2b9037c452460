// What is shown of a group.
import { make, remark, facts } from "./dom.js";
import { number, plural, unit, isSince } from "./words.js";
import { children, nameOf, current } from "./nodes.js";
import { card } from "./cards.js";
import { drawPoints } from "./points.js";
import { plateOf, drawPlate } from "./plates.js";

// The largest number of cards.
const CARDS = 60;

export function drawGroup(place, listed, node, turn) {
  if (node.dimensions?.some(({ first }) => first != null)) {
    place.append(facts(node.dimensions.map(({ name, length, first, second, last, units }) => {
      const ends = first == null ? "" : first === last ? first : `${first} … ${last}`;
      const [one, two] = [Number(first), Number(second)];
      const by = first != null && second != null && Number.isFinite(one) && Number.isFinite(two) ? ` by ${Number((two - one).toPrecision(6))}` : "";
      return [name, [`${ends}${by}`, isSince(units) ? "" : units, `(${number(length)})`].filter(Boolean).join(" ")];
    })));
  }
  if (node.image) drawLevels(place, node.image);
  if (listed.what === "anndata") {
    const points = make("div");
    place.append(points);
    drawPoints(points, listed, turn);
  }
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
