// Errors.

/** An error of this package. `code` says what the caller can do. */
export class ZarrError extends Error {
  constructor(message, code, place = {}) {
    super(message);
    this.name = "ZarrError";
    this.code = code;
    this.node = place.node;
    this.chunk = place.chunk;
    this.key = place.key;
  }
}

/** Returns the error of a wrong argument. */
export function wrong(message) {
  return new ZarrError(message, "InvalidArgument");
}

/** Returns the error for what the module threw. Errors of JavaScript, such as that of a signal, stay as they are. */
export function raised(thrown) {
  if (typeof thrown?.code !== "string" || thrown instanceof Error || thrown instanceof globalThis.DOMException) {
    return thrown;
  }
  return new ZarrError(thrown.message, thrown.code, thrown);
}

/** Calls the module and converts its errors. */
export function call(work) {
  try {
    return work();
  } catch (thrown) {
    throw raised(thrown);
  }
}

/** Calls the module and converts the errors of the promise that it returns. */
export async function ask(work) {
  try {
    return await work();
  } catch (thrown) {
    throw raised(thrown);
  }
}
