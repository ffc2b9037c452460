//! The registry of known names: a value, passed in where an array is opened. There is no global registry.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use crate::codec::{Codec, CodecKind, Repr};
use crate::dtype::{DataType, ExtensionType, unknown};
use crate::error::{CodecError, CodecErrorKind, CodecResult};
use crate::grid::ChunkGrid;
use crate::key_encoding::KeyEncoding;
use crate::limits::Limits;
use crate::point::ExtensionPoint;
use crate::transformer::StorageTransformer;

use super::configuration::Configuration;
use super::entry::{Build, NamedEntry, Names};
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

/// The entry of an extension that is built from its configuration alone. With state of the run:
///
/// ```
/// use std::sync::Arc;
/// use zarr_traits::extension::{Entry, KeyEncodingEntry};
/// use zarr_traits::{CodecError, CoreKeyEncoding, Registry};
///
/// let separator = '.'; // from the settings of the program
/// let entry = KeyEncodingEntry::shared("example.chosen", Arc::new(move |_, _| {
///     Ok(Arc::new(CoreKeyEncoding::default_with(separator)))
/// }));
/// let registry = Registry::core().with(&[Entry::KeyEncoding(entry)])?;
/// # Ok::<(), CodecError>(())
/// ```
pub type EntryOf<T> = NamedEntry<
    fn(&mut Configuration<'_>, &Context<'_>) -> CodecResult<Arc<T>>,
    dyn Fn(&mut Configuration<'_>, &Context<'_>) -> CodecResult<Arc<T>> + Send + Sync,
>;

/// The entry of a data type.
pub type DataTypeEntry = EntryOf<dyn ExtensionType>;

/// The entry of a chunk key encoding.
pub type KeyEncodingEntry = EntryOf<dyn KeyEncoding>;

/// The entry of a storage transformer.
pub type TransformerEntry = EntryOf<dyn StorageTransformer>;

/// The entry of a chunk grid, built from its configuration and the shape of the array.
pub type ChunkGridEntry = NamedEntry<
    fn(&mut Configuration<'_>, &[u64], &Context<'_>) -> CodecResult<Arc<dyn ChunkGrid>>,
    dyn Fn(&mut Configuration<'_>, &[u64], &Context<'_>) -> CodecResult<Arc<dyn ChunkGrid>> + Send + Sync,
>;

/// A function that builds a codec from its configuration for a representation.
pub type BuildCodec = fn(&mut Configuration<'_>, &Repr, &Context<'_>) -> CodecResult<Codec>;

/// A closure that does what a [`BuildCodec`] does.
pub type BuildCodecShared =
    dyn Fn(&mut Configuration<'_>, &Repr, &Context<'_>) -> CodecResult<Codec> + Send + Sync;

/// The entry of a codec: its names, its kind, and what builds it.
#[derive(Debug, Clone)]
pub struct CodecEntry {
    named: NamedEntry<BuildCodec, BuildCodecShared>,
    kind: CodecKind,
}

impl CodecEntry {
    /// The codec `name`; `build` must return codecs of this kind.
    pub const fn new(name: &'static str, kind: CodecKind, build: BuildCodec) -> Self {
        Self::aliased(name, &[], kind, build)
    }

    /// The codec `name`, with further names that are read but never written.
    pub const fn aliased(
        name: &'static str,
        aliases: &'static [&'static str],
        kind: CodecKind,
        build: BuildCodec,
    ) -> Self {
        Self { named: NamedEntry::aliased(name, aliases, build), kind }
    }

    /// The codec `name`, built by a closure, which can have state: a key, a dictionary, an interpreter.
    pub fn shared(name: impl Into<Cow<'static, str>>, kind: CodecKind, build: Arc<BuildCodecShared>) -> Self {
        Self { named: NamedEntry::shared(name, build), kind }
    }

    /// Adds further names that are read but never written.
    #[must_use]
    pub fn also_read(self, names: impl IntoIterator<Item = String>) -> Self {
        Self { named: self.named.also_read(names), ..self }
    }

    /// The name in metadata documents.
    pub fn name(&self) -> &str {
        self.named.name()
    }

    /// The further names that are read but never written.
    pub fn aliases(&self) -> impl Iterator<Item = &str> {
        self.named.aliases()
    }

    /// The kind of the codec.
    pub fn kind(&self) -> CodecKind {
        self.kind
    }

    /// Builds the codec for a representation.
    ///
    /// # Errors
    /// If the configuration is wrong, or the codec cannot work on the representation.
    pub fn build(
        &self,
        configuration: &mut Configuration<'_>,
        repr: &Repr,
        context: &Context<'_>,
    ) -> CodecResult<Codec> {
        match &self.named.build {
            Build::Function(build) => build(configuration, repr, context),
            Build::Shared(build) => build(configuration, repr, context),
        }
    }
}

