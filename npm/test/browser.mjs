// Runs the tests in a headless Chromium, or says that there is none.
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { findChromium } from "./chromium.mjs";
import { known } from "./known.js";
import { report } from "./run.js";
import { serve } from "./server.mjs";

const program = findChromium();
if (program === undefined) {
  console.log("browser: skipped, there is no Chromium; the variable CHROMIUM names one");
  process.exit(0);
}

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const folders = { files: at("../../conformance"), npm: at("..") };
const [server, other] = [await serve(folders), await serve(folders)];
const browser = await chromium.launch({ executablePath: program, args: ["--no-sandbox"] });
try {
  const page = await browser.newPage();
  page.on("pageerror", (error) => console.log(`browser: ${error}`));
  await page.goto(`${server.url}/npm/test/page.html`);
  const result = await page.evaluate(
    async ({ url, otherUrl }) => {
      const [zarr, zarrita, { run }] = await Promise.all(
        ["/npm/lib/index.js", "zarrita", "/npm/test/run.js"].map((name) => import(name)),
      );
      return run({ zarr, zarrita, url, otherUrl });
    },
    { url: server.url, otherUrl: other.url },
  );
  const isGood = report(`Chromium ${browser.version()}`, result, known);
  const inWorker = await page.evaluate(() => {
    const worker = new Worker("/npm/test/worker.js", { type: "module" });
    return new Promise((resolve) => (worker.onmessage = ({ data }) => resolve(data)));
  });
  console.log(`Chromium: a worker ${inWorker === "right" ? "reads an array at a relative URL" : `fails: ${inWorker}`}`);
  process.exitCode = isGood && inWorker === "right" ? 0 : 1;
} finally {
  await browser.close();
  await server.close();
  await other.close();
}
