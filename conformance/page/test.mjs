// Opens a rendered report in a browser and checks its contents and behaviour:
//     node test.mjs PAGE.html OUT      (`cargo xtask conformance --screenshots`)
// OUT gets screenshots (wide, narrow, details of a cell; light and dark) and the printed page. The expected figures are
// computed here from the page's JSON. It works with any report; checks without data (hostile texts) are skipped.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

import { browser, check, end } from "./browser.mjs";

const [path, out] = process.argv.slice(2);
if (!out) {
  console.error("usage: node test.mjs PAGE.html OUT");
  process.exit(2);
}
mkdirSync(out, { recursive: true });
const url = pathToFileURL(resolve(path)).href;
const source = readFileSync(path, "utf8");
const data = JSON.parse(/<script type="application\/json" id="data">([\s\S]*?)<\/script>/.exec(source)[1]);

// ---- What the page should say

const DIRECTIONS = ["read", "write", "reject"];
function verdictOf(peer, one) {
  const entries = data.results[peer.id]?.[one.id] ?? [];
  if (!entries.length) return undefined;
  const failed = entries.filter(entry => entry.verdict === "failed");
  if (failed.length) return failed.every(entry => entry.known) ? "known" : "failed";
  return entries.some(entry => entry.verdict === "not implemented") ? "missing" : "passed";
}
const address = (...parts) => "#" + parts.map(encodeURIComponent).join("/");
const inSeveralFormats = one => data.cases.some(other => other.category === one.category && other.direction === one.direction && other.format !== one.format);

/// Returns the figures of the matrix by their addresses, over the selected cases and results.
function figures(selects = () => true) {
  const sums = {};
  for (const peer of data.peers) for (const one of data.cases) {
    const verdict = verdictOf(peer, one);
    if (!verdict || !selects(one, verdict)) continue;
    const own = inSeveralFormats(one) ? address(peer.id, one.category, one.direction, one.format) : address(peer.id, one.category, one.direction);
    for (const key of [own, address(peer.id, "*", one.direction), address(peer.id, "*", one.direction, one.format)]) {
      sums[key] ??= [0, 0];
      sums[key][0] += verdict === "passed";
      sums[key][1] += 1;
    }
  }
  return Object.fromEntries(Object.entries(sums).map(([key, [passed, total]]) => [key, `${passed}/${total}`]));
}
const differs = one => new Set(data.peers.map(peer => verdictOf(peer, one)).filter(Boolean).map(v => v === "known" ? "failed" : v)).size > 1;

// ---- Checks

function checkSame(what, got, want) {
  const keys = [...new Set([...Object.keys(got), ...Object.keys(want)])].filter(key => got[key] !== want[key]);
  check(`${what} (${Object.keys(want).length} figures)`, !keys.length, keys.slice(0, 3).map(key => `${key}: ${got[key]}, not ${want[key]}`).join("; "));
}

const complaints = [], requests = [];
async function open({ width = 1440, height = 900, scheme = "light", hash = "", touch = false, scripts = true } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: scheme, deviceScaleFactor: touch ? 2 : 1, hasTouch: touch, isMobile: touch, javaScriptEnabled: scripts });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  page.on("console", message => ["error", "warning"].includes(message.type()) && complaints.push(message.text()));
  page.on("pageerror", error => complaints.push(String(error)));
  page.on("request", request => request.url().split("#")[0] !== url && requests.push(request.url()));
  await page.goto(url + hash);
  return page;
}
const shownFigures = page => page.$$eval("#matrix td a", links => Object.fromEntries(links.map(a => [a.getAttribute("href"), a.querySelector(".figure").textContent])));
const overflow = page => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
const focused = page => page.evaluate(() => document.activeElement.getAttribute("href") ?? document.activeElement.id);
const isOpen = (page, hash) => page.waitForFunction(hash => location.hash === hash && !document.getElementById("detail").hidden && document.getElementById("overview").hidden, hash, { timeout: 20_000 }).then(() => true, () => false);
const isClosed = page => page.waitForFunction(() => document.getElementById("detail").hidden && !document.getElementById("overview").hidden, null, { timeout: 20_000 }).then(() => true, () => false);

