// The list of nodes.
import { byId, make } from "./dom.js";
import { number, isSince } from "./words.js";
import { nodes, children, nameOf, aboveOf, depthOf, current } from "./nodes.js";

// The largest number of children that a list shows, and the depth from which groups are folded.
const SIBLINGS = 200;
const FOLDED = 4;
const open = new Set(), folded = new Set();
const TITLES = [["variable", "Variables"], ["coordinate", "Coordinates"], ["other", "Other"], ["group", "Groups"]];

export function drawTree() {
  const words = byId("filter").value.toLowerCase();
  const needed = new Set();
  for (const node of nodes.values()) if (!words || node.path.toLowerCase().includes(words)) {
    for (let path = node.path; path && !needed.has(path); path = aboveOf(path)) needed.add(path);
  }
  const path = current();
  const around = new Set();
  for (let above = path; above; above = aboveOf(above)) around.add(above);
  function item(node) {
    const small = node.kind === "array" ? isSince(node.units) || !node.units ? node.lengths : node.units : node.what ?? (node.kind === "group" ? "" : node.kind);
    const link = make("a", { href: `#${encodeURI(node.path)}`, className: node.kind },
      make("span", { textContent: nameOf(node.path) }), make("small", { textContent: small ?? "" }));
    const own = node.kind === "group" && children.get(node.path);
    if (!own) return make("li", {}, link);
    const isFolded = !words && !around.has(node.path) && !open.has(node.path) && (folded.has(node.path) || depthOf(node.path) >= FOLDED || (node.what && depthOf(node.path) > 0));
    const button = make("button", { type: "button", className: "fold", textContent: isFolded ? "▸" : "▾", "aria-label": `${isFolded ? "Unfold" : "Fold"} ${node.path}` });
    button.addEventListener("click", () => {
      if (isFolded) { open.add(node.path); folded.delete(node.path); } else { folded.add(node.path); open.delete(node.path); }
      drawTree();
    });
    const row = node.path === "/" ? link : make("div", { className: "row" }, button, link);
    return make("li", { className: isFolded ? "folded" : "" }, row, isFolded ? null : list(node.path));
  }
  function list(above) {
    const made = make("ul"), all = (children.get(above) ?? []).filter(node => needed.has(node.path));
    const isDataset = all.some(node => node.role === "coordinate");
    for (const [role, title] of TITLES) {
      const some = all.filter(node => (node.role ?? "group") === role);
      if (!some.length) continue;
      if (isDataset) made.append(make("li", { className: "title", textContent: title }));
      const shown = some.filter((node, at) => at < SIBLINGS || around.has(node.path));
      made.append(...shown.map(item));
      if (shown.length < some.length) made.append(make("li", { className: "more", textContent: `${number(some.length - shown.length)} more: use the filter` }));
    }
    return made;
  }
  byId("nodes").replaceChildren(...[nodes.get("/")].filter(root => root && needed.has("/")).map(item));
  mark();
}

function mark() {
  const path = current();
  for (const link of byId("nodes").querySelectorAll("a")) {
    if (decodeURI(link.hash.slice(1)) === path) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}
