// The adapter for zarrita.js.
import { readFileSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const REFUSED = 1;
const NOT_IMPLEMENTED = 89;

// The packages are in another folder than this script, and have no entry point for `require`.
async function load(name, path = ".") {
  const folder = join(process.env.NODE_PATH, name);
  const { exports } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  return import(pathToFileURL(join(folder, exports[path].import)).href);
}
const zarr = await load("zarrita");
const FileSystemStore = (await load("@zarrita/storage", "./fs")).default;

// Only these names may be reported as not implemented. Any other name is an error.
const registry = JSON.parse(readFileSync(new URL("../registered.json", import.meta.url), "utf8"));
registry.codecs.push(...registry.numcodecs.map((name) => `numcodecs.${name}`));
const registered = new Set(Object.values(registry).flat());
const isRegistered = (name) => registered.has(name) || (/^r[1-9]\d*$/.test(name) && Number(name.slice(1)) % 8 === 0);

class NotImplementedHere extends Error {}

// Messages about missing features. A name in them must be a registered name.
const LACKS = [
  /^Unknown codec: (.*)$/,
  /^Unknown or unsupported dataType: (.*)$/,
  /^Unsupported or unknown dtype: [<>|](?:c8|c16|V\d+|[mM]8\[\w+\])$/,
  /^Unsupported: /,
];

// Returns the error, or a cause of it, with such a message.
function lacking(error) {
  const names = LACKS.map((message) => message.exec(error.message)).find((match) => match);
  if (names) return names.slice(1).every(isRegistered) ? error : undefined;
  return error.cause instanceof Error ? lacking(error.cause) : undefined;
}

async function attempt(work) {
  try {
    return await work();
  } catch (error) {
    const said = lacking(error);
    throw said ? new NotImplementedHere(said.message) : error;
  }
}

// The library does not handle some rejected promises, whose error it also reports through others.
process.on("unhandledRejection", (error) => console.error(error));

const exists = (node, name) => existsSync(join(node, name));
const parse = (file) => JSON.parse(readFileSync(file, "utf8"));

function find(node) {
  if (exists(node, "zarr.json")) return { zarr_format: 3, kind: parse(join(node, "zarr.json")).node_type };
  if (exists(node, ".zarray")) return { zarr_format: 2, kind: "array" };
  if (exists(node, ".zgroup")) return { zarr_format: 2, kind: "group" };
  if (exists(node, "meta")) throw new NotImplementedHere("format 1 is not known");
  throw new Error(`no node at ${node}`);
}

async function open(node) {
  const found = find(node);
  const openIt = found.zarr_format === 3 ? zarr.open.v3 : zarr.open.v2;
  return { ...found, opened: await attempt(() => openIt(new FileSystemStore(node), { kind: found.kind })) };
}

async function info(node) {
  const { opened, zarr_format } = await open(node);
  const found = { zarr_format, attributes: opened.attrs };
  if (opened instanceof zarr.Group) return text({ ...found, node_type: "group" });
  const data_type = zarr_format === 3 ? opened.dtype : parse(join(node, ".zarray")).dtype;
  return text({ ...found, node_type: "array", shape: opened.shape, data_type });
}

async function list(node) {
  const { opened } = await open(node);
  if (opened instanceof zarr.Array) return text({ "/": "array" });
  const store = await zarr.withMaybeConsolidatedMetadata(new FileSystemStore(node));
  if (!store.contents) throw new NotImplementedHere("only what has consolidated metadata can be listed");
  return text(Object.fromEntries(store.contents().map(({ path, kind }) => [path, kind])));
}

async function read(node, asJson) {
  const { opened } = await open(node);
  if (opened instanceof zarr.Group) throw new Error("a group has no elements");
  const { data, shape, stride } = await attempt(() =>
    opened.shape.length === 0 ? opened.getChunk([]) : zarr.get(opened)
  );
  const places = inOrder(shape, stride);
  if (!asJson) return bytes(data, places);
  const spell = speller(opened.dtype);
  const spelled = places.map((place) => spell(element(data, place)));
  return nested(spelled, shape);
}

// Returns the positions of the elements, in C order.
function inOrder(shape, stride) {
  return Array.from({ length: shape.reduce((a, b) => a * b, 1) }, (_, i) => {
    let at = 0;
    for (let dim = shape.length - 1; dim >= 0; dim--) {
      at += (i % shape[dim]) * stride[dim];
      i = Math.floor(i / shape[dim]);
    }
    return at;
  });
}

function bytes(data, places) {
  if (Array.isArray(data)) throw new Error("elements of variable length exist in JSON only");
  const isBool = data instanceof zarr.BoolArray;
  const size = isBool ? 1 : data.BYTES_PER_ELEMENT;
  const from = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  const out = new Uint8Array(places.length * size);
  places.forEach((place, i) => out.set(from.subarray(place * size, (place + 1) * size), i * size));
  return isBool ? out.map((byte) => (byte ? 1 : 0)) : out;
}

// Returns byte strings as bytes, because zarrita.js converts them to text.
function element(data, place) {
  if (!(data instanceof zarr.ByteStringArray)) return data.get ? data.get(place) : data[place];
  const start = data.byteOffset + place * data.chars;
  return Buffer.from(data.buffer, start, data.chars);
}

function speller(dtype) {
  if (dtype.startsWith("float")) return float;
  if (dtype.startsWith("v2:S")) return (value) => text(value.toString("latin1").replace(/\0+$/, ""), "base64");
  return (value) => (typeof value === "bigint" ? String(value) : text(value));
}

function float(value) {
  if (!Number.isFinite(value)) return JSON.stringify(String(value));
  if (Object.is(value, -0)) return "-0.0";
  return Number.isInteger(value) && Math.abs(value) < 1e21 ? value.toFixed(1) : String(value);
}

const text = (value, as) => JSON.stringify(as === "base64" ? Buffer.from(value, "latin1").toString("base64") : value);

function nested(flat, shape) {
  if (shape.length === 0) return flat[0];
  const size = flat.length / shape[0] || 0;
  const rows = Array.from({ length: shape[0] }, (_, i) => nested(flat.slice(i * size, (i + 1) * size), shape.slice(1)));
  return `[${rows.join(",")}]`;
}

const ARRAYS = {
  bool: zarr.BoolArray,
  int8: Int8Array,
  int16: Int16Array,
  int32: Int32Array,
  int64: BigInt64Array,
  uint8: Uint8Array,
  uint16: Uint16Array,
  uint32: Uint32Array,
  uint64: BigUint64Array,
  float32: Float32Array,
  float64: Float64Array,
  string: Array,
};

async function write(node, metadata, input, asJson) {
  const document = parse(metadata);
  const array = await attempt(() => zarr.create(new FileSystemStore(node), options(document)));
  const data = elements(readFileSync(input), array.dtype, array.shape, asJson);
  await attempt(() => {
    if (array.shape.length === 0) return zarr.set(array, null, data.get ? data.get(0) : data[0]);
    return zarr.set(array, null, { data, shape: array.shape, stride: strides(array.shape) });
  });
  return "";
}

// Returns the options of `create` from a document. It writes arrays of format 3 with the regular grid and default keys.
function options(document) {
  if (document.zarr_format === 2) throw new NotImplementedHere("format 2 cannot be written");
  if (document.zarr_format !== 3) throw new Error(`zarr_format ${document.zarr_format}`);
  const { name, configuration } = document.chunk_grid;
  if (name !== "regular") throw isRegistered(name) ? new NotImplementedHere(`chunk grid ${name}`) : new Error(`chunk grid ${name}`);
  const keys = document.chunk_key_encoding;
  if (keys.name === "v2") throw new NotImplementedHere("chunk key encoding v2 cannot be written");
  if (keys.name !== "default") throw new Error(`chunk key encoding ${keys.name}`);
  if (/int64/.test(document.data_type) && !Number.isSafeInteger(document.fill_value)) {
    throw new NotImplementedHere("fill values beyond 2^53 cannot be written");
  }
  if (document.storage_transformers?.length) throw new Error("storage transformers cannot be written");
  return {
    shape: document.shape,
    dtype: document.data_type,
    chunkShape: configuration.chunk_shape,
    chunkSeparator: keys.configuration?.separator,
    codecs: document.codecs,
    fillValue: document.fill_value,
    dimensionNames: document.dimension_names,
    attributes: document.attributes,
  };
}

function elements(input, dtype, shape, asJson) {
  const kind = ARRAYS[dtype];
  if (!kind) throw new NotImplementedHere(`data type ${dtype} cannot be written`);
  const length = shape.reduce((a, b) => a * b, 1);
  if (!asJson) {
    if (kind === Array) throw new Error("elements of variable length exist in JSON only");
    const size = kind === zarr.BoolArray ? 1 : kind.BYTES_PER_ELEMENT;
    if (input.length !== length * size) throw new Error(`the array has ${length * size} bytes, not ${input.length}`);
    return new kind(Uint8Array.from(input).buffer);
  }
  // JSON numbers are not exact for integers of 64 bits.
  if (dtype.endsWith("int64")) return kind.from(String(input).match(/-?\d+/g) ?? [], BigInt);
  const flat = [JSON.parse(String(input))].flat(shape.length + 1);
  if (flat.length !== length) throw new Error(`the array has ${length} elements, not ${flat.length}`);
  if (dtype.startsWith("float")) return kind.from(flat, Number);
  return kind === zarr.BoolArray ? new kind(Uint8Array.from(flat).buffer) : kind.from(flat);
}

function strides(shape) {
  return shape.map((_, dim) => shape.slice(dim + 1).reduce((a, b) => a * b, 1));
}

// Returns the output of a request.
function carryOut({ verb, node, json, metadata, input }) {
  if (verb === "info") return info(node);
  if (verb === "list") return list(node);
  if (verb === "read") return read(node, json);
  return write(node, metadata, input, json);
}

async function answer(request) {
  try {
    return { exit: 0, printed: await carryOut(request) };
  } catch (error) {
    const code = error instanceof NotImplementedHere ? NOT_IMPLEMENTED : REFUSED;
    const causes = error.cause instanceof Error ? `: ${error.cause.message}` : "";
    const told = `${error.message}${causes}`.split("\n")[0];
    return { exit: code, message: code === REFUSED ? `${error.name}: ${told}` : told };
  }
}

async function serve() {
  const { log } = console;
  console.log = console.info = console.debug = console.error;
  for await (const line of createInterface({ input: process.stdin })) {
    const request = JSON.parse(line);
    const { printed, ...answered } = await answer(request);
    if (answered.exit === 0 && request.output) writeFileSync(request.output, printed);
    log(JSON.stringify(answered));
  }
}

const [verb, ...rest] = process.argv.slice(2);
if (verb === "serve") {
  await serve();
} else {
  const [node, metadata] = rest.filter((argument) => argument !== "--json");
  const { exit, message, printed } = await answer({ verb, node, metadata, input: "/dev/stdin", json: rest.includes("--json") });
  if (exit === 0) process.stdout.write(printed);
  else console.error(message);
  process.exitCode = exit;
}
