// Prints how many bytes a page loads, and fails if they are too many.
import { readFileSync, readdirSync } from "node:fs";
import { brotliCompressSync, gzipSync } from "node:zlib";

const LIMIT = 600_000;

const files = (folder) => readdirSync(new URL(folder, import.meta.url)).map((name) => new URL(folder + name, import.meta.url));
const loaded = [...files("../lib/"), ...files("../lib/generated/")].filter(
  ({ pathname }) => (pathname.endsWith(".js") && !pathname.endsWith("node.js")) || pathname.endsWith(".wasm"),
);
const sum = (compress) => loaded.reduce((bytes, file) => bytes + compress(readFileSync(file)).length, 0);
const sizes = { brotli: sum(brotliCompressSync), gzip: sum((bytes) => gzipSync(bytes, { level: 9 })), plain: sum((bytes) => bytes) };
console.log(`size: ${Object.entries(sizes).map(([how, bytes]) => `${Math.round(bytes / 1000)} kB ${how}`).join(", ")}`);
if (sizes.brotli > LIMIT) {
  console.log(`size: more than ${LIMIT / 1000} kB brotli`);
  process.exitCode = 1;
}
