// Reads an array in a worker, at a relative URL.
import { openArray } from "../lib/index.js";

try {
  const array = await openArray("../../files/demo/weather.zarr", { path: "t2m" });
  const { data } = await array.read([0, 0]);
  postMessage(data instanceof Float32Array && data.length === array.shape[2] ? "right" : "wrong elements");
} catch (error) {
  postMessage(String(error));
}