// The cell with the most failures, unexpected failures first.
const all = figures();
const badness = {};
for (const peer of data.peers) for (const one of data.cases) {
  const key = inSeveralFormats(one) ? address(peer.id, one.category, one.direction, one.format) : address(peer.id, one.category, one.direction);
  badness[key] = (badness[key] ?? 0) + ({ failed: 100, known: 30, missing: 1, passed: 0.01 }[verdictOf(peer, one)] ?? 0);
}
const cell = Object.entries(badness).filter(([key]) => all[key]).sort((a, b) => b[1] - a[1])[0][0];

const page = await open();
console.log(`drawn ${await page.evaluate(() => Math.round(performance.getEntriesByType("navigation")[0].domContentLoadedEventEnd))} ms after the start of the navigation`);

// The matrix
const columns = await page.$$eval("#matrix thead th[scope=col]", heads => heads.slice(1).map(head => head.textContent));
check("each implementation has a column", JSON.stringify(columns) === JSON.stringify(data.peers.map(peer => peer.name + peer.version)), columns.join(" | "));
check("each implementation has a card", (await page.$$("#cards > li")).length === data.peers.length);
checkSame("figures of the matrix", await shownFigures(page), all);
const cards = await page.$$eval("#cards a.line", links => Object.fromEntries(links.map(a => [a.getAttribute("href"), a.querySelector(".figure").textContent])));
checkSame("figures of the cards", cards, Object.fromEntries(Object.entries(all).filter(([key]) => data.peers.some(peer => DIRECTIONS.some(d => key === address(peer.id, "*", d))))));
check("every figure has its own label in words", await page.$$eval("#matrix a", links => links.every(a => /: \d+ of \d+ passed/.test(a.ariaLabel)) && new Set(links.map(a => a.ariaLabel.split(":")[0] + a.getAttribute("href"))).size === links.length));
check("the table has a caption and heads with scopes", await page.$eval("#matrix", table => Boolean(table.caption) && [...table.querySelectorAll("th")].every(head => head.scope)));
await page.screenshot({ path: join(out, "wide-light.png"), fullPage: true });

// Opening and closing
const select = hash => `#matrix a[href="${hash}"]`;
await page.click(select(cell));
check("a click opens the cases", await isOpen(page, cell));
check("the focus is on the title of the cases", (await focused(page)) === "detail-title");
await page.screenshot({ path: join(out, "detail-light.png"), fullPage: true });
await page.goBack();
check("back returns to the matrix", await isClosed(page));
check("the focus is on the figure again", (await focused(page)) === cell);
await page.keyboard.press("Enter");
check("Enter opens the cases", await isOpen(page, cell));
await page.keyboard.press("Shift+Tab");
await page.keyboard.press("Enter");
check("the link above the cases leads back by keyboard alone", await isClosed(page));
await page.evaluate(hash => { location.hash = hash; }, cell);
check("an address opens the cases", await isOpen(page, cell));
const shownCases = await page.$$eval("#detail .case .id", ids => ids.map(id => id.textContent));
check("an address shows each of its cases", shownCases.length === Number(all[cell].split("/")[1]), String(shownCases.length));
await page.close();

const linked = await open({ hash: cell });
check("a link from outside opens the cases", await isOpen(linked, cell));
await linked.evaluate(() => { location.hash = "#%E0%A4%A/x/y"; });
check("a broken address shows the matrix", await isClosed(linked));
await linked.evaluate(() => { location.hash = "#nobody/nothing/read"; });
check("the page says that an address is unknown", await isOpen(linked, "#nobody/nothing/read") && (await linked.textContent("#detail")).includes("Not in this report"));
await linked.close();

// Keys in the matrix
const keys = await open();
const order = await keys.$$eval("#matrix tbody tr:first-child a", links => links.map(a => a.getAttribute("href")));
await keys.focus(select(order[0]));
if (data.peers.length > 1) {
  await keys.keyboard.press("ArrowRight");
  check("the right arrow goes to the next figure", (await focused(keys)) === order[1]);
  await keys.keyboard.press("ArrowLeft");
}
await keys.keyboard.press("ArrowDown");
check("the down arrow goes to the next row", await keys.evaluate(() => document.activeElement.closest("tr").rowIndex === 2));

