// Runs the tests and reads the corpus; in Node and in a page.
import { casesOf, check, peer, reader } from "./corpus.js";
import { tests } from "./suite.js";

/** Returns what failed, as lines, and how many cases of the corpus each implementation reads right. */
export async function run({ zarr, zarrita, url, otherUrl }) {
  const failures = [];
  for (const [name, test] of Object.entries(tests)) {
    for (const [place, context] of Object.entries({
      here: { zarr, url },
      ...(otherUrl && { "another origin": { zarr, url: otherUrl, isOtherOrigin: true } }),
    })) {
      await test(context).catch((error) => failures.push(`${name} (${place}): ${error.stack ?? error}`));
    }
  }
  const cases = casesOf(await (await fetch(`${url}/files/manifest.json`)).json());
  const right = { "zarr-rs": 0, zarrita: 0 };
  const wrong = [];
  for (const one of cases) {
    const error = await check(reader(zarr), url, one);
    if (error === undefined) right["zarr-rs"]++;
    else wrong.push(`${one.id}: ${error}`);
    if ((await check(peer(zarrita), url, one)) === undefined) right.zarrita++;
  }
  return { failures, tests: Object.keys(tests).length, cases: cases.length, right, wrong };
}

/** Prints the result. Returns whether all is well. */
export function report(where, { failures, tests, cases, right, wrong }, known) {
  const lines = wrong.filter((line) => !known.includes(line.split(": ")[0]));
  const mended = known.filter((id) => !wrong.some((line) => line.startsWith(`${id}: `)));
  console.log(`${where}: ${tests} tests, ${failures.length} failed`);
  console.log(`${where}: of ${cases} arrays, zarr-rs reads ${right["zarr-rs"]} right, zarrita ${right.zarrita}`);
  for (const line of [...failures, ...lines, ...mended.map((id) => `${id}: is read now, remove it`)]) {
    console.log(`  ${line}`);
  }
  return failures.length + lines.length + mended.length === 0;
}
