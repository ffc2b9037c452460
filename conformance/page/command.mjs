// Opens the page of `zarr serve`, and the file that `zarr view` has written, and checks both in a browser:
//     node command.mjs http://127.0.0.1:PORT/ VIEW.html OUT      (`cargo xtask conformance --screenshots`)
// The store has `/t2m` (time, lat, lon; several chunks; packed, with the coordinates `/lat` and `/lon`), `/sharded`, `/names`
// (strings), `/cells` (an image with two channels and two levels), and attributes with markup.
// OUT gets screenshots: wide and narrow, light and dark.

import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

import { browser, check, end } from "./browser.mjs";

const [server, file, out] = process.argv.slice(2);
mkdirSync(out, { recursive: true });

const complaints = [], foreign = [];
async function open(url, { width = 1440, height = 1000, scheme = "light" } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: scheme });
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  page.on("console", message => ["error", "warning"].includes(message.type()) && !message.text().includes("422") && complaints.push(message.text()));
  page.on("pageerror", error => complaints.push(String(error)));
  page.on("dialog", dialog => { complaints.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on("request", request => {
    const asked = request.url();
    if (!asked.startsWith(server) && !asked.startsWith("data:") && !asked.startsWith("file:")) foreign.push(asked);
  });
  await page.goto(url);
  await page.waitForSelector("#nodes a", { state: "attached" });
  return page;
}
const overflow = page => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
const isDrawn = page => page.waitForFunction(() => {
  const canvas = document.querySelector("canvas.plane");
  return canvas?.dataset.at != null && canvas.width > 100 && !document.querySelector(".busy") && !document.querySelector("main .error");
}).then(() => true, () => false);
const picture = page => page.$eval("canvas.plane", canvas => canvas.toDataURL());
const shown = (page, name) => page.$eval("canvas.plane", (canvas, name) => canvas.dataset[name], name);
const changed = (page, before) => page.waitForFunction(before => document.querySelector("canvas.plane")?.toDataURL() !== before, before).then(() => true, () => false);
const holds = (page, text, place = "main") => page.waitForFunction(([text, place]) => document.querySelector(place).textContent.includes(text), [text, place]).then(() => true, () => false);
const opened = (page, path) => page.waitForFunction(path => document.querySelector("main h2").title === path, path).then(() => true, () => false);

for (const [kind, url] of [["serve", `${server}.page/`], ["view", pathToFileURL(resolve(file)).href]]) {
  const page = await open(`${url}#/t2m`);
  check(`${kind}: a picture is drawn`, await isDrawn(page));
  check(`${kind}: the tree has all nodes`, (await page.$$("#nodes a")).length === 9, String((await page.$$("#nodes a")).length));
  check(`${kind}: facts are shown`, await holds(page, "int16", "aside") && await holds(page, "time: 24", "aside"));
  check(`${kind}: the chunks are counted`, await page.waitForFunction(() => /^8 of 8 chunks stored, /.test(document.querySelector("aside .chunks summary")?.textContent)).then(() => true, () => false));
  check(`${kind}: markup in attributes stays text`, /<img src=x onerror=alert\(1\)>/.test(await page.textContent("aside")) && !(await page.$("img[src=x]")));
  check(`${kind}: missing elements are named`, /Hatched: missing/.test(await page.textContent("main")));
  const range = (await shown(page, "range")).split(",").map(Number);
  check(`${kind}: numbers are decoded`, range[0] > 260 && range[1] < 310, range.join());
  await page.screenshot({ path: join(out, `${kind}-wide-light.png`), fullPage: true });

  // The element under the pointer has the labels of its coordinates and its number with the unit.
  const box = await page.$eval("canvas.plane", canvas => { const { left, top, width, height } = canvas.getBoundingClientRect(); return { x: left + width / 2, y: top + height / 3 }; });
  await page.mouse.move(box.x, box.y);
  check(`${kind}: the element under the pointer is told`, /^lat -?[\d.]+, lon [\d.]+: (missing|[\d.]+ K)  element \[\d+, \d+, \d+\]$/.test(await page.textContent("main .value")), await page.textContent("main .value"));
  await page.mouse.click(box.x, box.y);
  check(`${kind}: a click draws the numbers along time`, await page.waitForSelector("canvas.curve").then(() => true, () => false));

  // By keyboard alone.
  let before = await picture(page);
  await page.focus("main .slider input");
  await page.keyboard.press("ArrowRight");
  check(`${kind}: the arrow key moves a slider to another picture`, await changed(page, before));
  await page.focus("canvas.plane");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowRight");
  check(`${kind}: the arrow keys choose an element`, /element \[/.test(await page.textContent("main .value")));
  await page.click("aside .chunks summary");
  await page.focus("canvas.map");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowRight");
  check(`${kind}: the arrow keys name the chunks of a cell`, /^Chunks at .*1 of|^Chunks at .* of \d+ stored/.test(await page.textContent("p[aria-live]")), await page.textContent("p[aria-live]"));
  await page.focus('#nodes a[href="#/sharded"]');
  await page.keyboard.press("Enter");
  await opened(page, "/sharded");
  check(`${kind}: Enter opens a node, and the focus goes to it`, await page.evaluate(() => document.activeElement.id) === "node");
  check(`${kind}: the open node is marked`, await page.$eval("#nodes a[aria-current]", link => link.hash) === "#/sharded");
  check(`${kind}: a sharded array is drawn`, await isDrawn(page));
  await page.goBack();
  check(`${kind}: back returns to the node before`, await opened(page, "/t2m"));
  await page.fill("#filter", "shard");
  check(`${kind}: the filter leaves what matches, and what is above`, (await page.$$eval("#nodes a", links => links.map(link => link.hash))).join() === "#/,#/sharded");
  await page.fill("#filter", "");
  await page.click('#nodes a[href="#/names"]');
  check(`${kind}: strings are listed`, await page.waitForSelector("table.texts").then(() => true, () => false));
  await page.click('#nodes a[href="#/lat"]');
  check(`${kind}: an array of one dimension is a curve`, await page.waitForSelector("canvas.curve").then(() => true, () => false));
  await page.click('#nodes a[href="#/broken"]');
  check(`${kind}: a broken node shows why`, await page.waitForSelector("main .error").then(error => error.textContent()).then(text => text.length > 10));
  await page.click('#nodes a[href="#/"]');
  check(`${kind}: a group has cards with pictures`, await page.waitForFunction(() => document.querySelectorAll(".card canvas").length >= 3).then(() => true, () => false));
  await page.screenshot({ path: join(out, `${kind}-group.png`), fullPage: true });
  await page.click('#nodes a[href="#/cells"]');
  check(`${kind}: an image is drawn with its channels`, await isDrawn(page) && (await page.$$("main label.channel")).length === 2 && await holds(page, "DAPI"));
  before = await picture(page);
  await page.click("main label.channel input[type=checkbox]");
  check(`${kind}: a channel can be left out`, await changed(page, before));
  check(`${kind}: the levels are listed`, await holds(page, "OME-Zarr 0.5"));
  await page.screenshot({ path: join(out, `${kind}-image.png`), fullPage: true });

  // Zoom: about the pointer, by keys and by buttons. Ticks and the number under the pointer follow.
  await page.click('#nodes a[href="#/t2m"]');
  await opened(page, "/t2m");
  await isDrawn(page);
  const place = await page.$eval("canvas.plane", canvas => { const { left, top, width, height } = canvas.getBoundingClientRect(); return { left, top, width, height }; });
  const [far, deep] = [place.left + place.width * .4, place.top + place.height * .4];
  const view = async () => (await shown(page, "view")).split(",").map(Number);
  const becomes = async holds => {
    for (let tries = 0; tries < 100; tries++) {
      if (holds(await view()) && !(await page.$(".busy"))) return true;
      await page.waitForTimeout(50);
    }
    return false;
  };
  const isWhole = ([top, bottom, left, right]) => top === 0 && bottom === 1 && left === 0 && right === 1;
  const isHalf = ([, , left, right]) => Math.abs(right - left - .5) < 1e-5;
  await page.mouse.move(far, deep);
  const value = () => page.textContent("main .value"), told = await value();
  await page.mouse.wheel(0, -600);
  check(`${kind}: the wheel zooms`, await becomes(([top, bottom, left, right]) => bottom - top < .7 && right - left < .7), (await view()).join());
  check(`${kind}: what is under the pointer stays there`, await page.mouse.move(far + 1, deep).then(value) === told, `${told} became ${await value()}`);
  check(`${kind}: the part is named`, await holds(page, "Shown: lat"));
  await page.waitForTimeout(400);
  await page.screenshot({ path: join(out, `${kind}-zoom.png`), fullPage: true });
  const inside = await view();
  await page.mouse.down();
  await page.mouse.move(far - place.width * .2, deep, { steps: 4 });
  await page.mouse.up();
  check(`${kind}: dragging moves the part`, await becomes(([top, , left, right]) => left > inside[2] + .05 && right < 1.000001 && Math.abs(top - inside[0]) < .001), (await view()).join());
  await page.mouse.dblclick(far, deep);
  check(`${kind}: a double click shows the whole`, await becomes(isWhole) && !/Shown:/.test(await page.textContent("main")), (await view()).join());
  await page.focus("canvas.plane");
  await page.keyboard.press("+");
  check(`${kind}: + zooms in`, await becomes(isHalf), (await view()).join());
  const first = await view();
  await page.keyboard.press("Shift+ArrowRight");
  check(`${kind}: Shift and an arrow move the part`, await becomes(([, , left]) => left > first[2]), (await view()).join());
  for (let presses = 0; presses < 3; presses++) await page.keyboard.press("ArrowDown");
  check(`${kind}: arrows choose an element in the part`, /element \[/.test(await value()));
  await page.keyboard.press("-");
  check(`${kind}: - zooms out`, await becomes(isWhole), (await view()).join());
  await page.click("div.zoom button >> nth=1");
  check(`${kind}: a button zooms in`, await becomes(isHalf), (await view()).join());
  await page.focus("canvas.plane");
  await page.keyboard.press("0");
  check(`${kind}: 0 shows the whole`, await becomes(isWhole) && await page.isDisabled("button.whole"), (await view()).join());

  if (kind === "serve") {
    await page.click('#nodes a[href="#/cells"]');
    await opened(page, "/cells");
    await isDrawn(page);
    before = await picture(page);
    await page.selectOption("main select.level", "1");
    check("serve: another level is drawn", await changed(page, before) && await holds(page, "Level 1:"));
    await page.selectOption("main select.level", "");
    await page.click('#nodes a[href="#/t2m"]');
    await opened(page, "/t2m");
    await isDrawn(page);
    await page.waitForSelector("main select.side");
    before = await picture(page);
    await page.selectOption("main select.side >> nth=0", "0");
    check("serve: another dimension goes down", await changed(page, before) && await shown(page, "rows") === "time");
    before = await picture(page);
    await page.selectOption("main select.colours", "magma");
    check("serve: other colours are drawn", await changed(page, before));
    await page.fill("main input.range", "280,290");
    await page.keyboard.press("Enter");
    check("serve: a range is taken over", await page.waitForFunction(() => document.querySelector("canvas.plane").dataset.range === "280,290").then(() => true, () => false));
    await page.fill("main input.range", "nonsense");
    await page.keyboard.press("Enter");
    check("serve: a wrong range is an error", await page.waitForSelector("main .error").then(error => error.textContent()).then(text => /MIN,MAX/.test(text)));
    const listing = await open(`${server}.page/#/missing`);
    check("serve: an address without a node is an error", /no such node/.test(await listing.textContent("main")));
    const root = await open(server);
    check("serve: a browser at the root gets the page", root.url() === `${server}.page/`, root.url());
  }
  for (const [width, size] of [[1440, "wide"], [390, "narrow"]]) for (const scheme of ["light", "dark"]) {
    const other = await open(`${url}#/t2m`, { width, scheme });
    await isDrawn(other);
    check(`${kind}: ${size}, ${scheme}: nothing scrolls sideways`, await overflow(other) <= 0, `${await overflow(other)} px`);
    await other.waitForSelector("details pre", { state: "attached" });
    if (size === "narrow") check(`${kind}: narrow, ${scheme}: the picture comes before the metadata and the tree`, await other.evaluate(() => {
      const top = query => document.querySelector(query).getBoundingClientRect().top;
      return top("canvas.plane") < innerHeight / 2 && top("canvas.plane") < top("aside") && getComputedStyle(document.querySelector("nav")).display === "none";
    }));
    await other.screenshot({ path: join(out, `${kind}-${size}-${scheme}.png`), fullPage: true });
  }
}
check("nothing is asked of another host", !foreign.length, foreign.join(" "));
check("the browser complains of nothing", !complaints.length, complaints.join(" | "));
await end();
