// The numbers in an answer.

const cache = new WeakMap();

export async function unpack(values) {
  if (!cache.has(values)) cache.set(values, unpacked(values));
  return cache.get(values);
}

async function unpacked({ type, start, step, count, data }) {
  const packed = Uint8Array.from(atob(data), letter => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  if (type === "f4" || type === "f8") {
    const width = Number(type[1]), plain = new Uint8Array(bytes.length);
    for (let i = 0; i < count; i++) for (let at = 0; at < width; at++) plain[i * width + at] = bytes[at * count + i];
    return type === "f4" ? new Float32Array(plain.buffer) : new Float64Array(plain.buffer);
  }
  const numbers = new Float64Array(count), last = type === "u1" ? 255 : 65535;
  let code = 0;
  for (let i = 0; i < count; i++) {
    code = (code + bytes[i] + (type === "u1" ? 0 : bytes[count + i] << 8)) & last;
    numbers[i] = code === last ? NaN : start + step * code;
  }
  return numbers;
}
