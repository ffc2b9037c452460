//! The operations that a store supports, and where its futures may be polled.

use crate::range::Fetching;

/// The operations that a store supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Capabilities {
    /// Where the futures of this store may be polled.
    pub drive: Drive,
    /// [`Op::List`](super::Op::List) and [`Op::ListDir`](super::Op::ListDir) are supported.
    pub list: bool,
    /// [`Op::Put`](super::Op::Put), [`Op::Delete`](super::Op::Delete), [`Op::DeletePrefix`](super::Op::DeletePrefix)
    /// and [`Op::Sync`](super::Op::Sync) are supported.
    pub write: bool,
    /// A [suffix range](crate::ByteRange::Suffix) takes one request. Otherwise the reader first asks for the size.
    pub suffix: bool,
    /// [`PutMode::Create`](super::PutMode::Create) is supported.
    pub put_create: bool,
    /// [`PutMode::IfUnchanged`](super::PutMode::IfUnchanged) is supported.
    pub put_if: bool,
    /// A [`Delete`](super::Delete) with a version is supported.
    pub delete_if: bool,
    /// [`Op::Origin`](super::Op::Origin) is supported and, in a store that can be written, [`Op::Copy`](super::Op::Copy).
    pub copy: bool,
    /// [`Op::PutRanges`](super::Op::PutRanges) is supported, and costs less than a read and a put of the whole object.
    pub put_ranges: bool,
}

impl Capabilities {
    /// Returns the capabilities of a local store that supports every operation but those that only some stores perform
    /// better than their callers: [`copy`](Self::copy) and [`put_ranges`](Self::put_ranges).
    pub fn inline() -> Self {
        Self {
            drive: Drive::Inline,
            list: true,
            write: true,
            suffix: true,
            put_create: true,
            put_if: true,
            delete_if: true,
            copy: false,
            put_ranges: false,
        }
    }

    /// Returns the capabilities of a store behind a network: reads, listings and unconditional writes. Set further
    /// fields for services that support more.
    pub fn remote(in_flight: usize, merge_gap: u64) -> Self {
        Self {
            drive: Drive::remote(in_flight, merge_gap),
            suffix: false,
            put_create: false,
            put_if: false,
            delete_if: false,
            ..Self::inline()
        }
    }

    /// Returns the capabilities without the operations that write.
    #[must_use]
    pub fn read_only(self) -> Self {
        Self { write: false, put_create: false, put_if: false, delete_if: false, put_ranges: false, ..self }
    }

    /// Returns the capabilities without listings.
    #[must_use]
    pub fn without_list(self) -> Self {
        Self { list: false, ..self }
    }
}

/// Where the futures of a store may be polled. A wrong value only makes reads slow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Drive {
    /// The futures do their work while they are polled (a file system, memory). The engine polls them on its workers.
    Inline,
    /// The futures wait for a network. The engine keeps many of them in flight on the caller's task.
    #[non_exhaustive]
    Remote {
        /// The number of requests that may be in flight at once.
        in_flight: usize,
        /// The largest gap, in bytes, between two ranges that are cheaper to read as one.
        merge_gap: u64,
    },
}

impl Drive {
    /// Describes a store behind a network; see the fields of [`Remote`](Self::Remote).
    pub fn remote(in_flight: usize, merge_gap: u64) -> Self {
        Self::Remote { in_flight, merge_gap }
    }

    /// The number of requests worth sending at once; 1 for a local store.
    pub fn in_flight(self) -> usize {
        match self {
            Self::Inline => 1,
            Self::Remote { in_flight, .. } => in_flight.max(1),
        }
    }

    /// The most requests of all callers in flight. A local store works on the thread of its caller, so it has no limit: no
    /// caller need wait for another.
    pub fn most_in_flight(self) -> usize {
        match self {
            Self::Inline => usize::MAX,
            remote => remote.in_flight(),
        }
    }

    /// Returns how to combine reads of parts of objects in such a store.
    pub fn fetching(self) -> Fetching {
        match self {
            Self::Inline => Fetching::new(4 << 10, 1 << 20, 16 << 10),
            Self::Remote { merge_gap: gap, .. } => Fetching { gap, span: gap.saturating_mul(16), whole: gap },
        }
    }
}
