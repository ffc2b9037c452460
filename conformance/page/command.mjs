// Opens the page of `zarr serve`, and the file that `zarr view` has written, and checks both in a browser:
//     node command.mjs http://127.0.0.1:PORT/ VIEW.html OUT      (`cargo xtask conformance --screenshots`)
// The store has `/t2m` (time, lat, lon; several chunks), `/sharded`, `/names` (strings), and attributes with markup.
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
  await page.waitForSelector("#nodes a");
  return page;
}
const overflow = page => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
const isDrawn = page => page.waitForFunction(() => {
  const image = document.querySelector("img.plane");
  return image?.complete && image.naturalWidth > 0 && !document.querySelector(".busy") && document.querySelector("canvas");
}).then(() => true, () => false);
const picture = page => page.$eval("img.plane", image => image.src);
const title = page => page.$eval("main h2", head => head.textContent);
const changed = (page, before) => page.waitForFunction(before => document.querySelector("img.plane").src !== before, before).then(() => true, () => false);

for (const [kind, url] of [["serve", `${server}.page/`], ["view", pathToFileURL(resolve(file)).href]]) {
  const page = await open(`${url}#/t2m`);
  check(`${kind}: a picture and a chunk map are drawn`, await isDrawn(page));
  check(`${kind}: the tree has all nodes`, (await page.$$("#nodes a")).length === 6, String((await page.$$("#nodes a")).length));
  check(`${kind}: facts are shown`, /float32/.test(await page.textContent("main dl")) && /time: 24/.test(await page.textContent("main dl")));
  check(`${kind}: the chunks are counted`, /^8 of 8 chunks stored, /.test(await page.textContent("main section:nth-of-type(2) p.note")), await page.textContent("main section:nth-of-type(2) p.note"));
  await page.waitForSelector("details pre", { state: "attached" });
  check(`${kind}: markup in attributes stays text`, /<img src=x onerror=alert\(1\)>/.test(await page.textContent("main")) && !(await page.$("main img[src=x]")));
  await page.screenshot({ path: join(out, `${kind}-wide-light.png`), fullPage: true });

  // By keyboard alone.
  let before = await picture(page);
  await page.focus("main form label.slider input");
  await page.keyboard.press("ArrowRight");
  check(`${kind}: the arrow key moves a slider to another picture`, await changed(page, before));
  await page.focus("canvas");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowRight");
  check(`${kind}: the arrow keys name the chunks of a cell`, /^Chunks at .*1 of|^Chunks at .* of \d+ stored/.test(await page.textContent("p[aria-live]")), await page.textContent("p[aria-live]"));
  await page.focus('#nodes a[href="#/sharded"]');
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.querySelector("main h2").textContent === "/sharded");
  check(`${kind}: Enter opens a node, and the focus goes to it`, await page.evaluate(() => document.activeElement.id) === "node");
  check(`${kind}: the open node is marked`, await page.$eval("#nodes a[aria-current]", link => link.hash) === "#/sharded");
  check(`${kind}: a sharded array is drawn`, await isDrawn(page));
  await page.goBack();
  check(`${kind}: back returns to the node before`, await page.waitForFunction(() => document.querySelector("main h2").textContent === "/t2m").then(() => true, () => false));
  await page.fill("#filter", "shard");
  check(`${kind}: the filter leaves what matches, and what is above`, (await page.$$eval("#nodes a", links => links.map(link => link.hash))).join() === "#/,#/sharded");
  await page.fill("#filter", "");
  await page.click('#nodes a[href="#/names"]');
  await page.waitForSelector("main .error, main p.note");
  check(`${kind}: strings have no picture, and the reason is given`, await page.waitForFunction(() => /no colour|two or more dimensions/.test(document.querySelector("main").textContent)).then(() => true, () => false), await page.textContent("main"));
  await page.click('#nodes a[href="#/broken"]');
  check(`${kind}: a broken node shows why`, await page.waitForSelector("main .error").then(error => error.textContent()).then(text => text.length > 10));

  if (kind === "serve") {
    await page.click('#nodes a[href="#/t2m"]');
    await isDrawn(page);
    before = await picture(page);
    await page.selectOption("main form select >> nth=0", "0");
    check("serve: another dimension goes down", await changed(page, before) && /Down: time/.test(await page.textContent("figcaption")));
    before = await picture(page);
    await page.selectOption("main form select >> nth=2", "magma");
    check("serve: other colours are drawn", await changed(page, before));
    await page.fill("main form input[type=text]", "280,290");
    await page.keyboard.press("Enter");
    check("serve: a range is taken over", await page.waitForFunction(() => document.querySelector(".legend span").textContent === "280").then(() => true, () => false));
    await page.fill("main form input[type=text]", "nonsense");
    await page.keyboard.press("Enter");
    check("serve: a wrong range is an error", await page.waitForSelector("main .error").then(error => error.textContent()).then(text => /MIN,MAX/.test(text)));
    const listing = await open(`${server}.page/#/missing`);
    check("serve: an address without a node is an error", /no such node/.test(await listing.textContent("main")));
  }
  for (const [width, size] of [[1440, "wide"], [390, "narrow"]]) for (const scheme of ["light", "dark"]) {
    const other = await open(`${url}#/t2m`, { width, scheme });
    await isDrawn(other);
    check(`${kind}: ${size}, ${scheme}: nothing scrolls sideways`, await overflow(other) <= 0, `${await overflow(other)} px`);
    await other.waitForSelector("details pre", { state: "attached" });
    await other.screenshot({ path: join(out, `${kind}-${size}-${scheme}.png`), fullPage: true });
  }
}
check("nothing is asked of another host", !foreign.length, foreign.join(" "));
// The wrong range is answered with status 400, which a browser reports.
const others = complaints.filter(text => !text.includes("400"));
check("the browser complains of nothing", !others.length, others.join(" | "));
await end();
