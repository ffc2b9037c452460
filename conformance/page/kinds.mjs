// Makes a store with a node of each kind that the command shows, opens the page of `zarr serve` and the file of `zarr view`, checks
// both in a browser, and takes a picture of each kind, wide and narrow, and those of the README of the command:
//     node kinds.mjs ZARR FOLDER OUT      (`cargo xtask conformance --screenshots`)
// ZARR is the command. FOLDER gets the store and the file, OUT the pictures.

import { execFileSync, spawn } from "node:child_process";
import { cpSync, mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

import { browser, check, end } from "./browser.mjs";

const [zarr, folder, out] = process.argv.slice(2);
rmSync(folder, { recursive: true, force: true });
mkdirSync(out, { recursive: true });

// ---- The store

function document(path, members) {
  const place = join(folder, "kinds.zarr", path);
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, "zarr.json"), JSON.stringify({ zarr_format: 3, ...members }));
}
const group = (path, attributes = {}) => document(path, { node_type: "group", attributes });

// Writes an array of one chunk. `values` is a typed array, or a list of texts.
function array(path, shape, values, names, attributes = {}) {
  const types = { Int8Array: "int8", Uint8Array: "uint8", Int16Array: "int16", Uint16Array: "uint16", Int32Array: "int32", Uint32Array: "uint32", Float32Array: "float32", Float64Array: "float64" };
  const isText = Array.isArray(values), type = isText ? "string" : types[values.constructor.name];
  const codecs = [isText ? { name: "vlen-utf8" } : { name: "bytes", configuration: { endian: "little" } }];
  document(path, {
    node_type: "array", shape, data_type: type, fill_value: isText ? "" : 0, codecs, attributes, ...(names ? { dimension_names: names } : {}),
    chunk_grid: { name: "regular", configuration: { chunk_shape: shape.map(length => Math.max(1, length)) } },
    chunk_key_encoding: { name: "default", configuration: { separator: "/" } },
  });
  const key = join(folder, "kinds.zarr", path, "c", ...shape.map(() => "0"));
  mkdirSync(join(key, ".."), { recursive: true });
  const count = number => { const bytes = Buffer.alloc(4); bytes.writeUInt32LE(number); return bytes; };
  const texts = () => Buffer.concat([count(values.length), ...values.flatMap(text => [count(Buffer.byteLength(text)), Buffer.from(text)])]);
  writeFileSync(key, isText ? texts() : Buffer.from(values.buffer));
}
const fill = (Type, count, of) => Type.from({ length: count }, (_, at) => of(at));
// The same numbers every time, from 0 to 1.
let seed = 1;
const random = () => { seed = seed * 48271 % 2147483647; return seed / 2147483647; };
const normal = () => Math.sqrt(-2 * Math.log(random() + 1e-12)) * Math.cos(2 * Math.PI * random());

group("", { title: "A node of each kind" });

// A dataset: 24 months, 60 latitudes, 120 longitudes.
group("dataset", { title: "Weather", Conventions: "CF-1.10" });
const grid = of => at => of(Math.floor(at / 7200), 88.5 - 3 * (Math.floor(at / 120) % 60), 3 * (at % 120));
const radians = degrees => degrees / 180 * Math.PI;
const kelvin = (time, lat, lon) => 258 + 40 * Math.cos(radians(lat)) + 6 * Math.sin(radians(3 * lon + 30 * time)) * Math.cos(radians(lat)) - 8 * Math.cos(radians(30 * time)) * Math.sin(radians(lat));
array("dataset/t2m", [24, 60, 120], fill(Int16Array, 24 * 7200, grid((time, lat, lon) => lat > 20 && lat < 40 && lon > 250 && lon < 280 ? -32767 : Math.round((kelvin(time, lat, lon) - 273.15) * 100))), ["time", "lat", "lon"], { units: "K", long_name: "2 metre temperature", scale_factor: .01, add_offset: 273.15, _FillValue: -32767 });
array("dataset/anomaly", [24, 60, 120], fill(Float32Array, 24 * 7200, grid((time, lat, lon) => kelvin(time, lat, lon) - kelvin(0, lat, 0))), ["time", "lat", "lon"], { units: "K", long_name: "temperature anomaly" });
array("dataset/lsm", [60, 120], fill(Int8Array, 7200, grid((_, lat, lon) => Math.sin(radians(2 * lon)) + Math.cos(radians(3 * lat)) > .3 ? 1 : lat < -70 ? 2 : 0)), ["lat", "lon"], { long_name: "land mask", flag_values: [0, 1, 2], flag_meanings: "sea land ice" });
array("dataset/mean", [24], fill(Float32Array, 24, time => kelvin(time, 45, 10)), ["time"], { units: "K", long_name: "mean temperature" });
array("dataset/time", [24], fill(Int32Array, 24, month => Math.round(month * 30.4375)), ["time"], { units: "days since 2020-01-01", standard_name: "time" });
array("dataset/lat", [60], fill(Float32Array, 60, at => 88.5 - 3 * at), ["lat"], { units: "degrees_north" });
array("dataset/lon", [120], fill(Float32Array, 120, at => 3 * at), ["lon"], { units: "degrees_east" });
array("dataset/crs", [], new Int32Array(1), [], { grid_mapping_name: "latitude_longitude" });

