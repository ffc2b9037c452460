// Tests that run in Node and in browsers.
const CONTENT = Uint8Array.from({ length: 1000 }, (_, i) => (i * 7) % 251);

function equal(got, expected, about = "") {
  const text = (value) => JSON.stringify(value, (_, v) => (typeof v === "bigint" ? `${v}n` : v && v.buffer ? [...v] : v));
  if (text(got) !== text(expected)) throw new Error(`${about}: expected ${text(expected)}, got ${text(got)}`);
}

async function fails(promise, code, message = "") {
  const error = await promise.then(
    (value) => new Error(`no error but ${String(value)}`),
    (error) => error,
  );
  equal([error.name, error.code], ["ZarrError", code], error.message);
  if (!error.message.includes(message)) throw new Error(`"${error.message}" does not say "${message}"`);
  return error;
}

let last = 0;

// A store that answers with a fault, and the number of its requests.
function faulty({ zarr, url }, kind, options) {
  const id = `${kind}-${Date.now()}-${last++}`;
  const store = new zarr.FetchStore(`${url}/fault/${kind}/${id}`, options);
  return { store, counts: () => counts(url, id) };
}

async function counts(url, id) {
  return (await fetch(`${url}/counts/${id}`)).json();
}

async function until(holds) {
  for (let i = 0; !(await holds()); i++) {
    if (i > 500) throw new Error("it never happens");
    await new Promise((done) => setTimeout(done, 20));
  }
}

const RANGES = [
  [{ offset: 10, length: 5 }, 10, 15],
  [{ offset: 0, length: 1000 }, 0, 1000],
  [{ offset: 999, length: 1 }, 999, 1000],
  [{ offset: 3, length: 0 }, 3, 3],
  [{ offset: 1000, length: 0 }, 1000, 1000],
  [{ suffixLength: 4 }, 996, 1000],
  [{ suffixLength: 0 }, 1000, 1000],
  [{ suffixLength: 5000 }, 0, 1000],
];

