"""Migrates copies of stores of formats 2 and 1 with `zarr migrate`, and reads them before and after with
zarr-python. If arrays have dimension names, it also reads them with xarray.

  python3 migrate.py [--copy] ZARR STORE...        (needs: pip install zarr xarray; ZARR is the command)

With --copy it uses `zarr copy --zarr-format 3` instead.

Each STORE is a store or a folder of stores. Values, types and attributes must be equal, existing files must not change,
and a second run must have nothing to do. Prints one line per store: `equal`, `refused` with the reason of the command,
`unread` if zarr-python could not read it before, `unknown` if zarr-python cannot read the result (the values are those
that ZARR has read before), or DIFFERENT with the differences. The exit status is 1 if any store is different."""
import collections
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import warnings

import numpy
import xarray
import zarr

HIDDEN = {"_ARRAY_DIMENSIONS", "_FillValue"}


def run(*args):
    return subprocess.run([str(arg) for arg in args], capture_output=True)


def files(store):
    return {path.relative_to(store): path.read_bytes() for path in store.rglob("*") if path.is_file()}


def is_old_array(store):
    try:
        return json.loads((store / "meta").read_text())["zarr_format"] == 1
    except (OSError, ValueError, KeyError, TypeError):
        return False


def find(given):
    """Returns the stores of formats 2 and 1 in a folder."""
    if is_old_array(given) or any((given / name).exists() for name in (".zarray", ".zgroup")):
        yield given
    elif given.is_dir() and not (given / "zarr.json").exists():
        for path in sorted(given.iterdir()):
            yield from find(path)


def little_endian(values):
    """Returns the values in little-endian byte order."""
    values = numpy.asarray(values)
    return values.astype(values.dtype.newbyteorder("<")) if values.dtype.kind not in "OT" else values.astype(object)


def same(a, b):
    a, b = little_endian(a), little_endian(b)
    if a.dtype.kind == "O" or b.dtype.kind == "O":
        return a.shape == b.shape and repr(a.tolist()) == repr(b.tolist())
    return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()


def attributes(node):
    found = {name: value for name, value in node.attrs.asdict().items() if name not in HIDDEN}
    return json.dumps(found, sort_keys=True)


def nodes(store, zarr_format):
    """Returns the values and attributes of all nodes, by path."""
    root = zarr.open(str(store), mode="r", zarr_format=zarr_format, use_consolidated=False)
    found = {"": root}
    if isinstance(root, zarr.Group):
        found.update(root.members(max_depth=None, use_consolidated_for_children=False))
    return {path: (attributes(node), node[...] if isinstance(node, zarr.Array) else None) for path, node in found.items()}


def datasets(store, zarr_format, consolidated):
    """Returns the datasets of xarray for all groups, by path."""
    root = zarr.open(str(store), mode="r", zarr_format=zarr_format, use_consolidated=False)
    if not isinstance(root, zarr.Group):
        return {}
    groups = [path for path, node in root.members(max_depth=None) if isinstance(node, zarr.Group)]
    found = {}
    for path in ["", *groups]:
        try:
            data = xarray.open_zarr(store, group=path, zarr_format=zarr_format, consolidated=consolidated and not path)
            for attrs in [data.attrs, *(data[name].attrs for name in data.variables)]:
                # xarray hides these in format 2.
                for name in [name for name in attrs if name.lower().startswith("_nc")]:
                    del attrs[name]
            found[path] = data.load()
        except Exception as error:
            found[path] = error
    return found


def different_nodes(before, after):
    for path in before.keys() | after.keys():
        if path not in before or path not in after:
            yield f"{path!r} exists only {'after' if path in after else 'before'}"
            continue
        if before[path][0] != after[path][0]:
            yield f"{path!r}: attributes {before[path][0]} and {after[path][0]}"
        if (before[path][1] is None) != (after[path][1] is None) or not (
            before[path][1] is None or same(before[path][1], after[path][1])
        ):
            yield f"{path!r}: values"


def different_datasets(before, after, how):
    for path, data in before.items():
        other = after[path]
        if isinstance(data, Exception):
            continue
        if isinstance(other, Exception):
            yield f"xarray {how}, {path!r}: {type(other).__name__}: {str(other).splitlines()[0][:150]}"
        elif not data.identical(other):
            names = [n for n in data.variables if n not in other.variables or not data[n].identical(other[n])]
            yield f"xarray {how}, {path!r}: variables {names}"