array("series", [5000], fill(Float64Array, 5000, at => 20 * Math.sin(at / 300) + normal()));
array("names", [6], ["Wien", "Zürich", "Basel", "Bern", "Genève", "Lugano"], ["city"]);
array("plain", [40, 60], fill(Uint16Array, 2400, at => at % 60 * Math.floor(at / 60)));
array("colours", [3, 120, 160], fill(Uint8Array, 3 * 19200, at => { const [band, y, x] = [Math.floor(at / 19200), Math.floor(at / 160) % 120, at % 160]; return [x * 1.5, y * 2, 255 - x][band]; }), ["band", "y", "x"]);
group("empty");
document("broken", { node_type: "array" });

// An image with two channels in three levels, and labels.
const spots = Array.from({ length: 60 }, () => ({ y: random() * 2048, x: random() * 2048, size: 30 + 50 * random(), channel: random() < .5 ? 0 : 1 }));
function picture(side, of) {
  const made = new Uint16Array(2 * side * side), step = 2048 / side;
  for (const { y, x, size, channel } of spots) {
    const [from, to] = [at => Math.max(0, Math.floor((at - 3 * size) / step)), at => Math.min(side, Math.ceil((at + 3 * size) / step))];
    for (let row = from(y); row < to(y); row++) for (let column = from(x); column < to(x); column++) {
      const far = Math.hypot(row * step - y, column * step - x) / size;
      made[(channel * side + row) * side + column] += of(far);
    }
  }
  return made;
}
const space = unit => ["y", "x"].map(name => ({ name, type: "space", ...(unit ? { unit } : {}) }));
const levels = (axes, sides) => sides.map((side, at) => ({ path: String(at), coordinateTransformations: [{ type: "scale", scale: [...Array(axes.length - 2).fill(1), .25 * sides[0] / side, .25 * sides[0] / side] }] }));
const channels = [["DAPI", "0000FF"], ["GFP", "00FF00"]].map(([label, color]) => ({ label, color, active: true, window: { start: 0, end: 1000, min: 0, max: 4000 } }));
function image(path, sides, values, kind, labels) {
  const axes = [...(kind === "labels" ? [] : [{ name: "c", type: "channel" }]), ...space("micrometer")];
  group(path, { ome: { version: "0.5", multiscales: [{ name: kind, axes, datasets: levels(axes, sides) }], ...(kind === "labels" ? { "image-label": {} } : { omero: { channels } }) } });
  if (labels) group(`${path}/labels`, { ome: { version: "0.5", labels } });
  for (const [at, side] of sides.entries()) array(`${path}/${at}`, [...(kind === "labels" ? [] : [2]), side, side], values(side), axes.map(({ name }) => name));
}
image("image", [2048, 1024, 512], side => picture(side, far => Math.round(900 * Math.exp(-far * far))), "cells", ["nuclei"]);
image("image/labels/nuclei", [512, 256], side => {
  const made = new Uint32Array(side * side), step = 2048 / side;
  for (let at = 0; at < side * side; at++) made[at] = 1 + spots.findIndex(({ y, x, size }) => Math.hypot(Math.floor(at / side) * step - y, at % side * step - x) < size);
  return made;
}, "labels");