export const tests = {
  async ranges_are_read_from_servers_of_all_kinds(context) {
    for (const kind of ["plain", "noranges", "nosuffix", "nohead", "hidden", "busy"]) {
      // A size that the browser hides.
      if (kind === "nohead" && context.isOtherOrigin) continue;
      for (const [range, from, to] of RANGES) {
        const { store } = faulty(context, kind);
        equal(await store.getRange("a", range), CONTENT.subarray(from, to), `${kind} ${JSON.stringify(range)}`);
      }
      equal(await faulty(context, kind).store.get("a"), CONTENT, kind);
      equal((await faulty(context, kind).store.getRanges("a", RANGES.map(([range]) => range))).length, 8, kind);
    }
  },

  async a_range_outside_of_the_object_is_an_error(context) {
    for (const kind of ["plain", "noranges", "hidden", "empty"]) {
      for (const range of [{ offset: 998, length: 3 }, { offset: 1000, length: 1 }, { offset: 2000, length: 0 }]) {
        await fails(faulty(context, kind).store.getRange("a", range), "Corrupt");
      }
    }
    equal(await faulty(context, "empty").store.getRange("a", { suffixLength: 4 }), new Uint8Array());
    equal(await faulty(context, "empty").store.get("a"), new Uint8Array());
  },

  async a_missing_object_is_undefined_and_a_forbidden_one_an_error(context) {
    for (const range of [{}, { offset: 0, length: 1 }, { offset: 0, length: 0 }, { suffixLength: 1 }]) {
      equal(await faulty(context, "gone").store.getRange("a", range), undefined);
      await fails(faulty(context, "forbidden").store.getRange("a", range), "PermissionDenied", "403");
      equal(await faulty(context, "forbidden", { forbiddenIsAbsent: true }).store.getRange("a", range), undefined);
    }
  },

  async requests_that_fail_for_a_while_are_repeated(context) {
    const busy = faulty(context, "busy");
    equal(await busy.store.get("a"), CONTENT);
    equal((await busy.counts()).requests, 3);
    const down = faulty(context, "down", { retries: 1 });
    await fails(down.store.get("a"), "Unavailable", "tried 2 times");
    equal((await down.counts()).requests, 2);
    const forbidden = faulty(context, "forbidden");
    await fails(forbidden.store.get("a"), "PermissionDenied");
    equal((await forbidden.counts()).requests, 1);
    const silent = faulty(context, "silent", { retries: 0, silence: 50 });
    await fails(silent.store.get("a"), "Unavailable", "nothing for too long");
  },

  async ranges_are_of_one_version(context) {
    const ranges = [{ offset: 0, length: 8 }, { offset: 500, length: 8 }];
    const once = faulty(context, "changed-once", { requests: 1 });
    equal(await once.store.getRanges("a", ranges), [CONTENT.subarray(0, 8), CONTENT.subarray(500, 508)]);
    equal((await once.counts()).requests, 4);
    await fails(faulty(context, "changing").store.getRanges("a", ranges), "Conflict", "changes while it is read");
    await fails(faulty(context, "wrong").store.getRange("a", ranges[0]), "Io", "another range");
  },

  async bodies_are_bounded(context) {
    await fails(faulty(context, "plain").store.get("a", { limit: 999 }), "LimitExceeded", "1000 bytes");
    await fails(faulty(context, "plain").store.getRange("a", { suffixLength: 5000 }, { limit: 999 }), "LimitExceeded");
    await fails(faulty(context, "noranges").store.getRange("a", { suffixLength: 5000 }, { limit: 999 }), "LimitExceeded");
    const endless = faulty(context, "endless");
    await fails(endless.store.get("a", { limit: 1 << 20 }), "LimitExceeded");
    const part = faulty(context, "endless");
    equal(await part.store.getRange("a", { offset: 1 << 20, length: 4 }), new Uint8Array(4));
    for (const { counts } of [endless, part]) await until(async () => (await counts()).closed > 0);
  },

  async a_cancelled_read_aborts_its_requests({ zarr, url }) {
    const id = `stuck-${Date.now()}-${last++}`;
    const array = await zarr.openArray(`${url}/fault/stuck/${id}`);
    const controller = new AbortController();
    const read = array.read(null, { signal: controller.signal });
    await until(async () => (await counts(url, id)).requests === 2);
    controller.abort(new Error("enough"));
    equal(await read.catch((error) => error.message), "enough");
    await until(async () => (await counts(url, id)).closed === 1);
    equal(await array.read(null, { signal: AbortSignal.abort(new Error("no")) }).catch((e) => e.message), "no");
    array.free();
  },

  async credentials_are_sent_and_not_shown(context) {
    const { zarr, url } = context;
    if (context.isOtherOrigin) return;
    const base = `${url}/fault/signed/s`;
    const good = new zarr.FetchStore(`${base}?sig=secret`, { headers: { "x-token": "t" } });
    equal(await good.get("a"), CONTENT);
    const error = await fails(new zarr.FetchStore(`${base}?sig=secret2`).get("a"), "PermissionDenied");
    equal(error.message.includes("secret"), false, error.message);
    const named = await fails(new zarr.FetchStore("http://user:secret@h/a").get("a"), "InvalidArgument");
    equal(named.message.includes("secret"), false, named.message);
    await fails(new zarr.FetchStore("ftp://h/a").get("a"), "InvalidArgument");
    await fails(new zarr.FetchStore(base).get("../a"), "InvalidArgument");
  },

  async a_group_shows_its_consolidated_nodes({ zarr, url }) {
    const root = await zarr.openGroup(`${url}/files/demo/weather.zarr`);
    equal(root.isConsolidated, true);
    equal((await root.children()).map((entry) => entry.path).includes("/t2m"), true);
    equal((await zarr.tree(`${url}/files/demo/weather.zarr`)).length, (await root.children()).length);
    const t2m = await root.open("t2m");
    equal([t2m.kind, t2m.dataType, t2m.shape.length, t2m.dimensionNames.length], ["array", "float32", 3, 3]);
    const all = (await t2m.read()).data;
    const [, rows, columns] = t2m.shape;
    const part = await t2m.read([-1, [1, 3], [null, null, -7]]);
    equal(part.shape, [2, Math.ceil(columns / 7)]);
    const at = (t, y, x) => all[(t * rows + y) * columns + x];
    equal(part.data[part.shape[1] + 1], at(t2m.shape[0] - 1, 2, columns - 8));
    await fails(root.open("nothing"), "NotFound");
    await fails(zarr.openArray(`${url}/files/demo`), "NotFound");
    await fails(zarr.openArray(`${url}/files/demo/weather.zarr`), "NotFound");
  },

  async selections_count_as_in_numpy({ zarr }) {
    const numbers = Uint8Array.from({ length: 10 }, (_, i) => i);
    const document = { zarr_format: 2, shape: [10], chunks: [10], dtype: "|u1", compressor: null, fill_value: 7,
      filters: null, order: "C" };
    const map = new Map([["a/.zarray", new TextEncoder().encode(JSON.stringify(document))], ["a/0", numbers]]);
    const array = await zarr.openArray(map, { path: "a" });
    equal([array.format, array.fillValue, array.chunkShape], [2, 7, [10]]);
    for (const [axis, expected] of [
      [null, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]],
      [[2, 5], [2, 3, 4]],
      [[-3], [7, 8, 9]],
      [[null, -7], [0, 1, 2]],
      [[1, null, 4], [1, 5, 9]],
      [[null, null, -1], [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]],
      [[8, 1, -3], [8, 5, 2]],
      [[null, 6, -2], [9, 7]],
      [[5, 5], []],
      [[7, 3], []],
      [[3, 7, -1], []],
      [[100, 200], []],
      [[-100, 3], [0, 1, 2]],
      [{ start: -2, stop: 100 }, [8, 9]],
      [{ step: 9n }, [0, 9]],
    ]) {
      equal([...(await array.read([axis])).data], expected, JSON.stringify(axis, (_, v) => String(v)));
    }
    equal(await array.read([-1]), { data: Uint8Array.of(9), shape: [], dataType: "uint8" });
    for (const axis of [10, -11, [0, 5, 0], "0:5", 1.5, [0.5]]) {
      await fails(array.read([axis]), "InvalidArgument");
    }
    await fails(array.read([0, 0]), "InvalidArgument", "2 dimensions");
  },

  async errors_name_the_place({ zarr }) {
    const document = { zarr_format: 3, node_type: "array", shape: [4], data_type: "int32", fill_value: 0,
      chunk_grid: { name: "regular", configuration: { chunk_shape: [2] } },
      chunk_key_encoding: { name: "default" }, codecs: [{ name: "bytes", configuration: { endian: "little" } }, { name: "zstd" }] };
    const at = (change) => new TextEncoder().encode(JSON.stringify({ ...document, ...change }));
    const broken = new Map([["/zarr.json", at({})], ["/c/1", Uint8Array.of(1, 2, 3)]]);
    const error = await fails((await zarr.openArray(broken)).read(), "Corrupt", "zstd");
    equal([error.node, error.chunk, error.key], ["/", [1], "c/1"]);
    equal((await (await zarr.openArray(broken)).read([[0, 2]])).data, Int32Array.of(0, 0));
    await fails(zarr.open(new Map([["/zarr.json", at({ codecs: [{ name: "magic" }] })]])), "UnknownExtension", "magic");
    await fails(zarr.open(new Map([["/zarr.json", at({ shape: "no" })]])), "Metadata");
    await fails(zarr.open({ get: () => Promise.reject(new Error("no luck")) }), "Io", "no luck");
    await fails(zarr.open(17), "InvalidArgument");
  },

  async stores_in_javascript_are_asked_for_ranges({ zarr }) {
    const size = 1 << 20;
    const document = { zarr_format: 3, node_type: "array", shape: [size], data_type: "uint8", fill_value: 0,
      chunk_grid: { name: "regular", configuration: { chunk_shape: [size] } },
      chunk_key_encoding: { name: "default" }, codecs: [{ name: "bytes" }] };
    const objects = { "/zarr.json": new TextEncoder().encode(JSON.stringify(document)),
      "/c/0": Uint8Array.from({ length: size }, (_, i) => i % 251) };
    const asked = [];
    const get = (key) => objects[key];
    const getRange = async (key, { offset, length }) => (asked.push(length), objects[key].subarray(offset, offset + length));
    for (const store of [{ get }, { get, getRange }]) {
      const { data } = await (await zarr.openArray(store)).read([[500_000, 500_010]]);
      equal([...data], Array.from({ length: 10 }, (_, i) => (500_000 + i) % 251));
    }
    equal(asked.reduce((a, b) => a + b, 0) < size / 2, true, String(asked));
    const short = { get, getRange: () => new Uint8Array(3) };
    await fails((await zarr.openArray(short)).read([[500_000, 500_010]]), "Corrupt", "3 bytes");
  },

  async a_shard_is_read_by_ranges({ zarr, url }) {
    const array = await zarr.openArray(`${url}/files/v3/zp34/v3-shard`, { path: "v3.shard.grid.20x20-20x20-5x4.s1.zarr" });
    const all = (await array.read()).data;
    equal((await array.read([3, [null, null, -1]])).data, all.slice(60, 80).reverse());
  },
};