impl<T: ?Sized> EntryOf<T> {
    /// Builds the extension.
    ///
    /// # Errors
    /// If the configuration is wrong.
    pub fn build(&self, configuration: &mut Configuration<'_>, context: &Context<'_>) -> CodecResult<Arc<T>> {
        match &self.build {
            Build::Function(build) => build(configuration, context),
            Build::Shared(build) => build(configuration, context),
        }
    }
}

impl ChunkGridEntry {
    /// Builds the grid for an array of `shape`.
    ///
    /// # Errors
    /// If the configuration is wrong, also for this shape.
    pub fn build(
        &self,
        configuration: &mut Configuration<'_>,
        shape: &[u64],
        context: &Context<'_>,
    ) -> CodecResult<Arc<dyn ChunkGrid>> {
        match &self.build {
            Build::Function(build) => build(configuration, shape, context),
            Build::Shared(build) => build(configuration, shape, context),
        }
    }
}

/// An extension in a registry: a codec, a data type, a chunk grid, a chunk key encoding or a storage transformer.
#[derive(Debug, Clone)]
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
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let names: &Names = match self {
            Self::Codec(entry) => &entry.named.names,
            Self::DataType(entry) => &entry.names,
            Self::ChunkGrid(entry) => &entry.names,
            Self::KeyEncoding(entry) => &entry.names,
            Self::Transformer(entry) => &entry.names,
        };
        names.all()
    }
}

/// A set of known extensions. It is cheap to clone; a changed registry is a new value.
///
/// Rules: [looking names up](https://github.com/zarr-rs/zarr/blob/traits-v0.1.0/docs/specification/extensions.md#k.2).
///
/// ```
/// # use zarr_traits::{CodecError, Registry, extension::Entry};
/// # const MY_CODECS: &[Entry] = &[];
/// let registry = Registry::core().with(MY_CODECS)?;
/// # Ok::<(), CodecError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Registry {
    tables: Arc<Tables>,
    /// Whether private names are unknown.
    public: bool,
}

/// The entries by all of their names, a table for each extension point.
#[derive(Debug, Clone, Default)]
struct Tables {
    codecs: Table<CodecEntry>,
    data_types: Table<DataTypeEntry>,
    chunk_grids: Table<ChunkGridEntry>,
    key_encodings: Table<KeyEncodingEntry>,
    transformers: Table<TransformerEntry>,
}

type Table<E> = HashMap<String, E>;

