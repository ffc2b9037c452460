// The node that the address names.
import { byId, make, failure } from "./dom.js";
import { number, unit, isSince } from "./words.js";
import { ask } from "./ask.js";
import { nodes, nameOf, current, titleOf, begin, isShown } from "./nodes.js";
import { forget, describe } from "./metadata.js";
import { drawPicture } from "./picture.js";
import { drawGroup } from "./groups.js";
import { drawMap } from "./chunks.js";
import { drawTree } from "./tree.js";

export async function show(focus) {
  const turn = begin();
  forget();
  const path = current(), place = byId("node"), side = byId("facts");
  byId("tree").classList.remove("open");
  byId("menu").setAttribute("aria-expanded", "false");
  drawTree();
  const listed = nodes.get(path);
  document.title = `${path === "/" ? "" : `${nameOf(path)} – `}${byId("name").textContent}`;
  const about = listed?.kind === "array" && [listed.long_name ?? listed.standard_name, isSince(listed.units) ? "" : unit(listed.units)].filter(Boolean).join(", ");
  const title = path === "/" && listed?.kind === "group" ? titleOf(listed) : path;
  place.replaceChildren(make("h2", { title: path }, title, about ? make("small", { textContent: ` ${about}` }) : null));
  side.replaceChildren();
  scrollTo(0, 0);
  if (focus) place.focus({ preventScroll: true });
  if (!listed) return place.append(failure("There is no such node."));
  const asked = ask("node", { path }).catch(reason => ({ reason }));
  let drawn;
  if (listed.unreadable_because) place.append(failure(listed.unreadable_because));
  else if (listed.kind === "array" || listed.what === "image") drawn = drawPicture(place, listed, turn);
  const node = await asked;
  if (!isShown(turn)) return;
  if (node.reason) return listed.unreadable_because ? undefined : place.append(failure(node.reason));
  if (listed.kind === "group" && !listed.unreadable_because) drawGroup(place, listed, node, turn);
  describe(side, listed, node);
  if (path === "/" && listed.kind === "group") summary(listed, node);
  await drawn;
  if (isShown(turn) && listed.kind === "array" && !listed.unreadable_because) await drawMap(side.querySelector(".chunks"), listed);
}

// Says in the head of the page what the store is.
function summary(root, node) {
  const title = node.attributes.find(own => ["title", "name"].includes(own.name))?.value;
  const lengths = node.dimensions?.map(({ name, length }) => `${name} ${number(length)}`).join(", ");
  if (title || lengths) byId("summary").textContent = [title, titleOf(root).toLowerCase(), lengths, `Zarr ${root.zarr_format}`].filter(Boolean).join(" · ");
}
