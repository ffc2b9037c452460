//! The registry of known names: a value, passed in where an array is opened. There is no global registry.

use std::collections::HashMap;
use std::sync::Arc;

use crate::codec::{Codec, CodecKind, Repr};
use crate::dtype::{DataType, ExtensionType};
use crate::error::{CodecError, CodecErrorKind, CodecResult};
use crate::grid::ChunkGrid;
use crate::key_encoding::KeyEncoding;
use crate::limits::Limits;
use crate::point::ExtensionPoint;
use crate::transformer::StorageTransformer;

use super::configuration::Configuration;
use super::note::Note;
use super::spec::{Spec, is_private, url_names};

/// The surroundings of an extension that is built.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Context<'a> {
    /// The registry for inner chains and types.
    pub registry: &'a Registry,
    /// The limits on what stored data may cause.
    pub limits: &'a Limits,
    /// The number of chains, or data types, around this one.
    pub depth: usize,
}

impl<'a> Context<'a> {
    /// Builds the context for the extensions of an array.
    pub fn new(registry: &'a Registry, limits: &'a Limits) -> Self {
        Self { registry, limits, depth: 0 }
    }

    /// Returns the context one level deeper.
    #[must_use]
    pub fn inside(self) -> Self {
        Self { depth: self.depth.saturating_add(1), ..self }
    }
}

/// A named extension: its names, and a function that builds it from its configuration.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct NamedEntry<F> {
    /// The name in metadata documents.
    pub name: &'static str,
    /// Further names that are read but never written.
    pub aliases: &'static [&'static str],
    /// Builds the extension.
    pub build: F,
}

impl<F: Copy> NamedEntry<F> {
    /// The extension `name`, built by `build`.
    pub const fn new(name: &'static str, build: F) -> Self {
        Self { name, aliases: &[], build }
    }

    /// Adds further names that are read but never written.
    #[must_use]
    pub const fn with_aliases(self, aliases: &'static [&'static str]) -> Self {
        Self { aliases, ..self }
    }
}

/// The entry of a data type.
pub type DataTypeEntry =
    NamedEntry<fn(&mut Configuration<'_>, &Context<'_>) -> CodecResult<Arc<dyn ExtensionType>>>;

/// The entry of a chunk grid, built from its configuration and the shape of the array.
pub type ChunkGridEntry =
    NamedEntry<fn(&mut Configuration<'_>, &[u64], &Context<'_>) -> CodecResult<Arc<dyn ChunkGrid>>>;

/// The entry of a chunk key encoding.
pub type KeyEncodingEntry =
    NamedEntry<fn(&mut Configuration<'_>, &Context<'_>) -> CodecResult<Arc<dyn KeyEncoding>>>;

/// The entry of a storage transformer.
pub type TransformerEntry =
    NamedEntry<fn(&mut Configuration<'_>, &Context<'_>) -> CodecResult<Arc<dyn StorageTransformer>>>;

/// The registry entry of a codec: its names and the function that builds it.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct CodecEntry {
    /// The name in metadata documents.
    pub name: &'static str,
    /// Further names that are read but never written.
    pub aliases: &'static [&'static str],
    /// The kind of codec that [`build`](Self::build) returns.
    pub kind: CodecKind,
    /// Builds the codec.
    pub build: BuildCodec,
}

/// A function that builds a codec from its configuration for a representation.
pub type BuildCodec = fn(&mut Configuration<'_>, &Repr, &Context<'_>) -> CodecResult<Codec>;

impl CodecEntry {
    /// Builds the entry of codec `name`; `build` must return codecs of the given kind.
    pub const fn new(name: &'static str, kind: CodecKind, build: BuildCodec) -> Self {
        Self { name, aliases: &[], kind, build }
    }

    /// Adds further names that are read but never written.
    #[must_use]
    pub const fn with_aliases(self, aliases: &'static [&'static str]) -> Self {
        Self { aliases, ..self }
    }
}

