//! What is told of a snapshot and of a virtual chunk container.

use std::time::SystemTime;

use crate::id::SnapshotId;

/// A snapshot in the history of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SnapshotInfo {
    /// The id.
    pub id: SnapshotId,
    /// The snapshot before this one, or `None` for the first.
    pub parent: Option<SnapshotId>,
    /// When it was written.
    pub time: SystemTime,
    /// What its writer says of it.
    pub message: String,
}

/// A container of virtual chunks: a place that the configuration of a repository names.
///
/// Chunks are only read there if the caller allows it: a container allows nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct VirtualChunkContainer {
    /// The name, by which locations `vcc://NAME/path` refer to it.
    pub name: Option<String>,
    /// What the URLs in it begin with.
    pub url_prefix: String,
}
