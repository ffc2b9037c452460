// The column of metadata, and the command that gives what is shown.
import { byId, make, remark, section, facts } from "./dom.js";
import { number, size, fillValue } from "./words.js";

// The plane that is shown.
let visible = null;
export const forget = () => { visible = null; };

// Adds to the metadata what the plane that is shown says.
export function complete(listed, plane = visible) {
  visible = plane;
  const [command, type] = ["pre.command", "dd.type"].map(query => byId("facts").querySelector(query));
  if (command) command.textContent = commandOf(listed, visible);
  if (type && visible?.type && visible.type !== listed.type) type.textContent = `${listed.type} → ${visible.type}`;
}

// Fills the column of metadata.
export function describe(side, listed, node) {
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
  return `zarr cat -f csv ${quoted}${part ? ` -s ${quote(part)}` : ""}`;
}