// An image whose finest level cannot be read.
image("torn", [2048, 512], side => picture(side, far => Math.round(900 * Math.exp(-far * far))), "torn");
writeFileSync(join(folder, "kinds.zarr/torn/0/c/0/0/0"), "torn");

// A plate with two rows and three columns; one well is missing.
const wells = ["A/1", "A/2", "A/3", "B/1", "B/3"];
group("plate", { ome: { version: "0.5", plate: { name: "screen", rows: [{ name: "A" }, { name: "B" }], columns: [{ name: "1" }, { name: "2" }, { name: "3" }], wells: wells.map(path => ({ path, rowIndex: "AB".indexOf(path[0]), columnIndex: Number(path[2]) - 1 })) } } });
for (const row of "AB") group(`plate/${row}`);
for (const [at, well] of wells.entries()) {
  group(`plate/${well}`, { ome: { version: "0.5", well: { images: [{ path: "0" }] } } });
  image(`plate/${well}/0`, [64], side => fill(Uint16Array, 2 * side * side, i => 900 * Math.exp(-((i % side - 32) ** 2 + (Math.floor(i / side) % side - 10 * at - 10) ** 2) / 200)), "field");
}

// AnnData: 30,000 observations of four kinds.
const OBSERVATIONS = 30_000, KINDS = ["B cells", "Monocytes", "NK cells", "T cells"];
const encoded = (type, more = {}) => ({ "encoding-type": type, "encoding-version": "0.1.0", ...more });
const kinds = fill(Int8Array, OBSERVATIONS, () => random() < .01 ? -1 : Math.floor(4 * random()));
const [first, second] = [0, 1].map(side => fill(Float32Array, OBSERVATIONS, at => [[-6, 5, 0, 7], [3, 6, -5, -3]][side][kinds[at] + (kinds[at] < 0)] + 1.3 * normal()));
group("cells", encoded("anndata"));
array("cells/X", [OBSERVATIONS, 2], fill(Float32Array, 2 * OBSERVATIONS, random), undefined, encoded("array"));
group("cells/obs", encoded("dataframe", { _index: "_index", "column-order": ["counts", "kind", "batch", "donor"] }));
array("cells/obs/_index", [OBSERVATIONS], fill(Int32Array, OBSERVATIONS, at => at));
array("cells/obs/counts", [OBSERVATIONS], fill(Float32Array, OBSERVATIONS, at => 500 + 100 * second[at] + 50 * random()), undefined, encoded("array"));
group("cells/obs/kind", encoded("categorical", { ordered: false }));
array("cells/obs/kind/codes", [OBSERVATIONS], kinds);
array("cells/obs/kind/categories", [4], KINDS);
group("cells/obs/batch", encoded("nullable-integer"));
array("cells/obs/batch/values", [OBSERVATIONS], fill(Int32Array, OBSERVATIONS, at => at % 3));
array("cells/obs/batch/mask", [OBSERVATIONS], fill(Uint8Array, OBSERVATIONS, at => at % 7 === 0 ? 1 : 0));
array("cells/obs/donor", [OBSERVATIONS], Array.from({ length: OBSERVATIONS }, (_, at) => `donor ${at % 5}`));
group("cells/obsm", encoded("dict"));
const both = (one, other) => fill(Float32Array, 2 * OBSERVATIONS, at => (at % 2 ? other : one)[Math.floor(at / 2)]);
array("cells/obsm/X_umap", [OBSERVATIONS, 2], both(first, second));
array("cells/obsm/spatial", [OBSERVATIONS, 2], both(fill(Float32Array, OBSERVATIONS, () => 4000 * random()), fill(Float32Array, OBSERVATIONS, () => 3000 * random())));
group("cells/uns", encoded("dict"));
array("cells/uns/kind_colors", [4], ["#1b6ca8", "#c1432e", "#2f7d32", "#8e5aa8"]);

execFileSync(zarr, ["view", "kinds.zarr", "-o", "kinds.html"], { cwd: folder });
const server = spawn(zarr, ["serve", "--listen", "127.0.0.1:0", "kinds.zarr"], { cwd: folder, stdio: ["ignore", "pipe", "ignore"] });
const served = await new Promise(done => createInterface(server.stdout).once("line", done));

// ---- The pages

