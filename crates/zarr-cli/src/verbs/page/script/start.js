// Reads the tree and shows the first node.
import { byId, failure } from "./dom.js";
import { plural } from "./words.js";
import { ask } from "./ask.js";
import { nodes, fill } from "./nodes.js";
import { palette } from "./colours.js";
import { drawTree } from "./tree.js";
import { show } from "./node.js";

async function start() {
  try {
    const [tree, look] = [await ask("tree"), await ask("look")];
    palette.colormaps = Object.fromEntries(Object.entries(look.colormaps).map(([name, colors]) => [name, Uint8Array.from(atob(colors), letter => letter.charCodeAt(0))]));
    palette.defaults = { colormap: look.colormap, range: look.range };
    byId("name").textContent = tree.name;
    fill(tree);
    const count = kind => tree.nodes.filter(node => node.kind === kind).length;
    const root = nodes.get("/"), more = tree.more_nodes;
    const about = [root?.what, root?.zarr_format && `Zarr ${root.zarr_format}`, root?.kind === "group" ? `${plural(count("array"), "array")}, ${plural(count("group"), "group")}` : null, more ? `${plural(more, "node")} ${more === 1 ? "is" : "are"} not shown` : null];
    byId("summary").textContent = about.filter(Boolean).join(" · ");
    byId("filter").addEventListener("input", drawTree);
    byId("menu").addEventListener("click", () => byId("menu").setAttribute("aria-expanded", String(byId("tree").classList.toggle("open"))));
    addEventListener("hashchange", () => show(true));
    await show(false);
  } catch (reason) {
    byId("summary").replaceChildren(failure(reason));
  }
}

start();
