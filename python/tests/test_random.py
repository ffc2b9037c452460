"""Random arrays, selections and values: the results are those of zarr-python's own pipeline."""

from __future__ import annotations

import random
from typing import Any

import numcodecs
import numpy as np
import pytest
import zarr
from conftest import no_fallback, ours, own
from packaging.version import Version
from zarr.codecs import (
    BloscCodec,
    BytesCodec,
    Crc32cCodec,
    GzipCodec,
    TransposeCodec,
    ZstdCodec,
)

NUMBERS = ["bool", "i1", "<i2", ">i4", "i8", "u1", "<u2", ">u4", "u8", "f2", "<f4", ">f8", "c8", ">c16"]
TEXT = [np.dtypes.StringDType()] if hasattr(np.dtypes, "StringDType") else []
OTHERS = [*TEXT, "<M8[s]", "<m8[ms]", "S5", "<U4", "V7", [("a", "<i4"), ("b", "<f8")]]
BIG = [">M8[s]", ">U3", [("a", ">i2"), ("b", "S3"), ("c", ">f8")]]
FORMATS = {3: [*NUMBERS, *OTHERS], 2: [*NUMBERS, *OTHERS, *BIG]}
if Version(zarr.__version__) < Version("3.1"):  # format 3 has only the types of its core there
    FORMATS[3] = [*TEXT, *(name for name in NUMBERS if not name.startswith(">"))]
    FORMATS[2] = [name for name in FORMATS[2] if np.dtype(name).kind not in "SUT"]