const complaints = [];
async function open(url, { width = 1400, height = 900, scheme = "light", hasTouch = false } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: scheme, hasTouch });
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  page.on("console", message => ["error", "warning"].includes(message.type()) && !message.text().includes("422") && complaints.push(message.text()));
  page.on("pageerror", error => complaints.push(String(error)));
  await page.goto(url);
  await page.waitForSelector("#nodes a", { state: "attached" });
  return page;
}
const finished = (page, what) => page.waitForFunction(what => !document.querySelector(".busy") && [...document.querySelectorAll(what)].some(shown => shown.tagName !== "CANVAS" || shown.width > 50), what).then(() => true, () => false);
const shown = (page, name, what = "canvas.plane") => page.$eval(what, (canvas, name) => canvas.dataset[name], name);
async function becomes(holds) {
  for (let tries = 0; tries < 100; tries++) {
    if (await holds()) return true;
    await new Promise(done => setTimeout(done, 50));
  }
  return false;
}

// Returns what a person who does not see or does not point would miss: names of pictures and of controls.
const unnamed = page => page.evaluate(() => {
  const named = element => element.getAttribute("aria-label") || element.closest("label")?.textContent.trim() || element.textContent.trim();
  const pictures = [...document.querySelectorAll("canvas")].filter(canvas => canvas.closest("a") ? !canvas.closest("a").textContent.trim() && !canvas.closest("a").title : canvas.getAttribute("role") !== "img" || !canvas.getAttribute("aria-label"));
  const controls = [...document.querySelectorAll("button, input, select, a")].filter(control => !named(control) && !control.title);
  return [...pictures, ...controls].map(element => element.outerHTML.slice(0, 80));
});

// Returns texts whose contrast is below 4.5, by the formula of WCAG 2, and their contrast.
const faint = page => page.evaluate(() => {
  const parse = color => (color.match(/[\d.]+/g) ?? []).map(Number);
  const light = color => {
    const [r, g, b] = color.slice(0, 3).map(value => value / 255).map(c => c <= .04045 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4);
    return .2126 * r + .7152 * g + .0722 * b;
  };
  const behind = element => {
    for (let at = element; at; at = at.parentElement) { const color = parse(getComputedStyle(at).backgroundColor); if (color.length === 3 || color[3] > 0) return color; }
    return [255, 255, 255];
  };
  const found = new Set();
  for (const element of document.querySelectorAll("body *")) {
    if (element.disabled || !element.checkVisibility() || ![...element.childNodes].some(child => child.nodeType === 3 && child.textContent.trim())) continue;
    const [one, other] = [light(parse(getComputedStyle(element).color)), light(behind(element))];
    const ratio = (Math.max(one, other) + .05) / (Math.min(one, other) + .05);
    if (ratio < 4.5) found.add(`${element.tagName} ${element.textContent.trim().slice(0, 20)} ${ratio.toFixed(1)}`);
  }
  return [...found];
});

const PAGES = [
  ["groups", "/", ".cards"], ["dataset", "/dataset", ".card canvas"], ["plane", "/dataset/t2m", "canvas.plane"], ["anomaly", "/dataset/anomaly", "canvas.plane"],
  ["flags", "/dataset/lsm", "canvas.plane"], ["curve", "/dataset/mean", "canvas.curve"], ["long-curve", "/series", "canvas.curve"], ["times", "/dataset/time", "table.texts"], ["scalar", "/dataset/crs", "p.value"],
  ["texts", "/names", "table.texts"], ["plain", "/plain", "canvas.plane"], ["colours", "/colours", "canvas.plane"], ["image", "/image", "canvas.plane"], ["labels", "/image/labels/nuclei", "canvas.plane"],
  ["plate", "/plate", ".plate canvas"], ["anndata", "/cells", "canvas.points"], ["empty", "/empty", "p.note"], ["broken", "/broken", "p.error"],
];

