//! Snapshots: the nodes of a hierarchy, searched in place.

use std::cmp::Ordering;

use zarr_traits::{Bytes, Key, Prefix, Storage, StoreError, StoreResult};

use crate::error::{corrupt, too_much};
use crate::file::{self, Kind};
use crate::flat::{Elements, Flat, Table, Wrong};
use crate::id::SnapshotId;
use crate::limits::IcechunkLimits;

/// A snapshot, whose nodes are known to be in the order of their paths.
#[derive(Debug)]
pub(crate) struct Snapshot {
    payload: Bytes,
    nodes: Elements,
}

impl Snapshot {
    /// Reads the snapshot with this id.
    pub(crate) async fn read(
        storage: &Storage,
        root: &Prefix,
        id: SnapshotId,
        limits: &IcechunkLimits,
    ) -> StoreResult<Self> {
        let (key, payload) = payload(storage, root, id, limits).await?;
        Self::of(payload, id, limits).map_err(|e| e.with_key(&key))
    }

    fn of(payload: Bytes, id: SnapshotId, limits: &IcechunkLimits) -> StoreResult<Self> {
        let root = checked(&payload, id)?;
        let nodes = root.elements(2, "nodes")?.ok_or(root.missing("nodes"))?;
        if nodes.len > limits.nodes {
            let message =
                format!("the snapshot has {} nodes, at most {} are accepted", nodes.len, limits.nodes);
            return Err(too_much(message));
        }
        let snapshot = Self { payload, nodes };
        let mut before: Option<&str> = None;
        for index in 0..nodes.len {
            let path = snapshot.node(index)?.path;
            if before.is_some_and(|before| before >= path) {
                return Err(corrupt("the nodes are not in the order of their paths"));
            }
            before = Some(path);
        }
        Ok(snapshot)
    }

    /// The number of nodes.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len
    }

    /// The bytes of the inflated file.
    pub(crate) fn size(&self) -> usize {
        self.payload.len()
    }

    /// Returns a node.
    pub(crate) fn node(&self, index: usize) -> Flat<Node<'_>> {
        let table = self.nodes.table(&self.payload, index, "nodes")?;
        let path = table.text(1, "path")?.ok_or(table.missing("path"))?;
        match path.strip_prefix('/') {
            Some(path) => Ok(Node { table, path }),
            None => Err(Wrong::new("path", table.place(), "it does not begin with \"/\"")),
        }
    }

    /// Returns the index of the node at a path without the `/` at its start.
    pub(crate) fn find(&self, path: &str) -> Flat<Option<usize>> {
        let index = self.position(|other| other < path)?;
        let is_it = index < self.len() && self.node(index)?.path == path;
        Ok(is_it.then_some(index))
    }

    /// Returns the number of nodes at the start whose paths, without the first `/`, are `before`.
    pub(crate) fn position(&self, before: impl Fn(&str) -> bool) -> Flat<usize> {
        let order = |path: &str| if before(path) { Ordering::Less } else { Ordering::Greater };
        searched(self.len(), |index| Ok(order(self.node(index)?.path)))
            .map(|found| found.unwrap_or_else(|at| at))
    }

    /// Returns bytes of a node without a copy.
    pub(crate) fn shared(&self, bytes: &[u8]) -> Bytes {
        self.payload.slice_ref(bytes)
    }
}

/// Returns the key of the file of a snapshot, and its payload.
pub(crate) async fn payload(
    storage: &Storage,
    root: &Prefix,
    id: SnapshotId,
    limits: &IcechunkLimits,
) -> StoreResult<(Key, Bytes)> {
    let key = root.key(&format!("snapshots/{id}"))?;
    match file::read(storage, &key, Kind::Snapshot, limits).await? {
        Some(payload) => Ok((key, payload)),
        None => Err(absent().with_key(&key)),
    }
}

/// Returns the error of a snapshot that is not there.
pub(crate) fn absent() -> StoreError {
    StoreError::absent(
        "there is no such snapshot: it may have expired, or this is not an Icechunk repository",
    )
}

/// Returns the table of a snapshot, which must have this id.
pub(crate) fn checked(payload: &Bytes, id: SnapshotId) -> StoreResult<Table<'_>> {
    let root = Table::root(payload)?;
    file::check_id(&root, id, "snapshot")?;
    Ok(root)
}

/// A node of a snapshot.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Node<'a> {
    table: Table<'a>,
    /// The path without the `/` at its start.
    pub(crate) path: &'a str,
}

impl<'a> Node<'a> {
    /// The bytes of `zarr.json`.
    pub(crate) fn document(&self) -> Flat<&'a [u8]> {
        self.table.bytes(2, "user_data")?.ok_or(self.table.missing("user_data"))
    }

    pub(crate) fn id(&self) -> Flat<[u8; 8]> {
        self.table.fixed(0, "id")?.copied().ok_or(self.table.missing("id"))
    }

    /// Returns the data of an array, or `None` for a group.
    pub(crate) fn array(&self) -> Flat<Option<Table<'a>>> {
        match self.table.u8(3, 0, "node_data")? {
            1 => self.table.table(4, "node_data")?.ok_or(self.table.missing("node_data")).map(Some),
            2 => Ok(None),
            _ => Err(Wrong::new("node_data", self.table.place(), "the kind of the node is not known")),
        }
    }
}

/// Searches `len` elements in ascending order. As [`slice::binary_search_by`], with errors.
pub(crate) fn searched(len: usize, order: impl Fn(usize) -> Flat<Ordering>) -> Flat<Result<usize, usize>> {
    let (mut start, mut end) = (0, len);
    while start < end {
        let middle = start + (end - start) / 2;
        match order(middle)? {
            Ordering::Less => start = middle + 1,
            Ordering::Greater => end = middle,
            Ordering::Equal => return Ok(Ok(middle)),
        }
    }
    Ok(Err(start))
}
