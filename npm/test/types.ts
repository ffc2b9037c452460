// Checked by the compiler, not run.
import { FetchStore, ZarrArray, ZarrError, ZarrGroup, open, openArray, tree } from "../lib/index.js";

const node: ZarrArray | ZarrGroup = await open("https://example.org/a.zarr", { headers: { a: "b" }, retries: 1 });
if (node.kind === "array") {
  const shape: number[] = node.shape;
  if (node.is("float32")) {
    const data: Float32Array = (await node.read([null, 3, [0, 10, 2], { start: -1 }])).data;
    console.log(shape, data);
  }
} else {
  for (const entry of await node.children()) {
    console.log(entry.path, entry.kind === "array" ? entry.shape : entry.error?.code);
  }
}

const text = await openArray(new Map([["zarr.json", new Uint8Array()]]), { path: "/a" });
if (text.is("string")) {
  const data: string[] = (await text.read()).data;
  console.log(data);
}
await open({ get: async (key: string) => (key === "/zarr.json" ? new Uint8Array() : undefined) });
await tree(new FetchStore("https://example.org", { credentials: "include" }));

// @ts-expect-error A selection is a list.
await text.read("0:3");
// @ts-expect-error An array is opened, not made.
new ZarrArray();

const code: string = new ZarrError("no").code;
console.log(code);