// The filter
const word = (data.cases.find(one => one.features?.length)?.features[0] ?? data.cases[0].id).toLowerCase();
const has = one => [one.id, one.rule, one.category, one.title, one.writer, ...(one.features ?? [])].join("\n").toLowerCase().includes(word);
await keys.fill("#text", word.toUpperCase());
checkSame(`filter by text, ${word}`, await shownFigures(keys), figures(has));
await keys.fill("#text", "");
await keys.check("#differences");
checkSame("filter of differences", await shownFigures(keys), figures(differs));
await keys.uncheck("#differences");
for (const [value, wanted] of [["failed", ["failed"]], ["failed known", ["failed", "known"]], ["missing", ["missing"]]]) {
  await keys.selectOption("#verdict", { value });
  checkSame(`filter of the verdict ${value}`, await shownFigures(keys), figures((one, verdict) => wanted.includes(verdict)));
}
await keys.selectOption("#verdict", { value: "failed" });
await keys.screenshot({ path: join(out, "filtered-light.png") });
await keys.selectOption("#verdict", { value: "passed" });
await keys.evaluate(hash => { location.hash = hash; }, cell);
await isOpen(keys, cell);
check("the filter applies to the cases of a cell", (await keys.$$("#detail .case")).length === Number(all[cell].split("/")[0]));
await keys.fill("#text", "no such case anywhere");
check("the cases follow a change of the filter", (await keys.$$("#detail .case")).length === 0);
await keys.goBack();
await isClosed(keys);
check("a filter that selects nothing says so", await keys.isVisible("#nothing"));
await keys.click("#clear");
await keys.waitForFunction(() => document.getElementById("nothing").hidden);
checkSame("clearing shows all again", await shownFigures(keys), all);

// Text with markup is shown as text
const hostile = [];
for (const peer of data.peers) for (const one of data.cases) for (const entry of data.results[peer.id]?.[one.id] ?? [])
  if (/<|&/.test(entry.got ?? "")) hostile.push([address(peer.id, one.category, one.direction), entry.got]);
if (!hostile.length) console.log("skip hostile texts: the report has none");
for (const [hash, text] of hostile.slice(0, 10)) {
  await keys.evaluate(hash => { location.hash = hash; }, hash);
  await isOpen(keys, hash);
  check(`hostile text stays text: ${JSON.stringify(text.slice(0, 40))}`, (await keys.$$eval("#detail pre", all => all.map(pre => pre.textContent))).includes(text));
}
const grown = await keys.evaluate(() => [window.hostile, document.querySelectorAll("img, svg, iframe, object, script").length, document.querySelectorAll('a[href^="javascript:" i]').length]);
check("no text became markup, a script or a link", grown[0] == null && grown[1] === 2 && grown[2] === 0, JSON.stringify(grown));
await keys.close();

