"""Makes images with `zarr pyramid`, and reads them with ome-zarr-py and ngff-zarr.

usage: judge.py ZARR FOLDER     ZARR is the command; FOLDER gets the stores and `expected.json`, which `judge.mjs` reads.
"""

import json
import pathlib
import subprocess
import sys
import warnings

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "pyramids"))
import reference

warnings.filterwarnings("ignore")

COUNT = 2
SHAPE = (2, 37, 50)
FACTORS = (1, 2, 2)
#: The version of OME-Zarr, and the format of Zarr.
VERSIONS = {"0.4": 2, "0.5": 3, "0.6": 3}
#: x grows by 10 with each column, y falls by 10 with each row.
TRANSFORM = [10.0, 0.0, 500_000.0, 0.0, -10.0, 5_000_000.0]


def main(zarr, folder):
    folder.mkdir(parents=True)

    def run(*arguments):
        subprocess.run([zarr, *map(str, arguments)], cwd=folder, check=True, stdout=subprocess.DEVNULL)

    rng = np.random.default_rng(43)
    values = rng.integers(0, 65_536, SHAPE, "uint16")
    values.astype("<u2").tofile(folder / "image.raw")
    expected = {}
    for version, zarr_format in VERSIONS.items():
        store = f"image-{version}.zarr"
        run("create", store, "--group", "--zarr-format", zarr_format)
        new = ["--dtype", "uint16", "--shape", "2,37,50", "--chunks", "1,16,16", "--dimension-names", "c,y,x"]
        run("create", f"{store}/0", "--zarr-format", zarr_format, *new, "--from", "image.raw")
        run("pyramid", store, "--levels", COUNT, "--ome-version", version, "-q")
        levels = [values, *reference.pyramid(values, FACTORS, "mean", COUNT)]
        rows = reference.transforms([1.0] * 3, [0.0] * 3, FACTORS, COUNT, "mean")
        places = [(row["scale"], row["translation"]) for row in rows]
        for name, read in READERS.items():
            found = read(folder / store)
            assert len(found) == len(levels), (name, version, len(found))
            for (array, scale, translation), level, place in zip(found, levels, places, strict=True):
                assert array.shape == level.shape and (array == level).all(), f"{name} {version}: other values"
                assert close(scale, place[0]) and close(translation, place[1]), (name, version, scale, translation, place)
            print(f"{name:<12} OME-Zarr {version}: {len(found)} levels with their values, scales and translations")
        expected[store] = [
            {"shape": level.shape, "values": level.reshape(-1).tolist(), "scale": place[0], "translation": place[1]}
            for level, place in zip(levels, places, strict=True)
        ]

    # OpenLayers divides the width of the box by the number of columns: all levels cover the same width. 0 is missing there.
    geo = rng.integers(1, 65_536, (37, 52), "uint16")
    geo.astype("<u2").tofile(folder / "geo.raw")
    run("create", "geo.zarr", "--group")
    run("create", "geo.zarr/0", "--group")
    new = ["--dtype", "uint16", "--shape", "37,52", "--chunks", "16,16", "--dimension-names", "y,x"]
    run("create", "geo.zarr/0/b04", *new, "--from", "geo.raw")
    for name, value in {
        "spatial:dimensions": ["y", "x"], "spatial:transform": TRANSFORM, "proj:code": "EPSG:32633",
    }.items():
        run("attrs", "set", "geo.zarr", name, json.dumps(value))
    run("pyramid", "geo.zarr", "--levels", COUNT, "--metadata", "multiscales", "-q")
    expected["geo.zarr"] = [
        {"shape": level.shape, "values": level.reshape(-1).tolist(), "resolution": 10.0 * 2**k}
        for k, level in enumerate([geo, *reference.pyramid(geo, (2, 2), "mean", COUNT)])
    ]
    (folder / "expected.json").write_text(json.dumps(expected))


def close(found, wanted):
    return np.allclose(found, wanted, rtol=1e-12, atol=0)


def with_ome_zarr_py(path):
    """Returns the array, scale and translation of each level."""
    from ome_zarr.io import parse_url
    from ome_zarr.reader import Reader

    place = parse_url(str(path))
    assert place is not None, f"parse_url finds nothing in {path}"
    (node,) = [node for node in Reader(place)() if node.data]
    found = []
    for array, transforms in zip(node.data, node.metadata["coordinateTransformations"], strict=True):
        # It hands the transformations over as they are: in 0.6 a sequence.
        parts = [part for one in transforms for part in one.get("transformations", [one])]
        of = {part["type"]: part[part["type"]] for part in parts}
        found.append((np.asarray(array), of["scale"], of.get("translation", [0.0] * array.ndim)))
    return found


def with_ngff_zarr(path):
    """Returns the array, scale and translation of each level."""
    import ngff_zarr

    images = ngff_zarr.from_ngff_zarr(str(path), validate=True).images
    return [
        (np.asarray(image.data), [image.scale[d] for d in image.dims], [image.translation[d] for d in image.dims])
        for image in images
    ]


READERS = {"ome-zarr-py": with_ome_zarr_py, "ngff-zarr": with_ngff_zarr}

if __name__ == "__main__":
    main(str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2]))
