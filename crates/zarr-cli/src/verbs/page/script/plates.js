// The wells of a plate.
import { make } from "./dom.js";
import { nodes } from "./nodes.js";
import { card } from "./cards.js";

// Returns what is in the attributes of a plate.
export function plateOf(node) {
  const parse = name => {
    try { return JSON.parse(node.attributes.find(own => own.name === name)?.value ?? "null"); } catch { return null; }
  };
  const plate = parse("ome")?.plate ?? parse("plate");
  return plate && [plate.rows, plate.columns, plate.wells].every(Array.isArray) ? plate : null;
}

export function drawPlate(place, listed, plate) {
  const base = listed.path === "/" ? "" : listed.path;
  const wells = new Map(plate.wells.map(well => [String(well?.path), nodes.get(`${base}/${well?.path}`)]));
  const head = make("tr", {}, make("th"), ...plate.columns.map(column => make("th", { textContent: column?.name ?? "" })));
  const rows = plate.rows.map(row => make("tr", {}, make("th", { textContent: row?.name ?? "" }), ...plate.columns.map(column => {
    const well = wells.get(`${row?.name}/${column?.name}`);
    return make("td", {}, well ? card(well, false) : "–");
  })));
  place.append(make("div", { className: "plate" }, make("table", {}, head, ...rows)));
}
