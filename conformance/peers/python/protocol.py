"""The protocol of ../README.md, for implementations that return NumPy arrays.

It needs registered.json, in its own folder or in the folder above.

An adapter is a module with the functions

  info(node) -> dict            a description of the node
  read(node) -> array           all elements
  list_nodes(store) -> dict     from path to "array" or "group"
  write(node, metadata, elements)
                                creates an array from the dict `metadata`, and writes `elements`, an `Elements`

and ends with `protocol.main(sys.modules[__name__])`. The functions raise `NotImplementedHere` for missing features."""
import argparse
import base64
import json
import os
import pathlib
import re
import sys
import traceback

import numpy

REFUSED, NOT_IMPLEMENTED, CRASHED = 1, 89, 70

# Only these names may be reported as not implemented. Any other name is an error.
REGISTERED = set()
HERE = pathlib.Path(__file__).resolve().parent
NAMES = next((file for file in (HERE / "registered.json", HERE.parent / "registered.json") if file.exists()), None)
if NAMES is None:
    raise FileNotFoundError(f"{HERE}: registered.json is missing; copy it from conformance/peers")
for kind, names in json.loads(NAMES.read_text(encoding="utf8")).items():
    REGISTERED.update(names)
    if kind == "numcodecs":
        REGISTERED.update(f"numcodecs.{name}" for name in names)


class NotImplementedHere(Exception):
    """The implementation lacks a required feature."""


def is_registered(name):
    return name in REGISTERED or re.fullmatch(r"r[1-9]\d*", name) is not None and int(name[1:]) % 8 == 0


def lacks(error, messages, has=()):
    """Returns `NotImplementedHere` for `error` if one of the regular expressions `messages` matches its text.

    A captured name must be a registered name that is not in `has`."""
    text = str(error)
    for match in filter(None, (re.search(message, text) for message in messages)):
        names = [name for name in match.groups() if name is not None]
        if all(is_registered(name) and name not in has for name in names):
            return NotImplementedHere(first_line(text))
    return None


def refuse_format_1(node):
    """Refuses format 1, which has only arrays with a document `meta`."""
    documents = ("zarr.json", ".zarray", ".zgroup")
    if os.path.isfile(os.path.join(node, "meta")) and not any(os.path.exists(os.path.join(node, name)) for name in documents):
        raise NotImplementedHere("format 1 is not supported")


def first_line(text):
    return text.strip().partition("\n")[0][:500]


class Elements:
    """The elements of an array to be written, as received."""

    def __init__(self, data, is_json):
        self.data, self.is_json = data, is_json

    def array(self, dtype, shape, is_bytes=False):
        """Returns the elements as an array. With `is_bytes` objects are byte strings."""
        dtype = numpy.dtype(dtype)
        if not self.is_json:
            return from_bytes(self.data, dtype, shape)
        flat = flatten(json.loads(self.data), shape)
        out = numpy.empty(len(flat), dtype)
        for index, value in enumerate(flat):
            out[index] = from_json(value, dtype, is_bytes)
        return out.reshape(shape)


def packed(dtype):
    """Returns the data type in little-endian order without padding."""
    if dtype.names is not None:
        return numpy.dtype([(name, packed(dtype.fields[name][0])) for name in dtype.names])
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        return numpy.dtype((packed(base), shape))
    return dtype.newbyteorder("<") if dtype.byteorder == ">" else dtype


def is_variable(dtype):
    return dtype.hasobject or dtype.kind == "T"


def to_bytes(array):
    if is_variable(array.dtype):
        raise ValueError("elements of variable length exist in JSON only")
    return numpy.ascontiguousarray(array).astype(packed(array.dtype)).tobytes()


def from_bytes(data, dtype, shape):
    if is_variable(dtype):
        raise ValueError("elements of variable length exist in JSON only")
    # `frombuffer` refuses zero bytes and elements of size zero.
    length = int(numpy.prod(shape, dtype=object)) * packed(dtype).itemsize
    if len(data) != length:
        raise ValueError(f"found {len(data)} bytes, expected {length}")
    return numpy.ndarray(shape, packed(dtype), buffer=data).astype(dtype)


def to_json(value, dtype):
    """Returns one element as JSON."""
    if dtype.names is not None:
        return {name: to_json(value[name], dtype.fields[name][0]) for name in dtype.names}
    if dtype.subdtype is not None:
        return nested([to_json(item, dtype.subdtype[0]) for item in value.reshape(-1)], value.shape)
    if dtype.kind in "mM":
        return int(value.astype("i8"))
    if dtype.kind == "c":
        return [number(float(value.real)), number(float(value.imag))]
    return plain(value)


