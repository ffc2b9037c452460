//! The documents that make a node, by format (checklist A1, H1, I1, F14, F15).

use std::fmt;

use zarr_traits::Bytes;

/// The version of the Zarr format that the documents of a node follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Format {
    /// Version 1: one array to a store, read only.
    V1,
    /// Version 2.
    V2,
    /// Version 3, 3.0 and 3.1 alike.
    V3,
}

impl Format {
    /// The number that stands as `zarr_format` in documents.
    pub const fn number(self) -> u8 {
        match self {
            Self::V1 => 1,
            Self::V2 => 2,
            Self::V3 => 3,
        }
    }

    /// The format of this number.
    pub const fn of(number: u8) -> Option<Self> {
        match number {
            1 => Some(Self::V1),
            2 => Some(Self::V2),
            3 => Some(Self::V3),
            _ => None,
        }
    }
}

/// The number.
impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.number().fmt(f)
    }
}

/// The name of a document of a node, below the path of the node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum DocumentName {
    /// `zarr.json`: an array or a group of format 3.
    Node,
    /// `.zarray`: an array of format 2.
    Array2,
    /// `.zgroup`: a group of format 2.
    Group2,
    /// `.zattrs`: the attributes of an array or a group of format 2. Where it is absent there are none.
    Attributes2,
    /// `meta`: an array of format 1.
    Array1,
    /// `attrs`: the attributes of an array of format 1.
    Attributes1,
}

impl DocumentName {
    /// The name as a store knows it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Node => crate::path::DOCUMENT,
            Self::Array2 => ".zarray",
            Self::Group2 => ".zgroup",
            Self::Attributes2 => ".zattrs",
            Self::Array1 => "meta",
            Self::Attributes1 => "attrs",
        }
    }

    /// The document of formats 2 and 3 that has this name. Those of format 1 are ordinary names (checklist I5).
    pub fn of(name: &str) -> Option<Self> {
        [Self::Node, Self::Array2, Self::Group2, Self::Attributes2].into_iter().find(|d| d.as_str() == name)
    }

    /// The format that the document is of.
    pub const fn format(self) -> Format {
        match self {
            Self::Node => Format::V3,
            Self::Array2 | Self::Group2 | Self::Attributes2 => Format::V2,
            Self::Array1 | Self::Attributes1 => Format::V1,
        }
    }

    /// Whether there is a node where this document is: attributes alone make none.
    pub const fn makes_node(self) -> bool {
        !matches!(self, Self::Attributes2 | Self::Attributes1)
    }
}

impl fmt::Display for DocumentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The documents of one node as a store has them: bytes by name.
///
/// ```
/// use zarr_meta::{DocumentName, Documents, Ignore, Limits, NodeMeta};
///
/// let documents = Documents::new().with(DocumentName::Group2, r#"{"zarr_format": 2}"#);
/// let node = NodeMeta::parse(&documents, &Limits::default(), &mut Ignore)?;
/// assert!(matches!(node, Some(NodeMeta::Group(_))));
/// # Ok::<(), zarr_meta::MetaError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Documents(Vec<(DocumentName, Bytes)>);

impl Documents {
    /// No documents.
    pub fn new() -> Self {
        Self::default()
    }

    /// With one document more.
    #[must_use]
    pub fn with(mut self, name: DocumentName, bytes: impl Into<Bytes>) -> Self {
        self.insert(name, bytes);
        self
    }

    /// Adds a document, in place of one of the same name.
    pub fn insert(&mut self, name: DocumentName, bytes: impl Into<Bytes>) {
        self.0.retain(|(n, _)| *n != name);
        self.0.push((name, bytes.into()));
    }

    /// The document of this name.
    pub fn get(&self, name: DocumentName) -> Option<&Bytes> {
        self.0.iter().find(|(n, _)| *n == name).map(|(_, bytes)| bytes)
    }

    /// Whether one of them makes a node.
    pub fn make_node(&self) -> bool {
        self.format().is_some()
    }

    /// The format of the node that they make, the newest where they make several.
    pub fn format(&self) -> Option<Format> {
        self.0.iter().filter(|(name, _)| name.makes_node()).map(|(name, _)| name.format()).max()
    }

    /// What a reader asks a store for (checklist F15): the documents of one step together, and the next step when those
    /// [make no node](Self::make_node). Format 1 is asked for only by who names it.
    pub const fn steps(format: Option<Format>) -> &'static [&'static [DocumentName]] {
        use DocumentName::{Array1, Array2, Attributes1, Attributes2, Group2, Node};
        match format {
            None => &[&[Node], &[Array2, Group2, Attributes2]],
            Some(Format::V3) => &[&[Node]],
            Some(Format::V2) => &[&[Array2, Group2, Attributes2]],
            Some(Format::V1) => &[&[Array1, Attributes1]],
        }
    }
}
