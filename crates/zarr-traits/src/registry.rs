//! The registry of known names: a value, passed in where an array is opened. There is no global registry.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::codec::{CodecEntry, Configuration, Context, Note};
use crate::dtype::{DataType, DataTypeEntry};
use crate::error::{CodecError, CodecErrorKind, CodecResult};
use crate::grid::{ChunkGrid, ChunkGridEntry, RegularGrid};
use crate::key_encoding::{CoreKeyEncoding, KeyEncoding, KeyEncodingEntry};
use crate::point::ExtensionPoint;
use crate::transformer::{StorageTransformer, TransformerEntry};

/// An extension object of a metadata document, at any of the five extension points.
#[derive(Debug, Clone, PartialEq)]
pub struct Spec {
    /// The name.
    pub name: String,
    /// The members of the configuration.
    pub configuration: Map<String, Value>,
    /// `must_understand`; true if the document does not have it.
    pub must_understand: bool,
}

impl Spec {
    /// An extension without configuration.
    pub fn named(name: impl Into<String>) -> Self {
        Self { name: name.into(), configuration: Map::new(), must_understand: true }
    }

    /// Adds a member to the configuration.
    ///
    /// ```
    /// let gzip = zarr_traits::Spec::named("gzip").with("level", 5);
    /// ```
    #[must_use]
    pub fn with(mut self, member: impl Into<String>, value: impl Into<Value>) -> Self {
        self.configuration.insert(member.into(), value.into());
        self
    }

    /// Builds an extension with the members of the object `configuration`.
    ///
    /// ```
    /// # use zarr_traits::{CodecError, Spec};
    /// use serde_json::json;
    /// let gzip = Spec::new("gzip", json!({ "level": 5 }))?;
    /// assert!(Spec::new("gzip", json!(5)).is_err());
    /// # Ok::<(), CodecError>(())
    /// ```
    ///
    /// # Errors
    /// [`CodecErrorKind::Configuration`] if `configuration` is neither an object nor `null`, which means no
    /// configuration.
    pub fn new(name: impl Into<String>, configuration: Value) -> CodecResult<Self> {
        let name = name.into();
        match configuration {
            Value::Object(configuration) => Ok(Self { configuration, ..Self::named(name) }),
            Value::Null => Ok(Self::named(name)),
            other => {
                let message = format!("the configuration of {name:?} must be an object, not {other}");
                Err(CodecError::configuration(message).at("/configuration"))
            }
        }
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
/// # use zarr_traits::{Registry, Entry, CodecError};
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
    /// Returns the extensions of the core specification that need no other crate: the `regular` grid and the `default`
    /// and `v2` chunk key encodings. The core data types are always known.
    pub fn core() -> Self {
        Self { tables: Arc::default(), public: false }.overriding(&[
            Entry::ChunkGrid(RegularGrid::ENTRY),
            Entry::KeyEncoding(CoreKeyEncoding::DEFAULT),
            Entry::KeyEncoding(CoreKeyEncoding::V2),
        ])
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

/// Returns the codec names that a URL may stand for, in the order to try them: early versions of zarrs wrote such URLs,
/// and some of them name a codec of numcodecs.
pub fn url_names(url: &str) -> Option<[String; 3]> {
    let numcodecs = |name: &str| format!("numcodecs.{name}");
    if let Some(name) = url.strip_prefix("https://numcodecs.dev/") {
        return Some([numcodecs(name), name.to_owned(), name.replace('_', "-")]);
    }
    let (_kind, name) = url.strip_prefix("https://codec.zarrs.dev/")?.split_once('/')?;
    Some([name.to_owned(), name.replace('_', "-"), numcodecs(name)])
}

/// Whether a name is private: it has a `:` and is not a URL, so documents of format 3 cannot use it.
pub fn is_private(name: &str) -> bool {
    name.contains(':') && !name.contains("://") && !name.starts_with("urn:")
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
    use crate::limits::Limits;

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
        let again = [Entry::ChunkGrid(RegularGrid::ENTRY)];
        assert!(registry.with(&again).is_err()); // rule K8
        let empty = Registry { tables: Arc::default(), public: false };
        assert!(empty.with(&[again[0], again[0]]).is_err());
        let _ = registry.overriding(&again);
    }

    #[test]
    fn private_names_are_for_older_formats() {
        let named = |name| Entry::KeyEncoding(KeyEncodingEntry { name, ..CoreKeyEncoding::DEFAULT });
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
