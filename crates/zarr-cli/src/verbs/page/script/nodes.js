// The nodes of the store, and which of them is shown.

export const nodes = new Map();
export const children = new Map();

// Takes the nodes of an answer.
export function fill(tree) {
  for (const node of tree.nodes) {
    nodes.set(node.path, node);
    const above = aboveOf(node.path);
    if (!children.has(above)) children.set(above, []);
    children.get(above).push(node);
  }
  for (const list of children.values()) list.sort((one, other) => nameOf(one.path).localeCompare(nameOf(other.path), "en", { numeric: true }));
}

export const nameOf = path => path === "/" ? "/" : path.slice(path.lastIndexOf("/") + 1);
export const aboveOf = path => path === "/" ? "" : path.slice(0, path.lastIndexOf("/")) || "/";
export const depthOf = path => path === "/" ? 0 : path.split("/").length - 1;

export function current() {
  try { return decodeURI(location.hash.slice(1)) || "/"; } catch { return "/"; }
}

export function titleOf({ path, what }) {
  const own = children.get(path) ?? [];
  return { image: "Image", plate: "Plate", well: "Well", anndata: "AnnData" }[what] ?? (own.some(child => child.role === "coordinate") ? "Dataset" : "Group");
}

// What was asked for a node that is no longer shown is dropped: each node that is shown has a number.
let turn = 0;
export const begin = () => ++turn;
export const isShown = one => one === turn;