impl Tables {
    /// Adds an entry, and returns the names that it took from another.
    fn insert(&mut self, entry: &Entry) -> Vec<String> {
        fn put<E: Clone>(table: &mut Table<E>, name: &str, entry: &E) -> bool {
            table.insert(name.to_owned(), entry.clone()).is_some()
        }
        let mut put = |name: &&str| match entry {
            Entry::Codec(entry) => put(&mut self.codecs, name, entry),
            Entry::DataType(entry) => put(&mut self.data_types, name, entry),
            Entry::ChunkGrid(entry) => put(&mut self.chunk_grids, name, entry),
            Entry::KeyEncoding(entry) => put(&mut self.key_encodings, name, entry),
            Entry::Transformer(entry) => put(&mut self.transformers, name, entry),
        };
        entry.names().filter(|name| put(name)).map(str::to_owned).collect()
    }
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
        let taken = |point, name: &str| {
            let message = format!("the {point} {name:?} is already registered");
            Err(CodecError::new(CodecErrorKind::InvalidArgument, message))
        };
        let is_core = |name: &&str| DataType::core(core_name(name).0).is_some();
        for entry in table {
            if let Entry::DataType(_) = entry
                && let Some(name) = entry.names().find(is_core)
            {
                return taken(entry.point(), name);
            }
        }
        let (grown, replaced) = self.replacing(table);
        match replaced.first() {
            None => Ok(grown),
            Some((point, name)) => taken(*point, name),
        }
    }

    /// Returns this registry with the entries of `table`, which replace entries of the same name. Core data types
    /// cannot be replaced.
    #[must_use]
    pub fn overriding(&self, table: &[Entry]) -> Self {
        self.replacing(table).0
    }

    /// Returns this registry as [`overriding`](Self::overriding) does, and the names that now stand for another entry
    /// than before, in the order of `table`.
    pub fn replacing(&self, table: &[Entry]) -> (Self, Vec<(ExtensionPoint, String)>) {
        let mut tables = (*self.tables).clone();
        let mut replaced = Vec::new();
        for entry in table {
            replaced.extend(tables.insert(entry).into_iter().map(|name| (entry.point(), name)));
        }
        (Self { tables: Arc::new(tables), ..*self }, replaced)
    }

    /// Returns this registry for documents of format 3, where private names are unknown: names with a `:` that are not
    /// URLs. Only older formats can use them.
    #[must_use]
    pub fn public(&self) -> Self {
        Self { public: true, ..self.clone() }
    }

    /// Returns the names of all codecs, sorted, without aliases.
    pub fn codec_names(&self) -> Vec<&str> {
        let mut names: Vec<_> = self.tables.codecs.values().map(CodecEntry::name).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Returns the codec with this name or alias.
    ///
    /// # Errors
    /// [`CodecErrorKind::UnknownExtension`] if there is none.
    pub fn codec(&self, name: &str) -> CodecResult<&CodecEntry> {
        let codecs = &self.tables.codecs;
        let by_url = || {
            let names = url_names(name).unwrap_or_default();
            names.iter().find_map(|name| self.find(codecs, ExtensionPoint::Codec, name).ok())
        };
        self.find(codecs, ExtensionPoint::Codec, name).or_else(|unknown| by_url().ok_or(unknown))
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
        let entry = self.find(&self.tables.data_types, ExtensionPoint::DataType, &spec.name);
        let entry = entry.map_err(|_| unknown(&spec.name))?;
        let (built, mut notes) = build(spec, |c| entry.build(c, context))?;
        notes.extend(Note::alias(&spec.name, entry.name(), ""));
        Ok((DataType::Extension(built), notes))
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
        let entry = self.find(&self.tables.chunk_grids, ExtensionPoint::ChunkGrid, &spec.name)?;
        build(spec, |c| entry.build(c, shape, context))
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
        let entry = self.find(&self.tables.key_encodings, ExtensionPoint::KeyEncoding, &spec.name)?;
        build(spec, |c| entry.build(c, context))
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
        let entry = self.find(&self.tables.transformers, ExtensionPoint::Transformer, &spec.name)?;
        build(spec, |c| entry.build(c, context))
    }

    fn find<'a, E>(&self, table: &'a Table<E>, point: ExtensionPoint, name: &str) -> CodecResult<&'a E> {
        let known = table.get(name).filter(|_| !(self.public && is_private(name)));
        known.ok_or_else(|| CodecError::unknown(point, name))
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
    use zarr_json::json;

    use super::*;
    use crate::extension::core::REGULAR;
    use crate::key_encoding::CoreKeyEncoding;

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
        assert_eq!(format!("{e:#}"), "unknown chunk key encoding \"regular\""); // rule C.t33
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
        assert!(empty.with(&[again[0].clone(), again[0].clone()]).is_err());
        let (_, replaced) = registry.replacing(&again);
        assert_eq!(replaced, [(ExtensionPoint::ChunkGrid, "regular".to_owned())]);
        assert!(empty.replacing(&again).1.is_empty());
    }

    #[test]
    fn private_names_are_for_older_formats() {
        let named = |name| {
            Entry::KeyEncoding(KeyEncodingEntry::new(name, |_, _| {
                Ok(Arc::new(CoreKeyEncoding::default_with('/')))
            }))
        };
        let all = Registry::core().overriding(&[named("a:b"), named("https://a.b/c"), named("urn:x:y")]);
        let limits = Limits::default();
        let knows = |registry: &Registry, name| {
            registry.key_encoding(&Spec::named(name), &Context::new(registry, &limits)).is_ok()
        };
        for (name, public) in [("default", true), ("a:b", false), ("https://a.b/c", true), ("urn:x:y", true)]
        {
            assert!(knows(&all, name));
            assert_eq!(knows(&all.public(), name), public, "{name}");
            assert_eq!(knows(&all.public().overriding(&[]), name), public, "{name}");
        }
    }

    #[test]
    fn a_closure_builds_with_state_and_has_names_of_the_run() {
        let separator = String::from(".");
        let build = move |_: &mut Configuration<'_>, _: &Context<'_>| {
            let separator = separator.chars().next().unwrap_or('/');
            Ok(Arc::new(CoreKeyEncoding::default_with(separator)) as Arc<dyn KeyEncoding>)
        };
        let entry = KeyEncodingEntry::shared(format!("test.{}", 1), Arc::new(build))
            .also_read([String::from("test.older")]);
        let registry = Registry::core().with(&[Entry::KeyEncoding(entry)]).unwrap();
        let limits = Limits::default();
        for name in ["test.1", "test.older"] {
            let context = Context::new(&registry, &limits);
            let (encoding, _) = registry.key_encoding(&Spec::named(name), &context).unwrap();
            let mut key = String::new();
            encoding.encode(&[1, 2], &mut key);
            assert_eq!(key, "c.1.2");
        }
    }
}
