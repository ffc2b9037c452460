// A static web server with ranges, and with the faults of real servers.
import { createServer } from "node:http";
import { readFile, stat } from "node:fs/promises";
import { extname, join, normalize } from "node:path";

const TYPES = { ".js": "text/javascript", ".mjs": "text/javascript", ".html": "text/html", ".wasm": "application/wasm" };
const CONTENT = Buffer.from(Array.from({ length: 1000 }, (_, i) => (i * 7) % 251));
const ARRAY = JSON.stringify({
  zarr_format: 3,
  node_type: "array",
  shape: [4],
  data_type: "uint8",
  fill_value: 0,
  chunk_grid: { name: "regular", configuration: { chunk_shape: [4] } },
  chunk_key_encoding: { name: "default" },
  codecs: [{ name: "bytes" }],
});

/** Starts a server of `folders`, by the first segment of the path, on the loopback interface. Returns its URL. */
export async function serve(folders) {
  const counts = new Map();
  const server = createServer((request, response) => {
    answer(folders, counts, request, response).catch((error) => {
      response.writeHead(500).end(String(error));
    });
  });
  // A busy client would meet connections that are closed in that moment.
  server.keepAliveTimeout = 600_000;
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return { url: `http://127.0.0.1:${server.address().port}`, close: () => server.closeAllConnections() || server.close() };
}

async function answer(folders, counts, request, response) {
  const [, first, ...rest] = normalize(decodeURIComponent(new URL(request.url, "http://h").pathname)).split("/");
  response.setHeader("access-control-allow-origin", "*");
  if (request.method === "OPTIONS") return response.writeHead(403).end();
  if (first === "counts") return response.end(JSON.stringify(counts.get(rest[0]) ?? { requests: 0, closed: 0 }));
  if (first === "fault") return fault(counts, rest, request, response);
  if (folders[first] === undefined) return response.writeHead(404).end();
  const file = join(folders[first], ...rest);
  const found = await stat(file).catch(() => undefined);
  if (!found?.isFile()) return response.writeHead(404).end();
  response.setHeader("content-type", TYPES[extname(file)] ?? "application/octet-stream");
  send(request, response, await readFile(file), `"${found.mtimeMs}-${found.size}"`);
}

function send(request, response, content, tag) {
  const range = /^bytes=(\d*)-(\d*)$/.exec(request.headers.range ?? "");
  const size = content.length;
  if (tag) response.setHeader("etag", tag);
  const end = (status, bytes) => {
    response.writeHead(status, { "content-length": bytes.length });
    response.end(request.method === "HEAD" ? undefined : bytes);
  };
  if (!range || request.method === "HEAD") return end(200, content);
  const from = range[1] === "" ? Math.max(0, size - Number(range[2])) : Number(range[1]);
  const to = range[1] === "" || range[2] === "" ? size : Math.min(size, Number(range[2]) + 1);
  if (from >= size) {
    response.setHeader("content-range", `bytes */${size}`);
    return end(416, Buffer.alloc(0));
  }
  response.setHeader("content-range", `bytes ${from}-${to - 1}/${size}`);
  end(206, content.subarray(from, to));
}

// The path is /fault/KIND/ID/…; requests are counted by id.
function fault(counts, [kind, id], request, response) {
  const count = counts.get(id) ?? { requests: 0, closed: 0 };
  counts.set(id, count);
  const before = count.requests++;
  const suffix = request.headers.range?.startsWith("bytes=-");
  const other = Buffer.from(CONTENT.map((byte) => byte ^ 255));
  const hide = (header) => {
    const write = response.writeHead.bind(response);
    response.writeHead = (...head) => (response.removeHeader(header), write(...head));
  };
  switch (kind) {
    case "noranges":
      delete request.headers.range;
      break;
    case "nosuffix":
      if (suffix) return response.writeHead(400).end();
      break;
    case "nohead":
      if (request.method === "HEAD") return response.writeHead(405).end();
      break;
    case "hidden":
      hide("content-range");
      hide("etag");
      break;
    case "busy":
      if (before < 2) return response.writeHead(before === 0 ? 503 : 429).end();
      break;
    case "down":
      return response.writeHead(500).end();
    case "forbidden":
      return response.writeHead(403).end();
    case "gone":
      return response.writeHead(404).end();
    case "empty":
      return send(request, response, Buffer.alloc(0), '"e"');
    case "wrong":
      response.setHeader("access-control-expose-headers", "Content-Range");
      response.writeHead(206, { "content-range": "bytes 1-4/1000" }).end(CONTENT.subarray(1, 5));
      return;
    case "changed-once":
      response.setHeader("access-control-expose-headers", "ETag");
      return send(request, response, before === 0 ? other : CONTENT, before === 0 ? '"old"' : '"new"');
    case "changing":
      response.setHeader("access-control-expose-headers", "ETag");
      return send(request, response, CONTENT, `"${before}"`);
    case "endless":
      return endless(count, request, response);
    case "stuck":
      if (request.url.endsWith("/zarr.json")) return send(request, response, Buffer.from(ARRAY), '"array"');
      response.on("close", () => count.closed++);
      return;
    case "silent":
      response.on("close", () => count.closed++);
      return;
    case "signed":
      if (new URL(request.url, "http://h").search !== "?sig=secret" || request.headers["x-token"] !== "t") {
        return response.writeHead(401).end();
      }
  }
  send(request, response, CONTENT, '"same"');
}

// Sends bytes until the connection is closed.
function endless(count, request, response) {
  response.writeHead(200);
  const piece = Buffer.alloc(1 << 16);
  const more = () => {
    while (!response.destroyed && response.write(piece)) count.pieces = (count.pieces ?? 0) + 1;
  };
  response.on("drain", more);
  response.on("close", () => count.closed++);
  more();
}