for (const [kind, url] of [["serve", `${served}.page/`], ["view", pathToFileURL(resolve(folder, "kinds.html")).href]]) {
  for (const [width, scheme] of [[1400, "light"], [420, "light"], [1400, "dark"]]) {
    const name = `${kind}-${width}${scheme === "dark" ? "-dark" : ""}`, page = await open(`${url}#/`, { width, scheme });
    const wrong = [];
    for (const [what, path, wanted] of PAGES) {
      await page.evaluate(path => { location.hash = path; }, path);
      if (!(await finished(page, wanted))) wrong.push(`${what} shows no ${wanted}`);
      await page.waitForFunction(() => ![...document.querySelectorAll(".thumb:empty")].some(thumb => thumb.getBoundingClientRect().top < innerHeight)).catch(() => wrong.push(`${what} has empty cards`));
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      if (wide > 0) wrong.push(`${what} is ${wide} px too wide`);
      for (const of of await unnamed(page)) wrong.push(`${what}: no name: ${of}`);
      for (const of of await faint(page)) wrong.push(`${what}: faint: ${of}`);
      await page.screenshot({ path: join(out, `kinds-${name}-${what}.png`) });
    }
    check(`${name}: each kind is shown, fits, and has names and contrast`, !wrong.length, wrong.slice(0, 5).join(" | "));
    await page.context().close();
  }

  const page = await open(`${url}#/cells`);
  await finished(page, "canvas.points");
  const main = () => page.textContent("main");
  check(`${kind}: points are coloured by the first categories`, await becomes(async () => await shown(page, "by", "canvas.points") === "kind") && KINDS.every(await main().then(text => kind => text.includes(kind))), await main());
  check(`${kind}: the colours of the store are used`, await page.$eval(".legend i", swatch => swatch.style.background) === "rgb(27, 108, 168)");
  check(`${kind}: a limit of points is stated`, kind === "serve" ? /30,000 observations\./.test(await main()) : /Every 2nd of 30,000 observations is drawn: 15,000\./.test(await main()), await main());
  check(`${kind}: missing categories are grey`, /Grey: \d+ missing/.test(await main()));
  for (const by of ["counts", "batch", "donor", ""]) {
    const before = await page.$eval("canvas.points", canvas => canvas.toDataURL());
    await page.selectOption("main select.by", by);
    check(`${kind}: points are coloured by ${by || "nothing"}`, await becomes(async () => await shown(page, "by", "canvas.points") === by && await page.$eval("canvas.points", canvas => canvas.toDataURL()) !== before));
    if (by === "counts") await page.screenshot({ path: join(out, `kinds-${kind}-1400-anndata-numbers.png`) });
  }
  await page.selectOption("main select.of", "spatial");
  check(`${kind}: another embedding is drawn`, await becomes(async () => await shown(page, "of", "canvas.points") === "spatial"));
  await page.selectOption("main select.of", "X_umap");
  await becomes(async () => await shown(page, "of", "canvas.points") === "X_umap");
  await page.focus("canvas.points");
  await page.keyboard.press("+");
  check(`${kind}: points are zoomed by a key`, await becomes(async () => (await shown(page, "view", "canvas.points")) === "0.25,0.75,0.25,0.75"), await shown(page, "view", "canvas.points"));
  const box = await page.$eval("canvas.points", canvas => { const { left, top, width, height } = canvas.getBoundingClientRect(); return { x: left + width / 2, y: top + height / 2 }; });
  await page.mouse.move(box.x, box.y);
  await page.mouse.wheel(0, -2000);
  check(`${kind}: the wheel zooms points`, await becomes(async () => { const [, , left, right] = (await shown(page, "view", "canvas.points")).split(",").map(Number); return right - left < .3; }));
  await page.keyboard.press("0");
  check(`${kind}: 0 shows all points`, await becomes(async () => (await shown(page, "view", "canvas.points")) === "0,1,0,1"));

  // An image shows a finer level when it is zoomed.
  await page.evaluate(() => { location.hash = "/image"; });
  await finished(page, "canvas.plane");
  const coarse = await shown(page, "level");
  await page.focus("canvas.plane");
  for (let presses = 0; presses < 3; presses++) await page.keyboard.press("+");
  check(`${kind}: ${kind === "serve" ? "a finer level is loaded" : "the level stays"}`, await becomes(async () => await shown(page, "level") === (kind === "serve" ? "0" : coarse) && !(await page.$(".busy"))) && (kind === "view" || coarse !== "0"), `${coarse}, then ${await shown(page, "level")}`);
  await page.screenshot({ path: join(out, `kinds-${kind}-1400-image-zoomed.png`) });
  await page.keyboard.press("0");
  check(`${kind}: the whole has its level again`, await becomes(async () => await shown(page, "level") === coarse && await shown(page, "view") === [0, 1, 0, 1].map(end => end.toFixed(6)).join()));

  // What has the focus is seen.
  await page.evaluate(() => { location.hash = "/dataset/t2m"; });
  await finished(page, "canvas.plane");
  const hidden = [];
  await page.focus("#filter");
  for (let presses = 0; presses < 40; presses++) {
    await page.keyboard.press("Tab");
    const seen = await page.evaluate(() => { const style = getComputedStyle(document.activeElement); return document.activeElement === document.body || style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0 ? null : document.activeElement.outerHTML.slice(0, 60); });
    if (seen) hidden.push(seen);
  }
  check(`${kind}: the focus is seen`, !hidden.length, hidden.slice(0, 3).join(" | "));
  await page.context().close();

  // Two fingers.
  const phone = await open(`${url}#/dataset/t2m`, { width: 420, hasTouch: true });
  await finished(phone, "canvas.plane");
  await phone.$eval("canvas.plane", canvas => canvas.scrollIntoView({ block: "center" }));
  const place = await phone.$eval("canvas.plane", canvas => { const { left, top, width, height } = canvas.getBoundingClientRect(); return { x: left + width / 2, y: top + height / 2 }; });
  const session = await phone.context().newCDPSession(phone);
  const touch = (type, far) => session.send("Input.dispatchTouchEvent", { type, touchPoints: far == null ? [] : [{ x: place.x - far, y: place.y, id: 0 }, { x: place.x + far, y: place.y, id: 1 }] });
  await touch("touchStart", 20);
  for (const far of [30, 40, 50, 60]) await touch("touchMove", far);
  await touch("touchEnd");
  check(`${kind}: two fingers zoom`, await becomes(async () => { const [, , left, right] = (await shown(phone, "view")).split(",").map(Number); return right - left < .5; }), await shown(phone, "view"));
  await phone.screenshot({ path: join(out, `kinds-${kind}-420-pinched.png`) });

  // A part that cannot be read leaves what is known, and the way back.
  if (kind === "serve") {
    await phone.evaluate(() => { location.hash = "/torn"; });
    await finished(phone, "canvas.plane");
    await phone.focus("canvas.plane");
    for (let presses = 0; presses < 2; presses++) await phone.keyboard.press("+");
    check("serve: a part that cannot be read is an error beside the picture", await phone.waitForSelector("main .error").then(() => phone.isVisible("canvas.plane"), () => false));
    await phone.click("button.whole");
    check("serve: the whole is shown without the error", await becomes(async () => !(await phone.$("main .error")) && await phone.isDisabled("button.whole")));
  }
  await phone.context().close();
}
// The pictures of the README of the command: the page of a map with a curve, and what the command prints.
cpSync(join(folder, "kinds.zarr", "dataset"), join(folder, "weather.zarr"), { recursive: true });
execFileSync(zarr, ["view", "weather.zarr", "-o", "weather.html"], { cwd: folder });
const map = await open(`${pathToFileURL(resolve(folder, "weather.html")).href}#/t2m`, { width: 1000, height: 860 });
await finished(map, "canvas.plane");
await map.locator("canvas.plane").click({ position: { x: 300, y: 150 } });
await finished(map, "canvas.curve");
await map.screenshot({ path: join(out, "readme-view.png") });
const printed = execFileSync(zarr, ["weather.zarr"], { cwd: folder, encoding: "utf8" });
await map.context().close();
const screen = await browser.newPage();
await screen.setContent(`<pre style="font: 14px monospace; margin: 0; padding: 12px; display: inline-block; background: #fff; color: #1a1f29">`);
await screen.$eval("pre", (pre, text) => { pre.textContent = text; }, `$ zarr weather.zarr\n${printed}`);
await screen.locator("pre").screenshot({ path: join(out, "readme-info.png") });
await screen.close();
for (const name of ["view", "info"]) {
  const { size } = statSync(join(out, `readme-${name}.png`));
  check(`readme-${name}.png is small`, size < 100_000, `${size} bytes`);
}
check("the browser complains of nothing", !complaints.length, complaints.join(" | "));
server.kill();
await end();
