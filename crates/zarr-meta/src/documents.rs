//! The metadata documents of a node, by format.

use std::fmt;

use zarr_traits::Bytes;

/// The version of the Zarr format that the documents of a node follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Format {
    /// Version 1: one array in a store, read-only.
    V1,
    /// Version 2.
    V2,
    /// Version 3, both 3.0 and 3.1.
    V3,
}

impl Format {
    /// Returns the value of the member `zarr_format` in documents.
    pub const fn number(self) -> u8 {
        match self {
            Self::V1 => 1,
            Self::V2 => 2,
            Self::V3 => 3,
        }
    }

    /// Returns the name of the document that describes an array of this format.
    pub const fn array_document(self) -> DocumentName {
        match self {
            Self::V1 => DocumentName::Array1,
            Self::V2 => DocumentName::Array2,
            Self::V3 => DocumentName::Node,
        }
    }

    /// Returns the format with this number.
    pub const fn of(number: u8) -> Option<Self> {
        match number {
            1 => Some(Self::V1),
            2 => Some(Self::V2),
            3 => Some(Self::V3),
            _ => None,
        }
    }
}

/// Prints the number.
impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.number().fmt(f)
    }
}

/// The name of a metadata document, below the path of the node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum DocumentName {
    /// `zarr.json`: an array or a group of format 3.
    Node,
    /// `.zarray`: an array of format 2.
    Array2,
    /// `.zgroup`: a group of format 2.
    Group2,
    /// `.zattrs`: the attributes of an array or a group of format 2. A node without attributes may lack it.
    Attributes2,
    /// `meta`: an array of format 1.
    Array1,
    /// `attrs`: the attributes of an array of format 1.
    Attributes1,
}

impl DocumentName {
    /// Returns the name of the object in a store.
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

    /// Returns the document of format 2 or 3 with this name. Documents of format 1 have ordinary names and are not
    /// found.
    pub fn of(name: &str) -> Option<Self> {
        [Self::Node, Self::Array2, Self::Group2, Self::Attributes2].into_iter().find(|d| d.as_str() == name)
    }

    /// Returns the format of the document.
    pub const fn format(self) -> Format {
        match self {
            Self::Node => Format::V3,
            Self::Array2 | Self::Group2 | Self::Attributes2 => Format::V2,
            Self::Array1 | Self::Attributes1 => Format::V1,
        }
    }

    /// Whether a node exists where this document is. Attributes alone are not a node.
    pub const fn makes_node(self) -> bool {
        !matches!(self, Self::Attributes2 | Self::Attributes1)
    }
}

impl fmt::Display for DocumentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The metadata documents of one node as a store has them: bytes by name.
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
    /// Returns a value without documents.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a document like [`insert`](Self::insert).
    #[must_use]
    pub fn with(mut self, name: DocumentName, bytes: impl Into<Bytes>) -> Self {
        self.insert(name, bytes);
        self
    }

    /// Adds a document, or replaces the one of the same name.
    pub fn insert(&mut self, name: DocumentName, bytes: impl Into<Bytes>) {
        self.0.retain(|(n, _)| *n != name);
        self.0.push((name, bytes.into()));
    }

    /// Returns the document of this name.
    pub fn get(&self, name: DocumentName) -> Option<&Bytes> {
        self.0.iter().find(|(n, _)| *n == name).map(|(_, bytes)| bytes)
    }

    /// Whether one of the documents makes a node.
    pub fn make_node(&self) -> bool {
        self.format().is_some()
    }

    /// Returns the format of the node; if there are documents of several formats, the newest.
    pub fn format(&self) -> Option<Format> {
        self.0.iter().filter(|(name, _)| name.makes_node()).map(|(name, _)| name.format()).max()
    }

    /// Returns the names of the documents that a reader asks a store for, in steps. The documents of a step are read
    /// together. If they [make no node](Self::make_node), the reader goes on with the next step. Format 1 is read only if
    /// `format` is [`Format::V1`].
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
