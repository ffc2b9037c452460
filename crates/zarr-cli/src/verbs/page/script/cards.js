// Cards with small pictures.
import { make, style, lazily } from "./dom.js";
import { plural, unit } from "./words.js";
import { look } from "./ask.js";
import { children, nameOf } from "./nodes.js";
import { choices } from "./colours.js";
import { isUp } from "./axes.js";
import { hatch } from "./ink.js";
import { pixels } from "./pixels.js";

export function card(listed, caption = true) {
  const thumb = make("div", { className: "thumb" });
  const link = make("a", { className: "card", href: `#${encodeURI(listed.path)}`, title: listed.path }, thumb);
  if (caption) {
    const size = listed.kind === "array" ? [listed.names?.join(", ") || listed.lengths || "scalar", listed.names ? listed.lengths : null, listed.type].filter(Boolean).join(" · ")
      : [listed.what || (listed.kind === "group" ? "group" : listed.kind), plural((children.get(listed.path) ?? []).length, "node")].join(" · ");
    link.append(make("p", {}, make("b", { textContent: nameOf(listed.path) }), listed.units ? ` ${unit(listed.units)}` : ""),
      listed.long_name ? make("p", { textContent: listed.long_name }) : "", make("p", {}, make("small", { textContent: size })));
  }
  const first = pictured(listed);
  if (first) lazily(thumb, () => drawThumb(thumb, first));
  else thumb.textContent = listed.unreadable_because ? "unreadable" : namesIn(listed) || "empty";
  return link;
}

// Returns the names of the first nodes in a group.
function namesIn(listed) {
  const names = (children.get(listed.path) ?? []).map(child => nameOf(child.path));
  return names.slice(0, 8).join(", ") + (names.length > 8 ? ", …" : "");
}

// Returns the node whose picture stands for a node: itself, the first image of a well, or that of the first well of a plate.
function pictured(listed) {
  if (listed.unreadable_because) return null;
  if (listed.kind === "array" || listed.what === "image") return listed;
  const own = children.get(listed.path) ?? [];
  if (listed.what === "well") return own.find(child => child.what === "image");
  if (listed.what === "plate") {
    const well = own.flatMap(row => children.get(row.path) ?? []).find(child => child.what === "well");
    return well && pictured(well);
  }
  return null;
}

async function drawThumb(place, listed) {
  try {
    const plane = await look(listed.path, { side: 160 });
    if (plane.kind === "plane") {
      const drawn = await pixels(plane, choices(plane, listed));
      let ratio = drawn.height * plane.cell / drawn.width;
      if (!plane.is_to_scale || ratio > 3 || ratio < 1 / 3) ratio = Math.max(.4, Math.min(1.2, ratio));
      const width = ratio > .55 ? Math.round(240 / ratio * .55) : 240, height = Math.round(width * ratio);
      const canvas = make("canvas", { width, height }), ink = canvas.getContext("2d");
      ink.fillStyle = plane.style === "labels" ? style("--soft") : hatch(ink, 1);
      ink.fillRect(0, 0, width, height);
      ink.imageSmoothingEnabled = drawn.width > width;
      if (isUp(plane.rows)) { ink.translate(0, height); ink.scale(1, -1); }
      ink.drawImage(drawn.canvas, 0, 0, width, height);
      place.replaceChildren(canvas);
    } else if (plane.kind === "curve") {
      const canvas = make("canvas", { width: 240, height: 120 }), ink = canvas.getContext("2d");
      ink.strokeStyle = style("--curve");
      ink.lineWidth = 1.5;
      ink.beginPath();
      plane.lows.forEach((value, at) => { if (typeof value === "number") ink.lineTo(4 + at / Math.max(1, plane.lows.length - 1) * 232, 114 - (value - plane.min) / (plane.max - plane.min || 1) * 108); });
      ink.stroke();
      place.replaceChildren(canvas);
    } else if (plane.kind === "texts") place.textContent = plane.values.slice(0, 6).join(", ") + (plane.values.length > 6 ? ", …" : "");
    else place.textContent = "no picture";
  } catch (reason) {
    place.classList.add("error");
    place.textContent = reason.message;
  }
}
