// Selections, with positions as in NumPy.
import { wrong } from "./error.js";

/** Returns three numbers per dimension: the first position, the position after the last, and the step; 0 is an index. */
export function resolve(selection, shape) {
  const entries = selection ?? [];
  if (!Array.isArray(entries)) throw wrong("a selection is a list with an entry per dimension");
  if (entries.length > shape.length) {
    throw wrong(`the selection has ${entries.length} dimensions, the array has ${shape.length}`);
  }
  return Float64Array.from(shape.flatMap((length, dim) => axis(entries[dim], length, dim)));
}

function axis(entry, length, dim) {
  if (entry === null || entry === undefined) return [0, length, 1];
  if (typeof entry === "number" || typeof entry === "bigint") return [index(entry, length, dim), 0, 0];
  if (Array.isArray(entry)) return range(entry[0], entry[1], entry[2], length, dim);
  if (typeof entry === "object") return range(entry.start, entry.stop, entry.step, length, dim);
  throw wrong(`dimension ${dim}: an entry is null, a number, or [start, stop, step]`);
}

function index(entry, length, dim) {
  const position = whole(entry, dim);
  const counted = position < 0 ? position + length : position;
  if (counted < 0 || counted >= length) {
    throw wrong(`index ${position} of dimension ${dim} is not inside its length ${length}`);
  }
  return counted;
}

// A range as in NumPy: positions outside of the array are moved to its ends.
function range(start, stop, step, length, dim) {
  const by = whole(step ?? 1, dim);
  if (by === 0) throw wrong(`the step of dimension ${dim} is 0`);
  const clamp = (entry, missing, low, high) => {
    if (entry === null || entry === undefined) return missing;
    const position = whole(entry, dim);
    return Math.min(Math.max(position < 0 ? position + length : position, low), high);
  };
  if (by > 0) {
    const first = clamp(start, 0, 0, length);
    return [first, Math.max(first, clamp(stop, length, 0, length)), by];
  }
  // Backwards: the module takes the same elements as a range upwards, and begins with its last one.
  const first = clamp(start, length - 1, -1, length - 1);
  const low = clamp(stop, -1, -1, length - 1) + 1;
  return [Math.min(low, first + 1), first + 1, by];
}

function whole(entry, dim) {
  const position = Number(entry);
  if (!Number.isSafeInteger(position)) throw wrong(`dimension ${dim}: ${String(entry)} is not a whole number`);
  return position;
}
