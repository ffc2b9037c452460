"""Asks random selections of `conformance-selections` and compares the answers with NumPy; some also with zarr-python.

`cargo xtask selections` runs it: judge.py PROGRAM CASES SEED
"""

import json
import random
import subprocess
import sys

import numpy as np

# Every fifth case is also a selection of a zarr-python array, where it has one: both must mean the same.
ALSO_ZARR = 5


def positions(rng, length, most):
    """A list of positions, some of them from the end and some repeated."""
    count = rng.randint(0 if length == 0 else 1, most) if length else 0
    return [rng.randint(-length, length - 1) for _ in range(count)]


def steps(rng, length):
    """A range with a step: for us (start, end, step) with the step from the last element if negative, and as a slice."""
    start = rng.randint(0, length)
    end = rng.randint(start, length)
    step = rng.choice([1, 1, 1, 2, 3, 7, -1, -1, -2, -5])
    ours = [start, end, step]
    if rng.random() < 0.3 and 0 < start and 0 < end < length:
        ours = [start - length, end - length, step]
    elif end == length and rng.random() < 0.5:
        ours = [start, None, step]
    if step > 0:
        return ours, np.arange(start, end, step)
    return ours, np.arange(end - 1, start - 1, step)


def axes(rng, shape, kinds):
    """An entry for each dimension, some trailing ones left out, and the indices of each."""
    entries, indices, drops = [], [], []
    for length in shape[: rng.randint(0, len(shape)) if rng.random() < 0.2 else len(shape)]:
        kind = rng.choice(kinds) if length else "range"
        drops.append(kind == "index")
        if kind == "range":
            ours, picked = steps(rng, length)
            entries.append({"range": ours})
        elif kind == "index":
            index = rng.randint(-length, length - 1)
            entries.append({"index": index})
            picked = np.array([index])
        elif kind == "list":
            listed = positions(rng, length, 12)
            entries.append({"list": listed})
            picked = np.array(listed, dtype=np.int64)
        else:
            mask = [rng.random() < 0.4 for _ in range(length)]
            entries.append({"mask": mask})
            picked = np.nonzero(mask)[0]
        indices.append(picked)
    for length in shape[len(entries) :]:
        indices.append(np.arange(length))
        drops.append(False)
    return entries, indices, drops