/// An extension in a registry: a codec, a data type, a chunk grid, a chunk key encoding or a storage transformer.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Entry {
    /// A codec.
    Codec(CodecEntry),
    /// A data type.
    DataType(DataTypeEntry),
    /// A chunk grid.
    ChunkGrid(ChunkGridEntry),
    /// A chunk key encoding.
    KeyEncoding(KeyEncodingEntry),
    /// A storage transformer.
    Transformer(TransformerEntry),
}

impl Entry {
    /// The extension point of the entry.
    pub fn point(&self) -> ExtensionPoint {
        match self {
            Self::Codec(_) => ExtensionPoint::Codec,
            Self::DataType(_) => ExtensionPoint::DataType,
            Self::ChunkGrid(_) => ExtensionPoint::ChunkGrid,
            Self::KeyEncoding(_) => ExtensionPoint::KeyEncoding,
            Self::Transformer(_) => ExtensionPoint::Transformer,
        }
    }

    /// Returns the name that is written, then the names that are only read.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        let (name, aliases): (_, &'static [&'static str]) = match self {
            Self::Codec(e) => (e.name, e.aliases),
            Self::DataType(e) => (e.name, e.aliases),
            Self::ChunkGrid(e) => (e.name, e.aliases),
            Self::KeyEncoding(e) => (e.name, e.aliases),
            Self::Transformer(e) => (e.name, e.aliases),
        };
        std::iter::once(name).chain(aliases.iter().copied())
    }
}

/// A set of known extensions. It is cheap to clone; a changed registry is a new value.
///
/// Rules: [looking names up](https://github.com/zarr-rs/zarr/blob/main/docs/specification/extensions.md#k.2).
///
/// ```
/// # use zarr_traits::{CodecError, Registry, extension::Entry};
/// # const MY_CODECS: &[Entry] = &[];
/// let registry = Registry::core().with(MY_CODECS)?;
/// # Ok::<(), CodecError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Registry {
    tables: Arc<[HashMap<&'static str, Entry>; 5]>,
    /// Whether private names are unknown.
    public: bool,
}

impl Registry {
    /// Returns the registry without entries. The core data types are always known.
    pub(super) fn empty() -> Self {
        Self { tables: Arc::default(), public: false }
    }

    /// Returns this registry with the entries of `table`.
    ///
    /// # Errors
    /// [`CodecErrorKind::InvalidArgument`] if a name is taken. To replace an entry use
    /// [`overriding`](Self::overriding).
    pub fn with(&self, table: &[Entry]) -> CodecResult<Self> {
        let mut grown = self.clone();
        for entry in table {
            let point = entry.point();
            let taken = |name: &&str| {
                let core = point == ExtensionPoint::DataType && DataType::core(core_name(name).0).is_some();
                core || grown.tables[point as usize].contains_key(name)
            };
            if let Some(name) = entry.names().find(taken) {
                return Err(CodecError::new(
                    CodecErrorKind::InvalidArgument,
                    format!("the {point} {name:?} is already registered"),
                ));
            }
            grown = grown.overriding(std::slice::from_ref(entry));
        }
        Ok(grown)
    }

    /// Returns this registry with the entries of `table`, which replace entries of the same name. Core data types
    /// cannot be replaced.
    #[must_use]
    pub fn overriding(&self, table: &[Entry]) -> Self {
        let mut tables = (*self.tables).clone();
        for entry in table {
            tables[entry.point() as usize].extend(entry.names().map(|name| (name, *entry)));
        }
        Self { tables: Arc::new(tables), ..*self }
    }

    /// Returns this registry for documents of format 3, where private names are unknown: names with a `:` that are not
    /// URLs. Only older formats can use them.
    #[must_use]
    pub fn public(&self) -> Self {
        Self { public: true, ..self.clone() }
    }

