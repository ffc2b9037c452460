// Installs the package as users get it, and reads with it.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const PROGRAM = `
import { openArray } from "zarr-rs";
const text = JSON.stringify({ zarr_format: 2, shape: [3], chunks: [3], dtype: "<i8", compressor: null, fill_value: -1, filters: null, order: "C" });
const array = await openArray(new Map([[".zarray", new TextEncoder().encode(text)]]));
const { data } = await array.read();
if (!(data instanceof BigInt64Array) || data.join() !== "-1,-1,-1") throw new Error(String(data));
`;

const folder = mkdtempSync(join(tmpdir(), "zarr-rs-"));
const npm = (cwd, ...words) => execFileSync("npm", [...words, "--silent"], { cwd, encoding: "utf8" }).trim();
try {
  const packed = npm(fileURLToPath(new URL("..", import.meta.url)), "pack", "--pack-destination", folder);
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  npm(folder, "install", "--offline", "--no-audit", "--no-fund", join(folder, packed));
  writeFileSync(join(folder, "program.js"), PROGRAM);
  execFileSync("node", ["program.js"], { cwd: folder, stdio: "inherit" });
  console.log("package: installed, and reads");
} finally {
  rmSync(folder, { recursive: true });
}
