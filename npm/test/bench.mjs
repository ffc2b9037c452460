// Measures reads in Node and in Chromium: `node test/bench.mjs`. The arrays have 32 MB in chunks of 1 MB, and 4 MB in
// chunks of 64 kB.
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { Blosc, Zstd } from "numcodecs";
import { chromium } from "playwright-core";
import * as zarrita from "zarrita";
import * as zarr from "zarr-rs";
import { measure, show } from "./bench.js";
import { findChromium } from "./chromium.mjs";
import { serve } from "./server.mjs";

const SIDE = 1024;
const blosc = (cname, clevel) => {
  const configuration = { cname, clevel, shuffle: "shuffle", typesize: 4, blocksize: 0 };
  const codec = Blosc.fromConfig({ cname, clevel, shuffle: 1, blocksize: 0 });
  return { codec: { name: "blosc", configuration }, encode: (bytes) => codec.encode(bytes) };
};
const zstd = Zstd.fromConfig({ level: 3 });
const CODECS = {
  "blosc (lz4)": blosc("lz4", 5),
  "blosc (zstd)": blosc("zstd", 5),
  zstd: { codec: { name: "zstd", configuration: { level: 3, checksum: false } }, encode: (bytes) => zstd.encode(bytes) },
  gzip: { codec: { name: "gzip", configuration: { level: 5 } }, encode: (bytes) => gzipSync(bytes, { level: 5 }) },
  none: { codec: undefined, encode: (bytes) => bytes },
};

const folder = await mkdtemp(join(tmpdir(), "zarr-bench-"));
const server = await serve({ bench: folder, npm: fileURLToPath(new URL("..", import.meta.url)) });
try {
  const stores = [];
  for (const [name, { codec, encode }] of Object.entries(CODECS)) {
    for (const [planes, chunk] of [[8, 512], [1, 128]]) {
      const store = `${name}, ${chunk === 512 ? "1 MB" : "64 kB"}`;
      stores.push({ name: store, keys: await write(join(folder, store), planes, chunk, codec, encode) });
    }
  }
  show("Node", await measure({ zarr, zarrita, url: server.url, stores }));
  const program = findChromium();
  if (program) {
    const browser = await chromium.launch({ executablePath: program, args: ["--no-sandbox"] });
    const page = await browser.newPage();
    await page.goto(`${server.url}/npm/test/page.html`);
    const results = await page.evaluate(
      async ({ url, stores }) => {
        const [zarr, zarrita, { measure }] = await Promise.all(
          ["/npm/lib/index.js", "zarrita", "/npm/test/bench.js"].map((name) => import(name)),
        );
        return measure({ zarr, zarrita, url, stores });
      },
      { url: server.url, stores },
    );
    show("Chromium", results);
    await browser.close();
  }
} finally {
  await server.close();
  await rm(folder, { recursive: true });
}

// Writes planes of a smooth field with some noise. Returns the keys.
async function write(store, planes, chunk, codec, encode) {
  const side = SIDE / chunk;
  const keys = ["/zarr.json"];
  for (let plane = 0; plane < planes; plane++) {
    for (let row = 0; row < side; row++) {
      await mkdir(join(store, "c", String(plane), String(row)), { recursive: true });
      for (let column = 0; column < side; column++) {
        const values = Float32Array.from({ length: chunk * chunk }, (_, i) => {
          const [y, x] = [row * chunk + Math.floor(i / chunk), column * chunk + (i % chunk)];
          const noise = ((i * 2654435761) >>> 0) % 16;
          return Math.round(2000 * Math.sin(y / 90 + plane) * Math.cos(x / 70) + noise) / 64 + 280;
        });
        const bytes = await encode(new Uint8Array(values.buffer));
        keys.push(`/c/${plane}/${row}/${column}`);
        await writeFile(join(store, keys.at(-1)), bytes);
      }
    }
  }
  const document = {
    zarr_format: 3,
    node_type: "array",
    shape: [planes, SIDE, SIDE],
    data_type: "float32",
    fill_value: 0,
    chunk_grid: { name: "regular", configuration: { chunk_shape: [1, chunk, chunk] } },
    chunk_key_encoding: { name: "default", configuration: { separator: "/" } },
    codecs: [{ name: "bytes", configuration: { endian: "little" } }, ...(codec ? [codec] : [])],
  };
  await writeFile(join(store, "zarr.json"), JSON.stringify(document));
  return keys;
}
