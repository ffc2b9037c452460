"""Reads what `cargo run -p zarr-array --example combinations -- FOLDER` wrote, with zarr-python and TensorStore.

  python3 read.py FOLDER        (needs: pip install zarr tensorstore)

Prints a line an array and reader; exit status 1 if any value differs."""
import pathlib
import sys


def with_zarr(path):
    import zarr

    return zarr.open_array(str(path), mode="r")[...]


def with_tensorstore(path):
    import tensorstore

    spec = {"driver": "zarr3", "kvstore": {"driver": "file", "path": str(path.resolve()) + "/"}}
    return tensorstore.open(spec, read=True).result().read().result()


def little_endian(values):
    import numpy

    values = numpy.ascontiguousarray(values)
    if values.dtype.byteorder == ">":
        values = values.byteswap().view(values.dtype.newbyteorder("<"))
    return values.tobytes()


def main(folder):
    wrong = 0
    for raw in sorted(pathlib.Path(folder).glob("*.raw")):
        for name, read in (("zarr-python", with_zarr), ("tensorstore", with_tensorstore)):
            try:
                verdict = "equal" if little_endian(read(raw.with_suffix(""))) == raw.read_bytes() else "DIFFERENT"
            except Exception as error:
                verdict = f"ERROR {type(error).__name__}: {str(error).splitlines()[0][:120]}"
            wrong += verdict != "equal"
            print(f"{raw.stem:16} {name:12} {verdict}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
