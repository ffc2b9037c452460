// The entry point for Node, whose `fetch` reads no files.
import { readFile } from "node:fs/promises";
import { setWasm } from "./load.js";

setWasm(() => readFile(new URL("./generated/zarr_bg.wasm", import.meta.url)));

export * from "./index.js";