def case(rng):
    """A question, and a function that selects the same of an array of NumPy, for reading and writing."""
    rank = rng.randint(0, 4)
    shape = [rng.choice([0, 1, 2, 5, 9, 13, 20]) if rng.random() < 0.9 else rng.randint(1, 40) for _ in range(rank)]
    chunks = [rng.randint(1, 8) for _ in shape]
    shards = [n * rng.randint(1, 4) for n in chunks] if rng.random() < 0.35 else None
    question = {
        "shape": shape,
        "chunks": chunks,
        "shards": shards,
        "codec": rng.choice(["none", "zstd", "transpose"]),
        "writes": rng.random() < 0.4,
    }
    form = rng.choice(["basic", "outer", "outer", "points", "mixed", "mask", "blocks"])
    if form in ("points", "mixed", "mask") and (rank == 0 or 0 in shape):
        form = "basic"
    if form in ("basic", "outer"):
        kinds = ["range", "range", "index"] if form == "basic" else ["range", "index", "list", "list", "mask"]
        entries, indices, drops = axes(rng, shape, kinds)
        question["selection"] = {"axes": entries}
        keep = tuple(len(i) for i, drop in zip(indices, drops) if not drop)
        return form, question, np.ix_(*indices) if indices else (), keep
    if form == "points":
        count = rng.randint(0, 30)
        lists = [[rng.randint(-n, n - 1) for _ in range(count)] for n in shape]
        question["selection"] = {"points": lists}
        return form, question, tuple(np.array(one, dtype=np.int64) for one in lists), (count,)
    if form == "mixed":
        # Points in neighbouring dimensions, ranges in the others: the points are one dimension in their place.
        first = rng.randint(0, rank - 1)
        last = rng.randint(first, rank - 1)
        count = rng.randint(1, 12)
        entries, key, keep = [], [], []
        for dim, length in enumerate(shape):
            if first <= dim <= last:
                listed = [rng.randint(-length, length - 1) for _ in range(count)]
                entries.append({"points": listed})
                key.append(np.array(listed, dtype=np.int64))
                if dim == first:
                    keep.append(count)
            else:
                start = rng.randint(0, length)
                end = rng.randint(start, length)
                entries.append({"range": [start, end, 1]})
                key.append(slice(start, end))
                keep.append(end - start)
        question["selection"] = {"axes": entries}
        return form, question, tuple(key), tuple(keep)
    if form == "mask":
        dims = rng.randint(1, rank)
        mask = np.array([rng.random() < 0.3 for _ in range(int(np.prod(shape[:dims])))], dtype=bool)
        question["selection"] = {"mask": [shape[:dims], mask.tolist()]}
        mask = mask.reshape(shape[:dims])
        return form, question, mask, (int(mask.sum()), *shape[dims:])
    entries, key, keep = [], [], []
    grid = shards or chunks
    for length, chunk in zip(shape, grid):
        count = -(-length // chunk)
        if count and rng.random() < 0.3:
            index = rng.randint(-count, count - 1)
            entries.append({"index": index})
            start, end = index % count, index % count + 1
        else:
            start = rng.randint(0, count)
            end = rng.randint(start, count)
            entries.append({"range": [start, end, 1]})
        key.append(slice(start * chunk, min(end * chunk, length)))
        keep.append(max(0, min(end * chunk, length) - min(start * chunk, length)))
    question["selection"] = {"blocks": entries}
    return form, question, tuple(key), tuple(keep)


def by_zarr(form, question, key):
    """What zarr-python reads with the same selection, or None where it has none."""
    import zarr

    selection = question["selection"]
    if form == "mixed" or 0 in question["shape"] or not question["shape"]:
        return None
    if any(r[2] < 0 for r in (e.get("range", [0, 0, 1]) for e in selection.get("axes", []))):
        return None
    array = zarr.create_array(
        store={}, shape=question["shape"], chunks=question["chunks"], shards=question["shards"], dtype="int64"
    )
    array[...] = np.arange(int(np.prod(question["shape"]))).reshape(question["shape"])
    if form in ("basic", "outer"):
        return array.oindex[tuple(axis.ravel() for axis in key)]
    if form == "points":
        return array.vindex[key]
    if form == "mask":
        return array.vindex[key] if key.ndim == len(question["shape"]) else None
    if question["shards"] is None:
        pick = [e["index"] if "index" in e else slice(*e["range"][:2]) for e in selection["blocks"]]
        return array.blocks[tuple(pick)] if all(s.start < s.stop for s in key) else None
    return None


def main(program, cases, seed):
    rng = random.Random(seed)
    counts, zarr_counts = {}, 0
    with subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as ours:
        for number in range(cases):
            form, question, key, keep = case(rng)
            ours.stdin.write(json.dumps(question) + "\n")
            ours.stdin.flush()
            answer = json.loads(ours.stdout.readline())
            whole = np.arange(int(np.prod(question["shape"]))).reshape(question["shape"])
            expected = whole[key].reshape(keep)
            kind = form + (" write" if question["writes"] else " read")
            counts[kind] = counts.get(kind, 0) + 1
            if question["writes"]:
                values = -np.arange(1, expected.size + 1).reshape(whole[key].shape)
                whole[key] = values
                right = answer.get("array") == whole.ravel().tolist()
            else:
                right = answer.get("shape") == list(keep) and answer["elements"] == expected.ravel().tolist()
            if not right:
                print(json.dumps(question), "\nanswer", answer, "\nexpected", expected.tolist(), file=sys.stderr)
                return f"case {number} (seed {seed}) differs from NumPy"
            if number % ALSO_ZARR == 0 and not question["writes"]:
                read = by_zarr(form, question, key)
                if read is not None:
                    zarr_counts += 1
                    if np.asarray(read).ravel().tolist() != expected.ravel().tolist():
                        print(json.dumps(question), file=sys.stderr)
                        return f"case {number} (seed {seed}): zarr-python means something else"
        ours.stdin.close()
    listed = ", ".join(f"{kind} {count}" for kind, count in sorted(counts.items()))
    print(f"selections: {cases} cases equal to NumPy {np.__version__} (seed {seed}): {listed}")
    print(f"selections: {zarr_counts} of them also read by zarr-python, equal")
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
