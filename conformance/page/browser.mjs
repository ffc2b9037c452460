// What all tests of pages need: a browser, checks that are counted, and an end whose status says whether one failed.
// Needs chromium at /usr/bin/chromium or at the path in CHROMIUM.

import { createRequire } from "node:module";
import { join } from "node:path";

// The package is in NODE_PATH, which ES modules ignore.
const { chromium } = createRequire(join(process.env.NODE_PATH ?? "node_modules", "/"))("playwright-core");

export const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});

let failures = 0;

/// Prints whether a check holds.
export function check(what, ok, detail = "") {
  if (!ok) failures += 1;
  console.log(`${ok ? "ok  " : "FAIL"} ${what}${ok || !detail ? "" : `: ${detail}`}`);
}

/// Closes the browser and ends the process.
export async function end() {
  await browser.close();
  console.log(failures ? `${failures} checks failed` : "all passed");
  process.exit(failures ? 1 : 0);
}
