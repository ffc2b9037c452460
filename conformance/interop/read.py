"""Reads what `cargo run -p zarr-array --example combinations -- FOLDER` wrote, or the examples `combinations_v2` and `extensions`, with
zarr-python, 2 or 3, and TensorStore.

  python3 read.py FOLDER        (needs: pip install zarr tensorstore)

Prints a line an array and reader; exit status 1 if any value differs."""
import base64
import importlib.util
import json
import pathlib
import sys


def with_zarr(path):
    import zarr

    return zarr.open_array(str(path), mode="r")[...]


def with_tensorstore(path):
    import tensorstore

    driver = "zarr3" if (path / "zarr.json").exists() else "zarr"
    spec = {"driver": driver, "kvstore": {"driver": "file", "path": str(path.resolve()) + "/"}}
    return tensorstore.open(spec, read=True).result().read().result()


def little_endian(values):
    import numpy

    values = numpy.ascontiguousarray(values)
    return values.astype(values.dtype.newbyteorder("<")).tobytes()


def is_equal(values, expected):
    if expected.suffix == ".json":
        shown = [base64.b64encode(v).decode() if isinstance(v, bytes) else v for v in values.tolist()]
        return shown == json.loads(expected.read_text(encoding="utf8"))
    return little_endian(values) == expected.read_bytes()


def main(folder):
    wrong, readers = 0, []
    for name, module, read in (("zarr-python", "zarr", with_zarr), ("tensorstore", "tensorstore", with_tensorstore)):
        if importlib.util.find_spec(module):
            readers.append((name, read))
    for expected in sorted([*pathlib.Path(folder).glob("*.raw"), *pathlib.Path(folder).glob("*.json")]):
        for name, read in readers:
            try:
                values = read(expected.with_suffix(""))
                if values.dtype.itemsize == 0:
                    print(f"{expected.stem:16} {name:12} shows characters that NumPy has no type for")
                    continue
                verdict = "equal" if is_equal(values, expected) else "DIFFERENT"
            except Exception as error:
                verdict = f"ERROR {type(error).__name__}: {str(error).splitlines()[0][:120]}"
            wrong += verdict != "equal"
            print(f"{expected.stem:16} {name:12} {verdict}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
