// Reads the stores of the conformance corpus and compares digests of their elements.

/** Returns the cases of the manifest that are arrays with known elements. */
export function casesOf(manifest) {
  const isRead = ({ id, kind, expect, zarr_format }) =>
    !id.startsWith("copy.") && (kind === "raw" || kind === "json") && expect === "ok" && zarr_format !== 1;
  return manifest.cases.filter(isRead);
}

/** Returns the error of a case, or `undefined` if its elements are right. `read` returns the elements of an array. */
export async function check(read, url, one) {
  try {
    const { data, shape } = await read(`${url}/files/${one.store}`, one.array);
    if (JSON.stringify(shape) !== JSON.stringify(one.shape)) return `shape ${shape}, not ${one.shape}`;
    const bytes = one.kind === "json" ? spelled(data, shape) : raw(data, one);
    const digest = await sha256(bytes);
    return digest === one.sha256 || one.accept_sha256?.includes(digest) ? undefined : "other elements";
  } catch (error) {
    return String(error?.message ?? error);
  }
}

/** Reads with this package. */
export function reader(zarr) {
  return async (store, path) => {
    const array = await zarr.openArray(store, { path });
    const { data, shape, dataType } = await array.read();
    if (dataType === "numcodecs:object") return { data: data.map((text) => ({ json: text })), shape };
    if (dataType === "bfloat16") return { data: data && narrowed(data, (bits) => bits >>> 16), shape };
    if (dataType === "float16" && data instanceof Float32Array) {
      return { data: narrowed(data, half), shape };
    }
    return { data, shape };
  };
}

/** Reads with zarrita.js. */
export function peer(zarrita) {
  return async (store, path) => {
    const root = zarrita.root(new zarrita.FetchStore(store));
    const array = await zarrita.open(path ? root.resolve(path) : root, { kind: "array" });
    const got = array.shape.length === 0 ? await array.getChunk([]) : await zarrita.get(array);
    return { data: ordered(got, array.dtype, zarrita), shape: array.shape };
  };
}

// The elements of a chunk of zarrita.js in C order.
function ordered({ data, shape, stride }, dtype, zarrita) {
  const count = shape.reduce((a, b) => a * b, 1);
  const places = Array.from({ length: count }, (_, i) => {
    let at = 0;
    for (let dim = shape.length - 1; dim >= 0; dim--) {
      at += (i % shape[dim]) * stride[dim];
      i = Math.floor(i / shape[dim]);
    }
    return at;
  });
  if (Array.isArray(data)) return places.map((place) => data[place]);
  if (data instanceof zarrita.BoolArray) return Uint8Array.from(places, (place) => (data.get(place) ? 1 : 0));
  if (data.BYTES_PER_ELEMENT === undefined || data instanceof zarrita.UnicodeStringArray) {
    return places.map((place) => data.get(place));
  }
  const size = data.BYTES_PER_ELEMENT;
  const from = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  const out = new Uint8Array(count * size);
  places.forEach((place, i) => out.set(from.subarray(place * size, (place + 1) * size), i * size));
  return out;
}

// The bytes of elements, little-endian; strings padded to the size of the data type.
function raw(data, one) {
  if (!Array.isArray(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  const size = one.nbytes / Math.max(1, data.length);
  const out = new Uint8Array(one.nbytes);
  data.forEach((value, i) => {
    if (value instanceof Uint8Array) return out.set(value, i * size);
    if (/S\d|null_terminated/.test(JSON.stringify(one.dtype))) {
      return out.set(Uint8Array.from(value, (c) => c.charCodeAt(0)), i * size);
    }
    const points = Uint32Array.from(value, (c) => c.codePointAt(0));
    out.set(new Uint8Array(points.buffer), i * size);
  });
  return out;
}

// JSON without spaces, in ASCII; bytes in base64.
function spelled(data, shape) {
  const flat = Array.from(data, (value) =>
    value?.json ?? JSON.stringify(value instanceof Uint8Array ? btoa(String.fromCharCode(...value)) : value),
  );
  const nested = (part, shape) => {
    if (shape.length === 0) return part[0];
    const size = part.length / shape[0] || 0;
    const rows = Array.from({ length: shape[0] }, (_, i) => nested(part.slice(i * size, (i + 1) * size), shape.slice(1)));
    return `[${rows.join(",")}]`;
  };
  const ascii = nested(flat, shape).replace(/[^\0-\x7f]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return new TextEncoder().encode(ascii);
}

function narrowed(data, convert) {
  return Uint16Array.from(new Uint32Array(data.buffer), convert);
}

// The bits of a single precision float, which a half precision float can hold, as those of a half precision float.
function half(bits) {
  const sign = (bits >>> 16) & 0x8000;
  const exponent = ((bits >>> 23) & 0xff) - 112;
  const fraction = (bits >>> 13) & 0x3ff;
  if (exponent === 143) return sign | 0x7c00 | fraction;
  if (exponent > 0) return sign | (exponent << 10) | fraction;
  return sign | (exponent < -10 ? 0 : (fraction | 0x400) >> (1 - exponent));
}

async function sha256(bytes) {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
