// Measures reads beside zarrita.js, in turns; in Node and in a page. The stores are maps in memory, so that decoding counts
// and not the web server.
const ROUNDS = 7;

/** Returns the fastest milliseconds of each reader for each store, after checking that both read the same bytes. */
export async function measure({ zarr, zarrita, url, stores }) {
  const results = [];
  for (const { name, keys } of stores) {
    const store = new Map();
    for (const key of keys) {
      store.set(key, new Uint8Array(await (await fetch(`${url}/bench/${name}${key}`)).arrayBuffer()));
    }
    const readers = {
      "zarr-rs": async () => (await (await zarr.openArray(store)).read()).data,
      zarrita: async () => (await zarrita.get(await zarrita.open(store, { kind: "array" }))).data,
    };
    const [ours, theirs] = [await readers["zarr-rs"](), await readers.zarrita()];
    const bytes = (data) => new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    if ((await digest(bytes(ours))) !== (await digest(bytes(theirs)))) throw new Error(`${name}: other elements`);
    const best = { "zarr-rs": Infinity, zarrita: Infinity };
    for (let round = 0; round < ROUNDS; round++) {
      for (const [reader, read] of Object.entries(readers)) {
        const begin = performance.now();
        await read();
        best[reader] = Math.min(best[reader], performance.now() - begin);
      }
    }
    results.push({ name, ...best, megabytes: ours.byteLength / 1e6 });
  }
  return results;
}

/** Prints the results as rows of a table. */
export function show(where, results) {
  for (const { name, megabytes, "zarr-rs": ours, zarrita } of results) {
    const rate = (ms) => `${Math.round((megabytes * 1000) / ms)}`;
    console.log(`| ${where} | ${name} | ${rate(ours)} | ${rate(zarrita)} | ${(zarrita / ours).toFixed(1)} |`);
  }
}

async function digest(bytes) {
  return String(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)));
}