def values(rng: np.random.Generator, dtype: np.dtype[Any], shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """Returns random values; some of them are zero."""
    if dtype.fields is not None:
        result = np.zeros(shape, dtype)
        for name, (field, *_) in dtype.fields.items():
            result[name] = values(rng, field, shape)
        return result
    numbers = rng.integers(0, 100, shape) * (rng.random(shape) < 0.8)
    if dtype.kind in "SUT":
        return np.asarray(numbers).astype(str).astype(dtype)
    if dtype.kind == "V":
        return np.asarray(np.asarray(numbers).astype(f"S{dtype.itemsize}")).view(dtype).reshape(shape)
    if dtype.kind in "mM":
        return np.asarray(numbers).astype("i8").view(dtype).reshape(shape)
    return np.asarray(numbers).astype(dtype)


def selection(rng: random.Random, shape: tuple[int, ...]) -> tuple[str, Any]:
    """Returns a method of an array and its selection."""
    kind = rng.choice(["basic", "basic", "basic", "oindex", "vindex", "mask"]) if shape else "basic"

    def part(n: int) -> Any:
        if rng.random() < 0.3:
            return rng.randrange(n)
        start, stop = sorted((rng.randrange(n + 1), rng.randrange(n + 1)))
        return slice(start, stop, rng.choice([None, None, 1, 2, 3])) if rng.random() < 0.8 else slice(None)

    def positions(n: int, count: int) -> list[int]:
        return [rng.randrange(n) for _ in range(count)]

    if kind == "oindex":
        axes = [part(n) if rng.random() < 0.5 else sorted(set(positions(n, 4))) for n in shape]
        return kind, tuple(axes)
    if kind == "vindex":
        points = {tuple(rng.randrange(n) for n in shape) for _ in range(rng.randrange(1, 12))}
        return kind, tuple(np.array(axis) for axis in zip(*rng.sample(sorted(points), len(points)), strict=True))
    if kind == "mask":
        return "vindex", np.random.default_rng(rng.randrange(1000)).random(shape) < 0.2
    return "basic", tuple(part(n) for n in shape)


def target(array: Any, kind: str) -> Any:
    return array if kind == "basic" else getattr(array, kind)


def options(rng: random.Random) -> dict[str, Any]:
    """Returns arguments of `zarr.create_array`."""
    rank = rng.choice([0, 1, 1, 2, 2, 2, 3])
    shape = tuple(rng.randrange(1, 17) for _ in range(rank))
    inner = tuple(rng.randrange(1, 6) for _ in range(rank))
    zarr_format = rng.choice([2, 3, 3])
    dtype = np.dtype(rng.choice(FORMATS[zarr_format]))
    chosen: dict[str, Any] = {"shape": shape, "dtype": dtype, "zarr_format": zarr_format, "chunks": inner}
    if dtype.kind in "biufc" and rng.random() < 0.5:
        chosen["fill_value"] = dtype.type(1)
    chosen["config"] = {"write_empty_chunks": rng.random() < 0.3, "order": rng.choice("CF")}
    if zarr_format == 2:
        chosen["order"] = chosen["config"]["order"]
        chosen["compressors"] = rng.choice([None, numcodecs.Zlib(1), numcodecs.Blosc(cname="lz4"), numcodecs.LZ4()])
        chosen["chunk_key_encoding"] = {"name": "v2", "separator": rng.choice("./")}
        if dtype.kind in "iu" and rng.random() < 0.5:
            chosen["filters"] = [rng.choice([numcodecs.Delta(dtype), numcodecs.Shuffle(dtype.itemsize)])]
        return chosen
    chosen["chunk_key_encoding"] = {"name": rng.choice(["default", "v2"]), "separator": rng.choice("./")}
    if rank > 0 and rng.random() < 0.4 and dtype.kind != "V":  # zarr-python cannot read them
        chosen["shards"] = tuple(n * rng.randrange(1, 4) for n in inner)
    if rank > 1 and rng.random() < 0.3 and dtype.kind != "T":  # zarr-python 3.1 writes the wrong order of strings
        chosen["filters"] = [TransposeCodec(order=tuple(rng.sample(range(rank), rank)))]
    compressors = [None, GzipCodec(level=1), ZstdCodec(level=1), BloscCodec(), Crc32cCodec()]
    chosen["compressors"] = rng.choice(compressors)
    if dtype.kind in "iufc" and dtype.itemsize > 1:
        chosen["serializer"] = BytesCodec(endian=rng.choice(["little", "big"]))
    return chosen


@pytest.mark.parametrize("seed", range(120))
def test_reads_and_writes_are_those_of_zarr_python(seed: int, store: Any) -> None:
    rng, numbers = random.Random(seed), np.random.default_rng(seed)
    chosen = options(rng)
    # The judge has no shards: zarr-python cannot write lists of positions into them.
    plain = {key: value for key, value in chosen.items() if key != "shards"}
    judge, again = zarr.storage.MemoryStore(), zarr.storage.MemoryStore()
    for place, how in ((store, chosen), (judge, plain), (again, chosen)):
        zarr.create_array(place, name="a/b", **how)
    with no_fallback():
        config = chosen["config"]
        mine = ours(store, path="a/b", mode="r+", config=config)
        theirs = own(judge, path="a/b", mode="r+", config=config)
        for _ in range(12):
            kind, chosen_part = selection(rng, mine.shape)
            shape = np.shape(target(theirs, kind)[chosen_part])
            if rng.random() < 0.5:
                new = values(numbers, mine.dtype, () if rng.random() < 0.3 else shape)
                for array in (mine, theirs):
                    target(array, kind)[chosen_part] = new
            else:
                got, expected = target(mine, kind)[chosen_part], target(theirs, kind)[chosen_part]
                np.testing.assert_array_equal(got, expected)
                assert (np.shape(got), type(got)) == (np.shape(expected), type(expected))
                assert getattr(got, "dtype", None) == getattr(expected, "dtype", None)
        whole = theirs[...]
        np.testing.assert_array_equal(mine[...], whole)
        own(again, path="a/b", mode="r+", config=config)[...] = whole
        np.testing.assert_array_equal(ours(again, path="a/b")[...], whole)
    np.testing.assert_array_equal(own(store, path="a/b")[...], whole)
