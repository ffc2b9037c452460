"""Datasets of xarray: through the engine of this package, and through zarr-python's with the pipeline and the store.

xarray's own engine for Zarr is the judge.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import multiprocessing
import pickle
import warnings
from collections.abc import Iterator
from typing import Any

import counting
import numcodecs
import numpy as np
import pytest
import zarr
import zarr_rs
from conftest import no_fallback, pipeline
from packaging.version import Version
from zarr_rs import errors

xr = pytest.importorskip("xarray")


def dataset() -> Any:
    rng = np.random.default_rng(1)
    t2m = rng.random((10, 6, 8), "f4") * 40 + 250
    t2m[2, 3] = np.nan
    return xr.Dataset(
        {
            "t2m": (("time", "lat", "lon"), t2m, {"units": "K"}),
            "count": (("lat", "lon"), rng.integers(0, 99, (6, 8))),
            "name": ("lat", np.array([f"row {i}" for i in range(6)], object)),
            "scalar": ((), 4.5),
            "step": ("time", np.arange(10).astype("m8[h]").astype("m8[ns]")),
        },
        {"time": np.arange("2020-01-01", "2020-01-11", dtype="M8[D]").astype("M8[ns]"), "lat": np.linspace(0, 90, 6)},
        {"title": "weather"},
    )


ENCODING = {"t2m": {"dtype": "i2", "scale_factor": 0.01, "add_offset": 270.0, "_FillValue": -9999, "chunks": (4, 3, 5)}}


@pytest.fixture(params=[(2, False), (2, True), (3, False), (3, True)], ids=str)
def place(request: Any, tmp_path: Any) -> str:
    zarr_format, consolidated = request.param
    place = str(tmp_path / "d.zarr")
    dataset().to_zarr(place, encoding=ENCODING, zarr_format=zarr_format, consolidated=consolidated)
    return place


def both(place: Any, **options: Any) -> tuple[Any, Any]:
    return xr.open_dataset(place, engine="zarr_rs", **options), xr.open_dataset(place, engine="zarr", **options)


@pytest.mark.parametrize(
    "options",
    [{}, {"decode_cf": False}, {"mask_and_scale": False}, {"drop_variables": ["count"]}, {"decode_timedelta": True}],
    ids=str,
)
def test_a_dataset_is_that_of_xarrays_own_engine(options: Any, place: str) -> None:
    ours, judge = both(place, **options)
    xr.testing.assert_identical(ours.load(), judge.load())
    for name in judge.variables:
        # Before 3.1, zarr-python reads strings as objects.
        assert ours[name].dtype == judge[name].dtype or Version(zarr.__version__) < Version("3.1") and name == "name"
        assert ours[name].encoding.get("_FillValue", 0) == pytest.approx(
            judge[name].encoding.get("_FillValue", 0), nan_ok=True
        )


SELECTIONS: list[Any] = [
    {"time": 3},
    {"time": slice(8, 2, -2), "lon": [5, 1, 1]},
    {"lat": [0, 5], "lon": [7, 0]},
    {"time": slice(0, 0)},
    {"lat": np.array([False, True] * 3)},
]


@pytest.mark.parametrize("selection", SELECTIONS, ids=repr)
def test_a_selection_is_that_of_xarrays_own_engine(selection: Any, place: str) -> None:
    ours, judge = both(place)
    xr.testing.assert_identical(ours.isel(selection).load(), judge.isel(selection).load())
    points = {"lat": xr.DataArray([0, 5, 2], dims="p"), "lon": xr.DataArray([7, 0, 0], dims="p")}
    xr.testing.assert_identical(ours.t2m.isel(points).load(), judge.t2m.isel(points).load())
    xr.testing.assert_identical(ours.sel(time="2020-01-05").load(), judge.sel(time="2020-01-05").load())


def mean(data: Any) -> float:
    return float(data.t2m.mean())


def test_a_dataset_is_read_in_other_processes(place: str) -> None:
    ours, judge = both(place)
    xr.testing.assert_identical(pickle.loads(pickle.dumps(ours)).load(), judge)
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        assert pool.submit(mean, ours).result() == pytest.approx(mean(judge))


def test_dask_reads_whole_chunks(place: str) -> None:
    pytest.importorskip("dask")
    ours, judge = both(place, chunks={})
    assert ours.t2m.chunks == judge.t2m.chunks
    xr.testing.assert_identical(ours.mean("time").compute(), judge.mean("time").compute())


def test_groups_are_a_tree(tmp_path: Any) -> None:
    place = str(tmp_path / "d.zarr")
    tree = xr.DataTree.from_dict({"/": xr.Dataset(attrs={"a": 1}), "/x/y": dataset(), "/z": dataset()[["count"]]})
    tree.to_zarr(place)
    xr.testing.assert_identical(xr.open_datatree(place, engine="zarr_rs"), xr.open_datatree(place, engine="zarr"))
    options: Any = {"group": "x/y"}
    xr.testing.assert_identical(*(data.load() for data in both(place, **options)))
    assert list(xr.open_groups(place, engine="zarr_rs", group="x")) == ["/", "/y"]


def test_a_broken_array_is_left_out_and_the_dataset_opens(tmp_path: Any) -> None:
    sound = xr.Dataset({"t": ("x", np.arange(3.0)), "u": ("x", np.arange(3.0))}, {"x": [10, 20, 30]})
    sound.to_zarr(tmp_path / "d", consolidated=False)
    group = zarr_rs.open_group(tmp_path / "d", mode="r+")
    group.create_array("nameless", shape=(2, 3), dtype="i4", dimension_names=["y", None])
    (tmp_path / "d/u/zarr.json").write_text("{")
    with pytest.warns(errors.BrokenNodeWarning) as given:
        found = xr.open_dataset(tmp_path / "d", engine="zarr_rs")
    messages = sorted(str(w.message) for w in given)
    assert len(messages) == 2
    assert "'/nameless' is left out" in messages[0] and "not all 2 dimensions have a name" in messages[0]
    assert "'/u' is left out" in messages[1] and "zarr.json" in messages[1]
    xr.testing.assert_identical(found.load(), sound.drop_vars("u"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        xr.open_dataset(tmp_path / "d", engine="zarr_rs", drop_variables=["u", "nameless"])


@pytest.mark.filterwarnings("error")
def test_a_warning_of_xarray_may_be_an_error(tmp_path: Any) -> None:
    """It is not the reason to leave the variable out."""
    odd = xr.Dataset({"t": ("x", np.arange(3.0), {"_Unsigned": "true"})})
    odd.to_zarr(tmp_path / "d", consolidated=False)
    with pytest.raises(xr.SerializationWarning, match="_Unsigned"):
        xr.open_dataset(tmp_path / "d", engine="zarr_rs")


def named(name: str, **configuration: Any) -> dict[str, Any]:
    return {"name": name, "configuration": configuration}


BYTES = named("bytes", endian="little")
#: The codecs of format 3, some of them in shards, and those of format 2.
CHAINS: dict[str, dict[str, Any]] = {
    "nothing": {"codecs": [BYTES]},
    "gzip": {"codecs": [BYTES, named("gzip", level=7)]},
    "zstd, crc32c": {"codecs": [BYTES, named("zstd", level=3, checksum=True), {"name": "crc32c"}]},
    "blosc": {"codecs": [BYTES, named("blosc", cname="lz4", clevel=5, shuffle="shuffle", typesize=4, blocksize=0)]},
    "transposed, big-endian": {"codecs": [named("transpose", order=[1, 0]), named("bytes", endian="big")]},
    "shards": {"codecs": [BYTES, named("gzip", level=2)], "shards": (4, 6)},
    "2: nothing": {"compressors": None},
    "2: zlib": {"compressors": numcodecs.Zlib(4)},
    "2: blosc": {"compressors": numcodecs.Blosc("lz4hc", 3, numcodecs.Blosc.BITSHUFFLE)},
    "2: filters": {"filters": [numcodecs.BitRound(7), numcodecs.Shuffle(4)], "compressors": numcodecs.Zstd(2)},
}


@pytest.mark.skipif(Version(zarr.__version__) < Version("3.1"), reason="zarr-python 3.0 changes codecs of format 2")
@pytest.mark.parametrize("codecs", CHAINS.values(), ids=CHAINS)
def test_a_dataset_is_written_back_with_its_codecs(codecs: dict[str, Any]) -> None:
    store = zarr_rs.Store("memory://")
    values = np.random.default_rng(1).random((4, 6), "f4")
    if "codecs" in codecs:
        zarr_rs.create_group(store).create_array(
            "t", shape=(4, 6), chunks=(2, 3), dtype="f4", dimension_names=["y", "x"], **codecs
        )[...] = values
    else:
        group = zarr.open_group(store, zarr_format=2)
        group.create_array(
            "t", data=values, chunks=(2, 3), attributes={"_ARRAY_DIMENSIONS": ["y", "x"]}, fill_value=None, **codecs
        )
    written: list[dict[str, bytes]] = []
    for found in both(store):
        objects: dict[str, Any] = {}
        target = zarr.storage.MemoryStore(objects)
        found.to_zarr(target, consolidated=False, zarr_format=3 if "codecs" in codecs else 2)
        written.append({key: value.to_bytes() for key, value in objects.items()})
    assert written[0] == written[1]


def test_an_array_that_the_store_does_not_give_is_an_error(tmp_path: Any) -> None:
    zarr_rs.create_group(tmp_path / "d").create_array("a", shape=(3,), dtype="i4", dimension_names=["x"])
    (tmp_path / "d/a/zarr.json").unlink()
    (tmp_path / "d/a/zarr.json").symlink_to("zarr.json")
    with pytest.raises(OSError, match=r"zarr\.json"):
        xr.open_dataset(tmp_path / "d", engine="zarr_rs")


def test_the_engine_takes_what_a_store_takes(place: str) -> None:
    store = zarr_rs.Store(place)
    xr.testing.assert_identical(*(xr.open_dataset(p, engine="zarr_rs").load() for p in (place, store)))
    options: Any = {"storage_options": {"retries": 3}}
    assert xr.open_dataset(place, engine="zarr_rs", **options).sizes == {"time": 10, "lat": 6, "lon": 8}
    with pytest.raises(FileNotFoundError):
        xr.open_dataset(place + "/none", engine="zarr_rs")


def test_zarr_python_writes_and_reads_through_pipeline_and_store(tmp_path: Any) -> None:
    with pipeline("zarr_rs.CodecPipeline"), no_fallback():
        dataset().to_zarr(zarr_rs.Store(tmp_path / "d.zarr"), encoding=ENCODING, consolidated=False)
        dataset().isel(time=slice(0, 4)).drop_vars(["count", "name", "scalar", "lat"]).to_zarr(
            zarr_rs.Store(tmp_path / "d.zarr"), region={"time": slice(4, 8)}, consolidated=False
        )
        ours = xr.open_zarr(zarr_rs.Store(tmp_path / "d.zarr"), consolidated=False, chunks=None).load()
    xr.testing.assert_identical(ours, xr.open_dataset(tmp_path / "d.zarr", engine="zarr_rs").load())
    np.testing.assert_allclose(ours.t2m[4:8], dataset().t2m[:4], atol=0.01)


def numbered(times: range) -> Any:
    """Returns a dataset whose elements say where they belong."""
    values = np.arange(times.start * 20, times.stop * 20).reshape(-1, 4, 5)
    return xr.Dataset({"t": (("time", "y", "x"), values.astype("i4"))}, {"time": list(times)})


#: Neither regions of 3 nor of 7 times follow chunks of 4 or shards of 8.
LAYOUTS: dict[str, Any] = {"chunks": {"chunks": (4, 2, 5)}, "shards": {"chunks": (4, 2, 5), "shards": (8, 4, 5)}}
TIMES = 84


def write_regions(location: str, starts: list[int], length: int) -> None:
    """Writes regions of time, in several threads."""
    with pipeline("zarr_rs.CodecPipeline"), concurrent.futures.ThreadPoolExecutor(4) as pool:
        store = zarr_rs.Store(location)
        parts = [numbered(range(start, start + length)) for start in starts]
        writes = [
            pool.submit(part.to_zarr, store, region={"time": slice(start, start + length)}, safe_chunks=False)
            for start, part in zip(starts, parts, strict=True)
        ]
        for write in writes:
            write.result()


@pytest.mark.parametrize("length", [3, 7])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_regions_that_cut_chunks_lose_nothing(layout: str, length: int, tmp_path: Any) -> None:
    location = str(tmp_path / "d.zarr")
    wanted = numbered(range(TIMES))
    encoding = {"t": LAYOUTS[layout], "time": {"chunks": (5,)}}
    (wanted * 0 - 1).astype("i4").to_zarr(zarr_rs.Store(location), encoding=encoding)
    starts = list(range(0, TIMES, length))
    spawn = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=spawn) as pool:
        # Neighbours are written at the same time, by different processes.
        for done in [pool.submit(write_regions, location, starts[part::2], length) for part in range(2)]:
            done.result()
    xr.testing.assert_identical(xr.open_dataset(location, engine="zarr_rs").load(), wanted)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_parts_of_dask_that_cut_chunks_are_appended_without_loss(layout: str, tmp_path: Any) -> None:
    pytest.importorskip("dask")
    store = zarr_rs.Store(tmp_path / "d.zarr")
    encoding = {"t": LAYOUTS[layout], "time": {"chunks": (5,)}}
    with pipeline("zarr_rs.CodecPipeline"), no_fallback():
        numbered(range(5)).to_zarr(store, encoding=encoding)
        for start in (5, 31, 38):
            end = {5: 31, 31: 38, 38: TIMES}[start]
            # Threads of Dask write parts of 3 times, which share chunks with each other and with what is there.
            part = numbered(range(start, end)).chunk(time=3)
            part.to_zarr(store, append_dim="time", safe_chunks=False)
    xr.testing.assert_identical(xr.open_dataset(store, engine="zarr_rs").load(), numbered(range(TIMES)))


VARIABLES = 30


@pytest.fixture
def far(request: Any, tmp_path: Any) -> Iterator[counting.Service]:
    """A service with a dataset of 4 coordinates and 26 variables, each of one chunk."""
    zarr_format, consolidated = request.param
    lengths = {"time": 8, "level": 2, "lat": 4, "lon": 6}
    coordinates = {name: (name, np.arange(length)) for name, length in lengths.items()}
    values = np.arange(8 * 2 * 4 * 6, dtype="i2").reshape(8, 2, 4, 6)
    variables = {f"v{number:02}": (tuple(coordinates), values) for number in range(VARIABLES - len(coordinates))}
    data = xr.Dataset(variables, coordinates)
    data.time.attrs["units"] = "days since 2000-01-01"
    data.to_zarr(tmp_path / "d.zarr", zarr_format=zarr_format, consolidated=consolidated)
    with counting.service(tmp_path) as service:
        yield service


#: The requests of opening a group and its variables, without elements: consolidated metadata, or the document of the group,
#: a list, and a document of each variable. Format 2 is tried after format 3, and has two documents of each node.
OPENING = {(3, True): 1, (3, False): 2 + VARIABLES, (2, True): 4, (2, False): 5 + 2 * VARIABLES}


@pytest.mark.parametrize(("far", "metadata"), OPENING.items(), indirect=["far"], ids=map(str, OPENING))
def test_a_dataset_is_opened_in_few_round_trips(far: counting.Service, metadata: int) -> None:
    opened = xr.open_dataset(far.store("d.zarr"), engine="zarr_rs")
    assert len(far.requests) == metadata + 4, "each coordinate once"
    assert far.round_trips < 20, "not one variable after the other"
    far.clear()
    asyncio.run(opened.load_async())
    assert len(far.requests) == VARIABLES - 4, "each chunk once"
    assert far.round_trips < 12, "not one variable after the other"
