/** What `open` takes: a URL, a store, or a map from keys to bytes. A relative URL is relative to the page. */
export type Source = string | URL | FetchStore | AsyncReadable | Map<string, Uint8Array>;

/** A store that is written in JavaScript. Keys begin with a slash, as in zarrita.js. `undefined` means no object. */
export interface AsyncReadable {
  get(key: `/${string}`): Uint8Array | undefined | Promise<Uint8Array | undefined>;
  /** Returns exactly the bytes of the range. Without this method whole objects are read. */
  getRange?(key: `/${string}`, range: ByteRange): Uint8Array | undefined | Promise<Uint8Array | undefined>;
}

export type ByteRange = { offset: number; length: number } | { suffixLength: number };

export interface FetchOptions {
  /** Headers of every request. */
  headers?: HeadersInit;
  /** Whether cookies are sent; by default `"same-origin"`. */
  credentials?: "omit" | "same-origin" | "include";
  /** How often a request is repeated when the server is busy or the connection breaks; 4 by default. */
  retries?: number;
  /** How many milliseconds a server may send nothing; 30,000 by default. */
  silence?: number;
  /** How many requests run at a time; 16 by default. */
  requests?: number;
  /** Whether the status 403 means that there is no object; by default not. */
  forbiddenIsAbsent?: boolean;
}

export interface OpenOptions extends FetchOptions {
  /** The path of the node in the store; by default its root. */
  path?: string;
}

/** A folder of a web server. */
export class FetchStore implements AsyncReadable {
  constructor(url: string | URL, options?: FetchOptions);
  /** Returns the bytes of an object. More than `limit` bytes (2 GiB by default) are an error. */
  get(key: string, options?: { limit?: number }): Promise<Uint8Array | undefined>;
  getRange(key: string, range: ByteRange, options?: { limit?: number }): Promise<Uint8Array | undefined>;
  /** Returns ranges of one version of an object: together at most `limit` bytes. */
  getRanges(key: string, ranges: ByteRange[], options?: { limit?: number }): Promise<Uint8Array[] | undefined>;
}

/** Positions in one dimension, as in NumPy: everything, an index, or a range with a step. Negative positions count from the end. */
export type Axis =
  | null
  | undefined
  | number
  | bigint
  | [start: number | null, stop?: number | null, step?: number | null]
  | { start?: number | null; stop?: number | null; step?: number | null };

/** An entry per dimension; missing ones select everything. */
export type Selection = null | undefined | Axis[];

/** The JavaScript types of elements. */
export interface DataTypes {
  /** 0 or 1. */
  bool: Uint8Array;
  int8: Int8Array;
  int16: Int16Array;
  int32: Int32Array;
  int64: BigInt64Array;
  uint8: Uint8Array;
  uint16: Uint16Array;
  uint32: Uint32Array;
  uint64: BigUint64Array;
  /** A Float16Array where there is one, otherwise a Float32Array. */
  float16: Float32Array;
  bfloat16: Float32Array;
  float32: Float32Array;
  float64: Float64Array;
  /** Pairs: real part, imaginary part. */
  complex64: Float32Array;
  complex128: Float64Array;
  "numpy.datetime64": BigInt64Array;
  "numpy.timedelta64": BigInt64Array;
  string: string[];
  fixed_length_utf32: string[];
  bytes: Uint8Array[];
  null_terminated_bytes: Uint8Array[];
  /** Python objects, as JSON text. */
  "numcodecs:object": string[];
}

export type TypedArray =
  | Int8Array
  | Uint8Array
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | BigInt64Array
  | BigUint64Array
  | Float32Array
  | Float64Array;

/** The data of a data type. Types that are not listed are bytes, one element after the other. */
export type Data<T extends string> = T extends keyof DataTypes ? DataTypes[T] : TypedArray | string[] | Uint8Array[];

/** Elements in C order. */
export interface Elements<T extends string = string> {
  data: Data<T>;
  shape: number[];
  dataType: T;
}

declare abstract class ZarrNode {
  readonly path: string;
  /** 3 or 2. */
  readonly format: number;
  readonly attributes: Record<string, any>;
  /** Frees the memory of the handle. Without a call this happens when the object is collected. */
  free(): void;
}

export class ZarrArray<T extends string = string> extends ZarrNode {
  private constructor();
  readonly kind: "array";
  readonly shape: number[];
  /** The shape of the first chunk: for sharded arrays, of a shard. */
  readonly chunkShape: number[] | undefined;
  /** The name of the data type in format 3. */
  readonly dataType: T;
  readonly dimensionNames: (string | null)[] | undefined;
  /** A pair for complex numbers, bytes for types without a JavaScript type. */
  readonly fillValue: number | bigint | boolean | string | TypedArray;
  /** Reads a selection. */
  read(selection?: Selection, options?: { signal?: AbortSignal }): Promise<Elements<T>>;
  /** Narrows the type: `if (array.is("float32"))`. */
  is<U extends string>(dataType: U): this is ZarrArray<U>;
}

export class ZarrGroup extends ZarrNode {
  private constructor();
  readonly kind: "group";
  /** Whether the nodes below are found in consolidated metadata. */
  readonly isConsolidated: boolean;
  /** Opens the array or group at a path relative to this group. */
  open(path: string): Promise<ZarrArray | ZarrGroup>;
  /** Describes the children. */
  children(): Promise<Entry[]>;
  /** Describes all nodes below, parents first. */
  tree(): Promise<Entry[]>;
}

/** The description of a node, or the error of its metadata. */
export type Entry =
  | { kind: "group"; path: string; format: number; attributes: Record<string, any>; isConsolidated: boolean; error?: undefined }
  | {
      kind: "array";
      path: string;
      format: number;
      attributes: Record<string, any>;
      shape: number[];
      chunkShape?: number[];
      dataType: string;
      dimensionNames?: (string | null)[];
      error?: undefined;
    }
  | { kind?: undefined; path: string; error: ZarrError };

/** Opens the array or group at a URL, or in a store. Makes no request for the elements. */
export function open(source: Source, options?: OpenOptions): Promise<ZarrArray | ZarrGroup>;
export function openArray(source: Source, options?: OpenOptions): Promise<ZarrArray>;
export function openGroup(source: Source, options?: OpenOptions): Promise<ZarrGroup>;
/** Describes all nodes below a group. Web servers do not list, so the group needs consolidated metadata. */
export function tree(source: Source, options?: OpenOptions): Promise<Entry[]>;

/** What the caller can do about an error. */
export type ErrorCode =
  | "NotFound"
  | "Unsupported"
  | "InvalidArgument"
  | "Metadata"
  | "Corrupt"
  | "Checksum"
  | "UnknownExtension"
  | "LimitExceeded"
  | "Conflict"
  | "PermissionDenied"
  | "Unavailable"
  | "Io"
  | (string & {});

export class ZarrError extends Error {
  readonly name: "ZarrError";
  readonly code: ErrorCode;
  /** The path of the node. */
  readonly node?: string;
  /** The index of the chunk. */
  readonly chunk?: number[];
  /** The key of the object in the store. */
  readonly key?: string;
}

/**
 * Sets where the WebAssembly module comes from, before the first call: a URL, a Response, bytes, a compiled module, or a
 * function that returns one of these. By default it is the file beside the JavaScript.
 */
export function setWasm(source: WasmSource | (() => WasmSource | Promise<WasmSource>)): void;
export type WasmSource = string | URL | Request | Response | BufferSource | WebAssembly.Module;