    /// Returns the names of all codecs, sorted, without aliases.
    pub fn codec_names(&self) -> Vec<&'static str> {
        let canonical = |entry: &Entry| if let Entry::Codec(e) = entry { Some(e.name) } else { None };
        let mut names: Vec<_> =
            self.tables[ExtensionPoint::Codec as usize].values().filter_map(canonical).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Returns the codec with this name or alias.
    ///
    /// # Errors
    /// [`CodecErrorKind::UnknownExtension`] if there is none.
    pub fn codec(&self, name: &str) -> CodecResult<CodecEntry> {
        match self.find(ExtensionPoint::Codec, name)? {
            Entry::Codec(entry) => Ok(*entry),
            _ => Err(CodecError::unknown(ExtensionPoint::Codec, name)),
        }
    }

    /// Builds the data type that `spec` names.
    ///
    /// # Errors
    /// [`CodecErrorKind::UnknownExtension`] for an unknown name; errors of its configuration.
    pub fn data_type(&self, spec: &Spec, context: &Context<'_>) -> CodecResult<(DataType, Vec<Note>)> {
        let (name, registered) = core_name(&spec.name);
        if let Some(core) = DataType::core(name) {
            let mut notes = Configuration::new(&spec.configuration).finish();
            notes.extend(Note::alias(&spec.name, name, "").filter(|_| !registered));
            return Ok((core, notes));
        }
        match self.find(ExtensionPoint::DataType, &spec.name)? {
            Entry::DataType(entry) => {
                let (built, mut notes) = build(spec, |c| (entry.build)(c, context))?;
                notes.extend(Note::alias(&spec.name, entry.name, ""));
                Ok((DataType::Extension(built), notes))
            }
            _ => Err(CodecError::unknown(ExtensionPoint::DataType, &spec.name)),
        }
    }

    /// Builds the chunk grid that `spec` names, for an array of `shape`.
    ///
    /// # Errors
    /// As [`data_type`](Self::data_type).
    pub fn chunk_grid(
        &self,
        spec: &Spec,
        shape: &[u64],
        context: &Context<'_>,
    ) -> CodecResult<(Arc<dyn ChunkGrid>, Vec<Note>)> {
        match self.find(ExtensionPoint::ChunkGrid, &spec.name)? {
            Entry::ChunkGrid(entry) => build(spec, |c| (entry.build)(c, shape, context)),
            _ => Err(CodecError::unknown(ExtensionPoint::ChunkGrid, &spec.name)),
        }
    }

    /// Builds the chunk key encoding that `spec` names. An unknown name is an error; it never means the default.
    ///
    /// # Errors
    /// As [`data_type`](Self::data_type).
    pub fn key_encoding(
        &self,
        spec: &Spec,
        context: &Context<'_>,
    ) -> CodecResult<(Arc<dyn KeyEncoding>, Vec<Note>)> {
        match self.find(ExtensionPoint::KeyEncoding, &spec.name)? {
            Entry::KeyEncoding(entry) => build(spec, |c| (entry.build)(c, context)),
            _ => Err(CodecError::unknown(ExtensionPoint::KeyEncoding, &spec.name)),
        }
    }

    /// Builds the storage transformer that `spec` names.
    ///
    /// # Errors
    /// As [`data_type`](Self::data_type).
    pub fn transformer(
        &self,
        spec: &Spec,
        context: &Context<'_>,
    ) -> CodecResult<(Arc<dyn StorageTransformer>, Vec<Note>)> {
        match self.find(ExtensionPoint::Transformer, &spec.name)? {
            Entry::Transformer(entry) => build(spec, |c| (entry.build)(c, context)),
            _ => Err(CodecError::unknown(ExtensionPoint::Transformer, &spec.name)),
        }
    }

