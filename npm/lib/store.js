// Stores.
import { ask, call, wrong } from "./error.js";
import { Store } from "./generated/zarr.js";
import { load } from "./load.js";

const LIMIT = 2 ** 31;

/** A folder of a web server. It can be used by this package, and with `get` and `getRange` by others. */
export class FetchStore {
  #url;
  #options;
  #handle;

  constructor(url, options = {}) {
    this.#url = String(url);
    this.#options = { ...options, headers: options.headers && [...new Headers(options.headers)] };
  }

  /** Returns the bytes of an object, or `undefined`. */
  async get(key, options) {
    return (await this.getRanges(key, [{}], options))?.[0];
  }

  /** Returns a range of an object, or `undefined`. */
  async getRange(key, range, options) {
    return (await this.getRanges(key, [range], options))?.[0];
  }

  /** Returns ranges of one version of an object, or `undefined`. */
  async getRanges(key, ranges, { limit = LIMIT } = {}) {
    const handle = await this.handle();
    return ask(() => handle.get(relative(key), ranges, limit));
  }

  /** Returns the store of the module. */
  async handle() {
    await load();
    this.#handle ??= call(() => Store.web(this.#url, this.#options));
    return this.#handle;
  }
}

/** Returns the store of the module for a URL, a `FetchStore`, a `Map`, or an object with `get` and perhaps `getRange`. */
export async function storeOf(source, options) {
  if (typeof source === "string" || source instanceof URL) return new FetchStore(source, options).handle();
  if (source instanceof FetchStore) return source.handle();
  if (typeof source?.get !== "function") throw wrong("a store is a URL, a Map, or an object with a method `get`");
  await load();
  return Store.foreign(source instanceof Map ? ofMap(source) : source);
}

// A store asks for keys that begin with a slash. A map may have them without.
function ofMap(map) {
  return { get: (key) => map.get(key) ?? map.get(key.slice(1)) };
}

function relative(key) {
  return key.startsWith("/") ? key.slice(1) : key;
}
