// Reads what `cargo run -p zarr-array --example combinations -- FOLDER` wrote, with zarrita.js.
//
//   node read.mjs FOLDER          (needs: npm install zarrita @zarrita/storage, in a folder named by ZARRITA_DIR)
//
// Prints a line an array; exit status 1 if any value differs. zarrita.js has no float16 before Node 24, no complex
// numbers, and not all kinds of shards: those are reported as not supported.
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

// The packages lie in another folder than this script, and have no entry point for `require`.
async function load(name, path = ".") {
  const folder = join(resolve(process.env.ZARRITA_DIR ?? "."), "node_modules", name);
  const { exports } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  return import(pathToFileURL(join(folder, exports[path].import ?? exports[path])).href);
}
const zarr = await load("zarrita");
const FileSystemStore = (await load("@zarrita/storage", "./fs")).default;

// The elements in C order, whatever order the library has left them in.
function inOrder({ data, shape, stride }) {
  const length = shape.reduce((a, b) => a * b, 1);
  const out = data.get ? new Array(length) : new data.constructor(length);
  const place = (i) => {
    let at = 0;
    for (let dim = shape.length - 1; dim >= 0; dim--) {
      at += (i % shape[dim]) * stride[dim];
      i = Math.floor(i / shape[dim]);
    }
    return at;
  };
  for (let i = 0; i < out.length; i++) {
    out[i] = data.get ? data.get(place(i)) : data[place(i)];
  }
  return out;
}

const scalar = (dtype, value) => (dtype === "float64" ? Float64Array : Uint8Array).of(value);

const folder = process.argv[2];

// An index at the start, shards in shards, and shards behind a transpose: zarrita.js reads none of them.
function shardsBeyond(name) {
  const codecs = JSON.stringify(JSON.parse(readFileSync(join(folder, name, "zarr.json"), "utf8")).codecs);
  const shards = codecs.split("sharding_indexed").length - 1;
  return shards > 1 || (shards > 0 && /"index_location":"start"|transpose/.test(codecs));
}
let wrong = 0;
for (const file of readdirSync(folder).filter((name) => name.endsWith(".raw")).sort()) {
  const name = file.slice(0, -4);
  let verdict;
  if (/float16|complex/.test(name) || shardsBeyond(name)) {
    verdict = "not supported by zarrita.js";
  } else {
    try {
      const array = await zarr.open.v3(new FileSystemStore(resolve(folder, name)), { kind: "array" });
      let data = array.shape.length === 0 ? scalar(array.dtype, await zarr.get(array)) : inOrder(await zarr.get(array));
      const expected = readFileSync(join(folder, file));
      if (name.endsWith("bool")) data = Uint8Array.from(data, (value) => (value ? 1 : 0));
      const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
      verdict = bytes.equals(expected) ? "equal" : "DIFFERENT";
    } catch (error) {
      verdict = `ERROR ${error.message}`;
    }
    wrong += verdict === "equal" ? 0 : 1;
  }
  console.log(`${name.padEnd(16)} zarrita      ${verdict}`);
}
process.exit(wrong ? 1 : 0);
