// Opens arrays and groups, and reads elements.
import { fillOf, listed, typed } from "./elements.js";
import { ZarrError, ask, call, raised } from "./error.js";
import { Node } from "./generated/zarr.js";
import { resolve } from "./selection.js";
import { storeOf } from "./store.js";

export { ZarrError } from "./error.js";
export { setWasm } from "./load.js";
export { FetchStore } from "./store.js";

class ZarrNode {
  #handle;
  #about;

  constructor(handle, about) {
    this.#handle = handle;
    this.#about = about;
  }

  get kind() {
    return this.#about.kind;
  }

  get path() {
    return this.#about.path;
  }

  get format() {
    return this.#about.format;
  }

  get attributes() {
    return this.#about.attributes;
  }

  /** Frees the memory of the handle. Without a call this happens when the object is collected. */
  free() {
    this.#handle.free();
  }

  _handle() {
    return this.#handle;
  }

  _about() {
    return this.#about;
  }
}

/** An array. */
export class ZarrArray extends ZarrNode {
  get shape() {
    return this._about().shape;
  }

  get chunkShape() {
    return this._about().chunkShape;
  }

  get dataType() {
    return this._about().dataType;
  }

  get dimensionNames() {
    return this._about().dimensionNames;
  }

  get fillValue() {
    return fillOf(this._about());
  }

  /** Whether the elements have this data type. */
  is(dataType) {
    return this.dataType === dataType;
  }

  /** Reads a selection. */
  async read(selection, { signal } = {}) {
    const axes = resolve(selection, this.shape);
    signal?.throwIfAborted();
    const cancelled = signal && rejected(signal);
    try {
      const { shape, bytes, list } = await this._handle().read(axes, cancelled?.promise);
      return { data: list ? listed(this.dataType, list) : typed(this.dataType, bytes), shape, dataType: this.dataType };
    } catch (thrown) {
      throw raised(thrown);
    } finally {
      cancelled?.forget();
    }
  }
}

/** A group. */
export class ZarrGroup extends ZarrNode {
  get isConsolidated() {
    return this._about().isConsolidated;
  }

  /** Opens the array or group at a path relative to this group. */
  async open(path) {
    const handle = await ask(() => this._handle().child(String(path)));
    if (handle === undefined) throw missing(path);
    return nodeOf(handle);
  }

  /** Describes the children. Needs consolidated metadata, because web servers do not list. */
  async children() {
    return (await ask(() => this._handle().below(false))).map(entryOf);
  }

  /** Describes all nodes below. Needs consolidated metadata, because web servers do not list. */
  async tree() {
    return (await ask(() => this._handle().below(true))).map(entryOf);
  }
}

/** Opens the array or group at a URL, or in a store. */
export async function open(source, options = {}) {
  const store = await storeOf(source, options);
  const path = options.path ?? "/";
  const handle = await ask(() => Node.open(store, path));
  if (handle === undefined) throw missing(path);
  return nodeOf(handle);
}

/** Opens an array. */
export async function openArray(source, options) {
  const node = await open(source, options);
  if (!(node instanceof ZarrArray)) throw new ZarrError(`node "${node.path}" is a group`, "NotFound", { node: node.path });
  return node;
}

/** Opens a group. */
export async function openGroup(source, options) {
  const node = await open(source, options);
  if (!(node instanceof ZarrGroup)) throw new ZarrError(`node "${node.path}" is an array`, "NotFound", { node: node.path });
  return node;
}

/** Describes all nodes below a group. */
export async function tree(source, options) {
  return (await openGroup(source, options)).tree();
}

function nodeOf(handle) {
  const about = shown(call(() => handle.describe()));
  return about.kind === "array" ? new ZarrArray(handle, about) : new ZarrGroup(handle, about);
}

function entryOf(entry) {
  if (entry.error) return { path: entry.path, error: raised(entry.error) };
  const { fill, form, elementSize, ...about } = shown(entry);
  return about;
}

// The format is a number, and attributes arrive as text.
function shown(about) {
  return { ...about, format: Number(about.format), attributes: JSON.parse(about.attributes) };
}

function missing(path) {
  return new ZarrError(`there is no array or group at "${path}"`, "NotFound", { node: path });
}

// A promise that is rejected when the signal says so.
function rejected(signal) {
  let forget;
  const promise = new Promise((_, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener("abort", abort);
    forget = () => signal.removeEventListener("abort", abort);
  });
  promise.catch(() => {});
  return { promise, forget };
}