def ours(command, store):
    """Returns what the command itself reads, by path."""
    paths = sorted(p.parent for name in (".zarray", "zarr.json", "meta") for p in store.rglob(name))
    return {path.relative_to(store): run(command, "cat", "--stored", "--format", "json", path).stdout for path in paths}


def check(command, store, work):
    """Yields the differences after the migration."""
    copy = work / "copy.zarr"
    shutil.copytree(store, copy)
    stored = files(copy)
    dry = run(command, "migrate", "v3", copy, "--dry-run", "--json")
    if files(copy) != stored:
        yield "the dry run has changed something"
    if dry.returncode:
        done = run(command, "migrate", "v3", copy, "--json")
        if (dry.stderr, dry.returncode, files(copy)) != (done.stderr, done.returncode, stored):
            yield "the dry run was refused with another message, or a file has changed"
        raise Other("refused", dry.stderr.decode().splitlines()[0].partition("zarr: ")[2])
    is_old = is_old_array(copy)
    own, raw = ours(command, copy), run(command, "cat", "--format", "raw", copy).stdout
    error = None
    before, seen = {}, []
    try:
        # No other program reads format 1 any more.
        if not is_old:
            before = nodes(copy, 2)
            uses = [False, True] if (copy / ".zmetadata").exists() else [False]
            seen = [(use, datasets(copy, 2, use)) for use in uses]
    except Exception as e:
        error = Other("unread", short(e))
    run(command, "migrate", "v3", copy, "--quiet").check_returncode()
    written = {step["key"] for step in json.loads(dry.stdout)["steps"]}
    changed = {str(path) for path, text in files(copy).items() if stored.get(path) != text}
    if changed != written:
        yield f"announced {sorted(written)}, changed {sorted(changed)}"
    again = run(command, "migrate", "v3", copy, "--json")
    if again.returncode or json.loads(again.stdout)["steps"]:
        yield f"a second run does something: {again.stdout} {again.stderr}"
    for removed in (False, True):
        if removed and not is_old:
            run(command, "migrate", "--remove", "v2", copy, "--quiet").check_returncode()
        after = ours(command, copy)
        for path, values in own.items():
            if after[path] != values:
                yield f"{path}: values as the command reads them"
        if error:
            continue
        try:
            after = nodes(copy, 3)
        except Exception as e:
            error = Other("unknown", short(e))
            continue
        if is_old:
            if little_endian(after[""][1]).tobytes() != raw:
                yield "values"
            continue
        yield from different_nodes(before, after)
        for use, data in seen:
            how = "with consolidated metadata" if use else "without consolidated metadata"
            yield from different_datasets(data, datasets(copy, 3, use), how)
    if error:
        raise error


def check_copy(command, store, work):
    """Yields the differences in a copy of format 3."""
    copy = work / "copy.zarr"
    done = run(command, "copy", "--quiet", "--zarr-format", "3", store, copy)
    if done.returncode:
        raise Other("refused", done.stderr.decode().splitlines()[0].partition("zarr: ")[2])
    if is_old_array(store):
        if little_endian(nodes(copy, 3)[""][1]).tobytes() != run(command, "cat", "--format", "raw", store).stdout:
            yield "values"
        return
    uses = [False, True] if (store / ".zmetadata").exists() else [False]
    try:
        before = nodes(store, 2)
    except Exception as e:
        raise Other("unread", short(e))
    try:
        after = nodes(copy, 3)
    except Exception as e:
        raise Other("unknown", short(e))
    yield from different_nodes(before, after)
    for use in uses:
        how = "with consolidated metadata" if use else "without consolidated metadata"
        yield from different_datasets(datasets(store, 2, use), datasets(copy, 3, use), how)


def short(error):
    return f"{type(error).__name__}: {str(error)[:150]}"


class Other(Exception):
    """A verdict that is neither equal nor different."""


def main(command, *given):
    warnings.simplefilter("ignore")
    verdicts = collections.Counter()
    one = check
    if command == "--copy":
        one, command, given = check_copy, given[0], given[1:]
    for folder in map(pathlib.Path, given):
        for store in find(folder):
            with tempfile.TemporaryDirectory() as work:
                try:
                    found = list(one(command, store, pathlib.Path(work)))
                    verdict, message = ("DIFFERENT", "; ".join(found)) if found else ("equal", "")
                except Other as error:
                    verdict, message = error.args
            verdicts[verdict] += 1
            print(f"{verdict:10} {store.name:40} {message}".rstrip(), flush=True)
    print(", ".join(f"{count} {verdict}" for verdict, count in sorted(verdicts.items())))
    return 1 if verdicts["DIFFERENT"] else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
