// Opens a page of `cargo xtask bench --page` in a browser and checks it:
//     node bench.mjs PAGE.html OUT      (`cargo xtask conformance --screenshots`)
// The page has two charts, and more cells than kinds of work. OUT gets screenshots: wide and narrow, light and dark.

import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

import { browser, check, end } from "./browser.mjs";

const [file, out] = process.argv.slice(2);
mkdirSync(out, { recursive: true });
const url = pathToFileURL(resolve(file)).href;

const complaints = [], requests = [];
for (const [width, scheme] of [[1440, "light"], [1440, "dark"], [390, "light"]]) {
  const context = await browser.newContext({ viewport: { width, height: 1000 }, colorScheme: scheme });
  const page = await context.newPage();
  page.on("console", message => complaints.push(message.text()));
  page.on("request", request => request.url() !== url && requests.push(request.url()));
  await page.goto(url);
  const kind = `${width}-${scheme}`;
  check(`${kind}: the page is as wide as the window`, await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  // The labels of an axis that lie on each other cannot be read.
  const overlaps = await page.$$eval("figure > svg", charts => charts.flatMap(chart => {
    const labels = [...chart.querySelectorAll("text")].map(text => [text.textContent, text.getBoundingClientRect()]);
    return labels.flatMap(([a, one], n) => labels.slice(n + 1)
      .filter(([, other]) => one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom)
      .map(([b]) => `${a} / ${b}`));
  }));
  check(`${kind}: no labels overlap`, !overlaps.length, overlaps.join(", "));
  const outside = await page.$$eval("figure > svg circle", points => points.filter(point => {
    const [box, chart] = [point.getBoundingClientRect(), point.closest("svg").getBoundingClientRect()];
    return box.left < chart.left || box.right > chart.right || box.top < chart.top || box.bottom > chart.bottom;
  }).length);
  check(`${kind}: all points are inside of their charts`, !outside, String(outside));
  const lines = await page.$$eval("figure > svg path.line", paths => paths.map(path => getComputedStyle(path)).map(({ stroke, strokeDasharray }) => stroke + strokeDasharray));
  check(`${kind}: the lines of a chart differ`, new Set(lines).size === 4 && lines.length === 6, lines.join(" "));
  const bars = await page.$$eval("td.bar div", bars => bars.map(bar => bar.getBoundingClientRect().width));
  check(`${kind}: each ratio has a bar`, bars.length > 5 && bars.every(width => width > 0), bars.join(" "));
  await page.screenshot({ path: join(out, `bench-${kind}.png`), fullPage: true });
  await context.close();
}
check("nothing was loaded but the page", !requests.length, requests.join(" "));
check("the console has no messages", !complaints.length, complaints.join(" | "));
await end();