def plain(value):
    """Returns a Python or NumPy value as JSON."""
    if isinstance(value, (numpy.bool_, bool)):
        return bool(value)
    if isinstance(value, numpy.void):
        return base64.b64encode(value.tobytes()).decode()
    if isinstance(value, bytes):
        return base64.b64encode(bytes(value)).decode()
    if isinstance(value, str):
        return str(value)
    if isinstance(value, numpy.ndarray):
        return nested([to_json(item, value.dtype) for item in value.reshape(-1)], value.shape)
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if value is None or isinstance(value, int):
        return value
    if numpy.issubdtype(getattr(value, "dtype", float), numpy.integer) or "int" in type(value).__name__:
        return int(value)
    return number(float(value))


def number(value):
    if value != value:
        return "NaN"
    return {numpy.inf: "Infinity", -numpy.inf: "-Infinity"}.get(value, value)


def from_json(value, dtype, is_bytes):
    if dtype.names is not None:
        values = value if isinstance(value, list) else [value[name] for name in dtype.names]
        return tuple(from_json(item, dtype.fields[name][0], is_bytes) for item, name in zip(values, dtype.names, strict=True))
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        return numpy.array([from_json(item, base, is_bytes) for item in flatten(value, shape)], base).reshape(shape)
    if dtype.kind == "c":
        return complex(*map(float, value))
    if dtype.kind in "SV" and isinstance(value, str) and dtype.type in (numpy.bytes_, numpy.void):
        return numpy.array(base64.b64decode(value), dtype)[()]
    if dtype.kind in "mM":
        return numpy.array(value, "i8").astype(dtype)[()]
    if dtype.kind == "O" and is_bytes:
        return base64.b64decode(value)
    if dtype.kind in "biuOTU":
        return value
    return float(value)


def nested(flat, shape):
    """Returns nested lists with the shape of the array."""
    if len(shape) == 0:
        return flat[0]
    size = len(flat) // shape[0] if shape[0] else 0
    return [nested(flat[i * size : (i + 1) * size], shape[1:]) for i in range(shape[0])]


def flatten(value, shape):
    if len(shape) == 0:
        return [value]
    if not isinstance(value, list) or len(value) != shape[0]:
        raise ValueError(f"expected a list of {shape[0]} items")
    return [element for item in value for element in flatten(item, shape[1:])]


def show(value):
    return json.dumps(value, allow_nan=False).encode()


def carry_out(peer, request):
    """Returns the output of a request. A missing function of the adapter is a verb that is not implemented."""
    verb, node = request["verb"], request["node"]
    if not hasattr(peer, "list_nodes" if verb == "list" else verb):
        raise NotImplementedHere(f"{verb} is not implemented")
    if verb == "info":
        return show(peer.info(node))
    if verb == "list":
        return show(peer.list_nodes(node))
    if verb == "read":
        array = peer.read(node)
        if not request.get("json"):
            return to_bytes(array)
        return show(nested([to_json(value, array.dtype) for value in array.reshape(-1)], array.shape))
    with open(request["metadata"], encoding="utf8") as file:
        metadata = json.load(file)
    with open(request["input"], "rb") as file:
        elements = Elements(file.read(), request.get("json", False))
    peer.write(node, metadata, elements)
    return b""


def answer(peer, request):
    """Returns the exit code, the error message, and the output."""
    try:
        return 0, None, carry_out(peer, request)
    except NotImplementedHere as error:
        return NOT_IMPLEMENTED, first_line(str(error)), b""
    except Exception as error:
        return REFUSED, first_line(f"{type(error).__name__}: {str(error).strip()}"), b""
    except BaseException:
        # Includes panics of extensions.
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(CRASHED)


def serve(peer, stdout):
    for line in sys.stdin:
        request = json.loads(line)
        code, message, printed = answer(peer, request)
        if code == 0 and "output" in request:
            with open(request["output"], "wb") as file:
                file.write(printed)
        answered = {"exit": code} if message is None else {"exit": code, "message": message}
        stdout.write(show(answered) + b"\n")
        stdout.flush()


def arguments():
    parser = argparse.ArgumentParser()
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("serve")
    for verb in ("info", "list", "read", "write"):
        verb = verbs.add_parser(verb)
        verb.add_argument("--json", action="store_true")
        verb.add_argument("node")
    verb.add_argument("metadata")
    verb.set_defaults(input="/dev/stdin")
    return vars(parser.parse_args())


def main(peer):
    request = arguments()
    # Output of libraries goes to standard error.
    stdout = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    if request["verb"] == "serve":
        return serve(peer, stdout)
    code, message, printed = answer(peer, request)
    stdout.write(printed)
    stdout.flush()
    if message is not None:
        print(message, file=sys.stderr)
    sys.exit(code)
