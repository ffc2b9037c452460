// Loads the WebAssembly module, once, when it is needed first.
import initialize from "./generated/zarr.js";

let source;
let loading;

/**
 * Sets where the module comes from: a URL, a Response, bytes, a compiled module, or a function that returns one of
 * these. By default the file beside the JavaScript.
 */
export function setWasm(from) {
  source = from;
}

/** Resolves when the module is ready. A failure is not remembered. */
export function load() {
  loading ??= start().catch((error) => {
    loading = undefined;
    throw error;
  });
  return loading;
}

async function start() {
  const from = typeof source === "function" ? await source() : source;
  // Bundlers know this form of a URL.
  await initialize({ module_or_path: from ?? new URL("./generated/zarr_bg.wasm", import.meta.url) });
}
