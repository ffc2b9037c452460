// Elements as typed arrays.

const TYPED = {
  bool: Uint8Array,
  int2: Int8Array,
  int4: Int8Array,
  int8: Int8Array,
  int16: Int16Array,
  int32: Int32Array,
  int64: BigInt64Array,
  uint2: Uint8Array,
  uint4: Uint8Array,
  uint8: Uint8Array,
  uint16: Uint16Array,
  uint32: Uint32Array,
  uint64: BigUint64Array,
  float32: Float32Array,
  float64: Float64Array,
  complex64: Float32Array,
  complex128: Float64Array,
  complex_float32: Float32Array,
  complex_float64: Float64Array,
  "numpy.datetime64": BigInt64Array,
  "numpy.timedelta64": BigInt64Array,
};

/** Returns the elements of a data type from their bytes: a typed array. Types without one are bytes. */
export function typed(dataType, bytes) {
  switch (dataType) {
    case "float16":
      return "Float16Array" in globalThis ? new globalThis.Float16Array(bytes.buffer) : widened(bytes, half);
    case "bfloat16":
      return widened(bytes, (bits) => bits << 16);
    default: {
      const Type = TYPED[dataType];
      return Type === undefined ? bytes : new Type(bytes.buffer);
    }
  }
}

/** Returns the elements of a data type from a list. Python objects are their JSON text. */
export function listed(dataType, list) {
  return dataType === "numcodecs:object" ? list.map((bytes) => new TextDecoder().decode(bytes)) : list;
}

/** Returns the fill value of an array as an element. */
export function fillOf({ form, dataType, fill }) {
  if (form === "bytes") return listed(dataType, [fill])[0];
  if (form === "text") return dataType === "string" ? new TextDecoder().decode(fill) : utf32(fill);
  const elements = typed(dataType, fill);
  if (dataType === "bool") return elements[0] !== 0;
  return elements.length === 1 && TYPED[dataType] !== undefined ? elements[0] : single(dataType, elements);
}

function single(dataType, elements) {
  return dataType === "float16" || dataType === "bfloat16" ? elements[0] : elements;
}

function utf32(bytes) {
  const points = Array.from(new Uint32Array(bytes.buffer));
  while (points.at(-1) === 0) points.pop();
  return String.fromCodePoint(...points);
}

// Numbers of 16 bits as floats of 32 bits with the same value.
function widened(bytes, convert) {
  const wide = Uint32Array.from(new Uint16Array(bytes.buffer), (bits) => convert(bits) >>> 0);
  return new Float32Array(wide.buffer);
}

// The bits of a half precision float as those of a single precision float.
function half(bits) {
  const sign = (bits & 0x8000) << 16;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0x1f) return sign | 0x7f800000 | (fraction << 13);
  if (exponent !== 0) return sign | ((exponent + 112) << 23) | (fraction << 13);
  if (fraction === 0) return sign;
  const shift = Math.clz32(fraction) - 21;
  return sign | ((113 - shift) << 23) | (((fraction << shift) & 0x3ff) << 13);
}