// Contrast of every colour of text or bars, by the formula of WCAG 2
for (const scheme of ["light", "dark"]) {
  const coloured = await open({ scheme });
  const ratios = await coloured.evaluate(() => {
    const style = getComputedStyle(document.documentElement);
    const light = name => {
      const [r, g, b] = /#(..)(..)(..)/.exec(style.getPropertyValue(name)).slice(1).map(hex => parseInt(hex, 16) / 255).map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const ratio = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
    const text = ["--ink", "--muted", "--link", "--known", "--failed"].flatMap(c => [[c, ratio(c, "--paper"), 4.5], [`${c} on tint`, ratio(c, "--tint"), 4.5]]);
    return [...text, ...["--passed", "--missing"].map(c => [c, ratio(c, "--paper"), 3])];
  });
  const poor = ratios.filter(([, ratio, least]) => ratio < least);
  check(`contrast, ${scheme} (least ${Math.min(...ratios.map(r => r[1])).toFixed(1)})`, !poor.length, JSON.stringify(poor));
  if (scheme === "dark") {
    await coloured.screenshot({ path: join(out, "wide-dark.png"), fullPage: true });
    await coloured.evaluate(hash => { location.hash = hash; }, cell);
    await isOpen(coloured, cell);
    await coloured.screenshot({ path: join(out, "detail-dark.png"), fullPage: true });
  }
  await coloured.close();
}

// A phone
for (const scheme of ["light", "dark"]) {
  const phone = await open({ width: 390, height: 844, scheme, touch: true });
  check(`390 px, ${scheme}: the page does not scroll sideways`, (await overflow(phone)) <= 0, `${await overflow(phone)} px too wide`);
  await phone.screenshot({ path: join(out, `narrow-${scheme}.png`) });
  await phone.evaluate(() => document.getElementById("filter").scrollIntoView());
  await phone.screenshot({ path: join(out, `narrow-matrix-${scheme}.png`) });
  const side = await phone.$eval("#results", box => { box.scrollLeft = 150; return box.scrollWidth <= box.clientWidth || Math.abs(document.querySelector("#matrix .category th").getBoundingClientRect().left - box.getBoundingClientRect().left) < 2; });
  check(`390 px, ${scheme}: the first column stays`, side);
  await phone.screenshot({ path: join(out, `narrow-scrolled-${scheme}.png`) });
  await phone.evaluate(hash => { location.hash = hash; }, cell);
  await isOpen(phone, cell);
  check(`390 px, ${scheme}: the cases do not scroll sideways`, (await overflow(phone)) <= 0, `${await overflow(phone)} px too wide`);
  await phone.screenshot({ path: join(out, `narrow-detail-${scheme}.png`) });
  for (const peer of data.peers) for (const direction of DIRECTIONS) {
    const hash = address(peer.id, "*", direction);
    if (!all[hash]) continue;
    await phone.evaluate(hash => { location.hash = hash; }, hash);
    await isOpen(phone, hash);
    const over = await overflow(phone);
    if (over > 0) check(`390 px: ${hash}`, false, `${over} px too wide`);
  }
  await phone.close();
}

// Print, from a dark screen that shows filtered cases
const paper = await open({ width: 1045, height: 740, scheme: "dark", hash: cell });
await paper.selectOption("#verdict", { value: "passed" });
const pdf = await paper.pdf({ preferCSSPageSize: true, printBackground: false });
writeFileSync(join(out, "print.pdf"), pdf);
await paper.emulateMedia({ media: "print", colorScheme: "dark" });
await paper.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
checkSame("print has the complete matrix", await paper.$eval("#overview", o => getComputedStyle(o).display !== "none") ? await shownFigures(paper) : {}, all);
const printed = await paper.$$eval("#failures tbody tr", lines => lines.length);
const failed = data.peers.flatMap(peer => Object.values(data.results[peer.id] ?? {}).flat()).filter(entry => entry.verdict === "failed").length;
check(`print has every failure (${failed})`, printed === failed, String(printed));
check("the paper is light", await paper.evaluate(() => getComputedStyle(document.documentElement).colorScheme === "light"));
check("print is dark on light", await paper.evaluate(() => getComputedStyle(document.body).color === "rgb(27, 29, 32)"));
check("print has no controls", !(await paper.isVisible("#filter")) && !(await paper.isVisible("#detail")));
await paper.screenshot({ path: join(out, "print.png"), fullPage: true });
await paper.evaluate(() => window.dispatchEvent(new Event("afterprint")));
await paper.emulateMedia({ media: "screen" });
check("after printing the screen is as before", (await paper.isVisible("#detail")) && (await paper.$$("#failures *")).length === 0);
await paper.close();

// Without JavaScript
const plain = await open({ scripts: false });
check("without JavaScript it points to report.json", await plain.isVisible('noscript a[href="report.json"]') && !(await plain.isVisible("#main")));
await plain.close();

check("the console is quiet", !complaints.length, complaints.slice(0, 3).join(" | "));
check("nothing is loaded beside the page", !requests.length, requests.slice(0, 3).join(" | "));
await end();
