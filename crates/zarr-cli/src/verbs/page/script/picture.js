// What is shown of an array or an image: a plane, a curve or texts.
import { make, failure, remark } from "./dom.js";
import { answers, look } from "./ask.js";
import { isShown } from "./nodes.js";
import { drawLine } from "./curve.js";
import { drawTexts } from "./texts.js";
import { sideFor, drawMaps } from "./maps.js";

export async function drawPicture(place, listed, turn) {
  const inside = make("div");
  place.append(inside);
  let plane;
  try { plane = await look(listed.path, answers ? {} : { side: sideFor(inside) }); } catch (reason) { return isShown(turn) && inside.append(failure(reason)); }
  if (!isShown(turn)) return;
  if (plane.kind === "none") return inside.append(remark(`No picture: ${plane.reason}.`));
  if (plane.kind === "texts") return drawTexts(inside, plane);
  if (plane.kind === "curve") return drawLine(inside, plane);
  await drawMaps(inside, listed, plane, turn);
}
