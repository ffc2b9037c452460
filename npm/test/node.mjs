// Runs the tests in Node.
import { fileURLToPath } from "node:url";
import * as zarrita from "zarrita";
import * as zarr from "zarr-rs";
import { known } from "./known.js";
import { report, run } from "./run.js";
import { serve } from "./server.mjs";

// zarrita.js does not handle some rejected promises, whose error it also reports through others.
process.on("unhandledRejection", () => {});

const server = await serve({ files: fileURLToPath(new URL("../../conformance", import.meta.url)) });
const isGood = report("node", await run({ zarr, zarrita, url: server.url }), known);
await server.close();
process.exitCode = isGood ? 0 : 1;
