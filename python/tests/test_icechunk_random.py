"""Repositories that icechunk writes at random: every state has the nodes, attributes and values that icechunk reads."""

from __future__ import annotations

import pathlib
import random
from collections.abc import Iterator
from typing import Any

import icechunk
import numpy as np
import pytest
import zarr

import zarr_rs

#: Icechunk 2 has versions of both specifications, and moves nodes.
IS_2 = int(icechunk.__version__.split(".")[0]) >= 2

NAMES = ["a", "b", "c d", "é", "x.y"]


class Writer:
    """Changes a repository at random."""

    def __init__(self, seed: int, folder: pathlib.Path) -> None:
        self.random = random.Random(seed)
        self.folder = folder
        self.data = folder / "data"
        self.data.mkdir()
        place = f"file://{self.data}/"
        config = icechunk.RepositoryConfig.default()
        config.inline_chunk_threshold_bytes = self.random.choice([0, 40, 512])
        config.set_virtual_chunk_container(
            icechunk.VirtualChunkContainer(place, icechunk.local_filesystem_store(str(self.data)))
        )
        if self.random.random() < 0.6:
            split = icechunk.ManifestSplittingConfig.from_dict(
                {icechunk.ManifestSplitCondition.AnyArray(): {icechunk.ManifestSplitDimCondition.Any(): 2}}
            )
            config.manifest = icechunk.ManifestConfig(splitting=split)
        given: dict[str, Any] = {"spec_version": self.random.choice([1, 2])} if IS_2 else {}
        self.repository = icechunk.Repository.create(
            icechunk.local_filesystem_storage(str(folder / "repository")),
            config,
            authorize_virtual_chunk_access={place: icechunk.credentials.LocalFileSystemAccess if IS_2 else None},
            **given,
        )
        self.branches = ["main"]
        self.tags: list[str] = []

    def run(self) -> None:
        for number in range(self.random.randint(2, 6)):
            session = self.repository.writable_session(self.random.choice(self.branches))
            for _ in range(self.random.randint(1, 4)):
                self.change(session)
            if session.has_uncommitted_changes:
                session.commit(f"change {number}")
            snapshot = session.snapshot_id
            if self.random.random() < 0.3:
                self.branches.append(f"branch-{number}")
                self.repository.create_branch(self.branches[-1], snapshot)
            if self.random.random() < 0.3:
                self.tags.append(f"tag {number}")
                self.repository.create_tag(self.tags[-1], snapshot)
            if self.random.random() < 0.15:
                self.repository.rewrite_manifests(f"rewritten {number}", branch="main")

    def change(self, session: icechunk.Session) -> None:
        root = zarr.open_group(session.store, mode="a", zarr_format=3)
        arrays = [array for _, array in root.members(max_depth=None) if isinstance(array, zarr.Array)]
        kind = self.random.choice(["create", "create", "write", "write", "virtual", "resize", "delete", "attributes", "group"])
        if kind == "create" or not arrays:
            self.create(root)
        elif kind == "write":
            self.write(self.random.choice(arrays))
        elif kind == "virtual":
            self.virtual(session, self.random.choice(arrays))
        elif kind == "resize":
            array = self.random.choice(arrays)
            array.resize(tuple(max(1, length + self.random.randint(-3, 3)) for length in array.shape))
        elif kind == "delete":
            array = self.random.choice(arrays)
            del root[array.path]
        elif kind == "attributes":
            self.random.choice([root, *arrays]).attrs["n"] = self.random.randint(0, 9)
        else:
            root.require_group("/".join(self.random.choices(NAMES, k=2)))

    def create(self, root: zarr.Group) -> None:
        rank = self.random.randint(0, 3)
        shape = tuple(self.random.randint(1, 9) for _ in range(rank))
        chunks = tuple(self.random.randint(1, 4) for _ in range(rank))
        groups = self.random.choices(NAMES, k=self.random.randint(0, 2))
        # A name that no group has.
        path = "/".join([*groups, self.random.choice(NAMES) + "0"])
        if path in root:
            return
        dtype = self.random.choice(["i4", "f8", "u1"])
        array = root.create_array(path, shape=shape, chunks=chunks or (), dtype=dtype, fill_value=3, compressors=None)
        self.write(array)

    def write(self, array: zarr.Array[Any]) -> None:
        region = tuple(slice(*sorted(self.random.choices(range(length + 1), k=2))) for length in array.shape)
        shape = array[region].shape if region else ()
        if 0 not in shape:
            size = int(np.prod(shape))
            array[region] = np.array([self.random.randint(0, 99) for _ in range(size)], array.dtype).reshape(shape)

    def virtual(self, session: icechunk.Session, array: zarr.Array[Any]) -> None:
        size = int(np.prod(array.chunks)) * array.dtype.itemsize
        name = f"{self.random.choice(NAMES)}{self.random.randint(0, 99)}.bin"
        start = self.random.randint(0, 9)
        (self.data / name).write_bytes(self.random.randbytes(start + size))
        index = [self.random.randrange(-(-length // chunk)) for length, chunk in zip(array.shape, array.chunks, strict=True)]
        key = "/".join([array.path, "c", *map(str, index)])
        session.store.set_virtual_ref(key, f"file://{self.data}/{name}", offset=start, length=size)

    def states(self) -> Iterator[tuple[str, icechunk.Session]]:
        """Yields every state by the form of a URL that names it."""
        for branch in self.branches:
            yield f"@branch.{branch}", self.repository.readonly_session(branch)
            for snapshot in self.repository.ancestry(branch=branch):
                yield f"@{snapshot.id}", self.repository.readonly_session(snapshot_id=snapshot.id)
        for tag in self.tags:
            yield f"@tag.{tag}", self.repository.readonly_session(tag=tag)


@pytest.mark.parametrize("seed", range(24))
def test_every_state_of_a_random_repository_is_read_as_icechunk_reads_it(seed: int, tmp_path: pathlib.Path) -> None:
    writer = Writer(seed, tmp_path)
    writer.run()
    compared = set()
    for name, session in writer.states():
        if (name[:4], session.snapshot_id) in compared:
            continue
        compared.add((name[:4], session.snapshot_id))
        location = f"{tmp_path / 'repository'}|icechunk:{name.replace(' ', '%20')}/"
        check(session, location, str(writer.data))


def check(session: icechunk.Session, location: str, data: str) -> None:
    try:
        theirs = zarr.open_group(session.store, mode="r", zarr_format=3)
    except FileNotFoundError:
        # The first snapshot, before the root was written.
        with pytest.raises(FileNotFoundError):
            zarr_rs.open_group(location)
        return
    ours = zarr_rs.open_group(location, references=data)
    expected = dict(theirs.members(max_depth=None))
    found = dict(ours.members(max_depth=None))
    assert found.keys() == expected.keys()
    assert ours.attrs.asdict() == theirs.attrs.asdict()
    for path, node in expected.items():
        assert found[path].attrs.asdict() == node.attrs.asdict()
        if isinstance(node, zarr.Array):
            array = found[path]
            assert isinstance(array, zarr_rs.Array)
            np.testing.assert_array_equal(array[...], node[...], f"{location}, {path}")
