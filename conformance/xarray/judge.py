"""Reads datasets of zarr-xarray with xarray, and compares them with those that xarray writes from the same input.

`cargo xtask datasets` runs it: judge.py TABLE FOLDER. FOLDER/ours has our stores, FOLDER/theirs gets those of xarray.
"""

import base64
import collections
import json
import pathlib
import sys
import warnings

import cftime
import numpy as np
import xarray as xr


def elements(given):
    """The elements of a variable of the table, as an array of NumPy."""
    dtype, shape = given["dtype"], tuple(given["shape"])
    values = given["values"]
    if dtype == "cftime":
        flat = np.array([cftime.datetime(*fields, calendar=given["calendar"]) for fields in values] + [None])[:-1]
    elif dtype.startswith(("datetime64", "timedelta64")):
        missing = np.iinfo("int64").min
        flat = np.array([missing if count is None else count for count in values], "int64").view(dtype)
    elif dtype == "string":
        flat = np.array(values + [None], dtype=object)[:-1]
    elif dtype.startswith("bytes"):
        flat = np.array([base64.b64decode(text) for text in values], f"S{dtype.removeprefix('bytes')}")
    elif dtype.startswith("complex"):
        flat = np.array([complex(*map(float, pair)) for pair in values], dtype)
    elif dtype.startswith("float"):
        flat = np.array([float(value) for value in values], dtype)
    else:
        flat = np.array(values, dtype)
    return flat.reshape(shape)


def dataset(given):
    """A dataset of the table."""
    made = xr.Dataset(attrs=given["attrs"])
    for kind in ("coords", "data_vars"):
        for name, variable in given[kind].items():
            made[name] = xr.Variable(variable["dims"], elements(variable), variable["attrs"])
            encoding = dict(variable["encoding"])
            for shape in {"chunks", "shards"} & encoding.keys():
                encoding[shape] = tuple(encoding[shape])
            made[name].encoding = encoding
    return made.set_coords(list(given["coords"]))


def write(row, store):
    """Writes a dataset of the table with xarray, in all of its steps."""
    how = {"zarr_format": row.get("format", 3), "consolidated": True}
    for step in row.get("steps") or [{"op": "create", "input": row["input"]}]:
        group = {"group": step["group"]} if "group" in step else {}
        if step["op"] == "tree":
            tree = {path: dataset(given) for path, given in step["input"].items()}
            xr.DataTree.from_dict(tree).to_zarr(store, **how, **group)
            continue
        given = dataset(step["input"])
        match step["op"]:
            case "create":
                given.to_zarr(store, mode="w-", **how, **group)
            case "replace":
                given.to_zarr(store, mode="w", **how, **group)
            case "add":
                given.to_zarr(store, mode="a", **how, **group)
            case "append":
                given.to_zarr(store, append_dim=step["dim"], **how, **group)
            case "region":
                region = {name: slice(*bounds) for name, bounds in step["region"].items()}
                outside = [name for name, of in given.variables.items() if not set(region) & set(of.dims)]
                given.drop_vars(outside).to_zarr(store, region=region, **group)
            case "auto":
                given.to_zarr(store, region="auto", **group)


def read(row, store):
    """The groups of a store as datasets."""
    steps = row.get("steps", [{}])
    if steps[-1].get("op") == "tree":
        tree = xr.open_datatree(store, engine="zarr")
        return {node.path: node.to_dataset().load() for node in tree.subtree}
    return {"/": xr.open_zarr(store).load()}


def judge(row, folder):
    """Returns what is wrong with our store, or None."""
    ours, theirs = (folder / side / row["id"] for side in ("ours", "theirs"))
    write(row, theirs)
    wanted, found = read(row, theirs), read(row, ours)
    if wanted.keys() != found.keys():
        return f"groups {list(found)}, not {list(wanted)}"
    for path, dataset in wanted.items():
        if not dataset.identical(found[path]):
            return f"{path}: {found[path]}\nis not\n{dataset}"
    return None


def main(table, folder):
    warnings.simplefilter("ignore")
    folder = pathlib.Path(folder)
    counts, failures = collections.Counter(), []
    for row in json.loads(pathlib.Path(table).read_text())["rows"]:
        is_refused = "error" in row or "error" in row.get("ours", {})
        if row["kind"] not in ("write", "append") or is_refused:
            continue
        verdict = row.get("verdict", "same")
        wrong = judge(row, folder)
        answer = "identical" if wrong is None else "different"
        counts[row["kind"], verdict, answer] += 1
        if wrong and verdict == "same":
            failures.append(f"{row['id']}: {wrong}")
    for (kind, verdict, answer), count in sorted(counts.items()):
        print(f"{kind}, {verdict}: {count} {answer}")
    print(f"{sum(counts.values())} datasets of zarr-xarray were read by xarray {xr.__version__}")
    if failures:
        sys.exit("\n".join(failures))


main(*sys.argv[1:])