    fn find(&self, point: ExtensionPoint, name: &str) -> CodecResult<&Entry> {
        let known =
            |name: &str| self.tables[point as usize].get(name).filter(|_| !(self.public && is_private(name)));
        let by_url =
            || url_names(name).filter(|_| point == ExtensionPoint::Codec)?.iter().find_map(|n| known(n));
        known(name).or_else(by_url).ok_or_else(|| CodecError::unknown(point, name))
    }
}

/// Returns the name of the core type behind another name, and whether that other name is registered. Any other name is
/// returned as it is.
fn core_name(name: &str) -> (&str, bool) {
    match name {
        "variable_length_bytes" | "binary" => ("bytes", false),
        "complex_float32" => ("complex64", true),
        "complex_float64" => ("complex128", true),
        other => (other, true),
    }
}

fn build<T>(
    spec: &Spec,
    build: impl FnOnce(&mut Configuration<'_>) -> CodecResult<T>,
) -> CodecResult<(T, Vec<Note>)> {
    let mut configuration = Configuration::new(&spec.configuration);
    let built = build(&mut configuration)?;
    Ok((built, configuration.finish()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::extension::core::{DEFAULT, REGULAR};

    #[test]
    fn names_are_found_at_their_own_extension_point() {
        let registry = Registry::core();
        let limits = Limits::default();
        let context = Context::new(&registry, &limits);
        let grid = Spec::new("regular", json!({"chunk_shape": [2]})).unwrap();
        assert!(registry.chunk_grid(&grid, &[4], &context).is_ok());
        assert_eq!(
            registry.chunk_grid(&grid, &[4, 4], &context).unwrap_err().kind(),
            CodecErrorKind::Configuration
        ); // rule C.t3
        let e = registry.key_encoding(&grid, &context).unwrap_err();
        assert_eq!(e.to_string(), "unknown chunk key encoding \"regular\""); // rule C.t33
        let (_, notes) = registry.data_type(&Spec::new("int32", json!({"x": 1})).unwrap(), &context).unwrap();
        assert_eq!(notes.len(), 1);
        for (name, aliases) in [("bytes", 0), ("binary", 1), ("variable_length_bytes", 1)] {
            let (data_type, notes) = registry.data_type(&Spec::named(name), &context).unwrap();
            assert_eq!((data_type, notes.len()), (DataType::Bytes, aliases)); // rules B.t71 and B.t72
        }
        for (name, data_type) in
            [("complex_float32", DataType::Complex64), ("complex_float64", DataType::Complex128)]
        {
            let found = registry.data_type(&Spec::named(name), &context).unwrap();
            assert_eq!(found, (data_type, Vec::new())); // rule B22
        }
        let dash = Spec::new("default", json!({"separator": "-"})).unwrap();
        assert!(registry.key_encoding(&dash, &context).is_err()); // rule C.t31
    }

    #[test]
    fn with_refuses_a_taken_name_and_overriding_replaces_it() {
        let registry = Registry::core();
        let again = [Entry::ChunkGrid(REGULAR)];
        assert!(registry.with(&again).is_err()); // rule K8
        let empty = Registry::empty();
        assert!(empty.with(&[again[0], again[0]]).is_err());
        let _ = registry.overriding(&again);
    }

    #[test]
    fn private_names_are_for_older_formats() {
        let named = |name| Entry::KeyEncoding(KeyEncodingEntry { name, ..DEFAULT });
        let all = Registry::core().overriding(&[named("a:b"), named("https://a.b/c"), named("urn:x:y")]);
        for (name, public) in [("default", true), ("a:b", false), ("https://a.b/c", true), ("urn:x:y", true)]
        {
            assert!(all.find(ExtensionPoint::KeyEncoding, name).is_ok());
            assert_eq!(all.public().find(ExtensionPoint::KeyEncoding, name).is_ok(), public, "{name}");
            assert_eq!(
                all.public().overriding(&[]).find(ExtensionPoint::KeyEncoding, name).is_ok(),
                public,
                "{name}"
            );
        }
    }
}
