// Reads the images that judge.py has made with ome-zarr.js and zarrita, and the grid with the GeoZarr source of OpenLayers, over HTTP.
//
// usage: node judge.mjs FOLDER

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { join, normalize } from "node:path";

import * as zarr from "zarrita";
import GeoZarr from "ol/source/GeoZarr.js";
import proj4 from "proj4";
import { register } from "ol/proj/proj4.js";
import { getMultiscale, getMultiscaleWithArray } from "ome-zarr.js";

const folder = process.argv[2];
const expected = JSON.parse(await readFile(join(folder, "expected.json"), "utf8"));

const server = createServer(async (request, response) => {
  const path = normalize(decodeURIComponent(new URL(request.url, "http://x").pathname));
  try {
    const bytes = await readFile(join(folder, path));
    const range = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? "");
    if (!range) return response.end(bytes);
    response.statusCode = 206;
    response.end(bytes.subarray(Number(range[1]), range[2] === "" ? undefined : Number(range[2]) + 1));
  } catch {
    response.statusCode = 404;
    response.end();
  }
});
await new Promise((done) => server.listen(0, "127.0.0.1", done));
const url = `http://127.0.0.1:${server.address().port}`;

/** Returns the scale and the translation that the transformations of a level make. */
function place({ coordinateTransformations }) {
  const parts = coordinateTransformations.flatMap((one) => one.transformations ?? [one]);
  const of = (type) => parts.find((part) => part.type === type)?.[type];
  const scale = of("scale");
  return { scale, translation: of("translation") ?? scale.map(() => 0) };
}

for (const [store, levels] of Object.entries(expected)) {
  if (store === "geo.zarr") continue;
  const { multiscale, zarr_version } = await getMultiscale(`${url}/${store}`);
  assert.equal(multiscale.datasets.length, levels.length);
  for (const [number, level] of levels.entries()) {
    const dataset = multiscale.datasets[number];
    assert.deepEqual(place(dataset), { scale: level.scale, translation: level.translation });
    const { arr } = await getMultiscaleWithArray(`${url}/${store}`, number);
    assert.deepEqual(arr.shape, level.shape);
    const { data } = await zarr.get(arr);
    assert.deepEqual(Array.from(data), level.values);
  }
  console.log(`ome-zarr.js  ${store}: ${levels.length} levels with their values, scales and translations (format ${zarr_version})`);
}

// OpenLayers names a projection by its code, and has the definitions from the program.
proj4.defs("EPSG:32633", "+proj=utm +zone=33 +datum=WGS84 +units=m +no_defs");
register(proj4);
const levels = expected["geo.zarr"];
const source = new GeoZarr({ url: `${url}/geo.zarr`, bands: ["b04"], resample: "nearest", transition: 0 });
await new Promise((done, failed) => {
  const look = () => {
    if (source.getState() === "ready") done();
    if (source.getState() === "error") failed(source.error_);
  };
  source.on("change", look);
  look();
});
const grid = source.getTileGrid();
assert.deepEqual(grid.getResolutions(), levels.map((level) => level.resolution).reverse());
for (const [z, level] of [...levels].reverse().entries()) {
  assert.deepEqual(grid.getOrigin(z), [500_000, 5_000_000]);
  const [width, height] = [grid.getTileSize(z)].flat().concat(grid.getTileSize(z)).slice(0, 2);
  const [rows, columns] = level.shape;
  let compared = 0;
  for (let y = 0; y * height < rows; ++y) {
    for (let x = 0; x * width < columns; ++x) {
      const tile = await source.loadTile_(z, x, y, { signal: new AbortController().signal });
      const bands = tile.length / (width * height);
      for (let row = 0; row < Math.min(height, rows - y * height); ++row) {
        for (let column = 0; column < Math.min(width, columns - x * width); ++column) {
          const wanted = level.values[(y * height + row) * columns + x * width + column];
          assert.equal(tile[(row * width + column) * bands], wanted, `level ${z}, ${y} ${x}, ${row} ${column}`);
          compared += 1;
        }
      }
    }
  }
  assert.equal(compared, rows * columns);
}
console.log(`OpenLayers   geo.zarr: ${levels.length} levels with their values, resolutions and origins`);
server.close();
