//! Metadata for new arrays of format 3, in the form that every implementation reads.

use crate::{GRIDS, RectilinearGrid};
use zarr_traits::{
    CodecError, DataType, Layout, Limits, Registry, RegularGrid, Spec, codec::Context, is_private,
};

use crate::codecs::Element;
use crate::codecs::complete::complete;
use crate::diagnostic::{Code, Diagnostic, Sink, Strict};
use crate::error::{MetaError, MetaResult};
use crate::fill::{self, Fill};
use crate::json::{Object, Value, pointer};
use crate::model::ArrayMeta;
use crate::names::{Role, changes_type, role};
use crate::v3::sharding::Sharding;
use crate::v3::{ArrayDocument, Extension, writable};

/// A builder of the metadata of a new array; see [`ArrayMeta::builder`].
///
/// Defaults are written into the document: fill value 0, codec `bytes` in little-endian order, key encoding `default`.
/// Only [`build`](Self::build) checks the values; the other methods store them.
#[derive(Debug, Clone)]
pub struct ArrayBuilder {
    shape: Vec<u64>,
    data_type: DataType,
    chunks: Option<Vec<u64>>,
    shards: Option<Vec<u64>>,
    grid: Option<Extension>,
    key_encoding: Extension,
    fill: Option<Fill>,
    codecs: Vec<Extension>,
    storage_transformers: Vec<Extension>,
    dimension_names: Option<Vec<Value>>,
    attributes: Value,
    unusual: bool,
}

impl ArrayBuilder {
    pub(crate) fn new(shape: Vec<u64>, data_type: DataType) -> Self {
        Self {
            shape,
            data_type,
            chunks: None,
            shards: None,
            grid: None,
            key_encoding: Extension::new("default").with("separator", "/"),
            fill: None,
            codecs: Vec::new(),
            storage_transformers: Vec::new(),
            dimension_names: None,
            attributes: Object::new().into(),
            unusual: false,
        }
    }

    /// Sets the shape of a chunk in elements; with [`shards`](Self::shards) that of an inner chunk.
    #[must_use]
    pub fn chunks(mut self, shape: impl Into<Vec<u64>>) -> Self {
        self.chunks = Some(shape.into());
        self
    }

    /// Packs the chunks into shards of this shape in elements, which must be a multiple of the chunk shape. The codecs
    /// then apply to the inner chunks.
    #[must_use]
    pub fn shards(mut self, shape: impl Into<Vec<u64>>) -> Self {
        self.shards = Some(shape.into());
        self
    }

    /// Sets a chunk grid other than a regular one, in place of [`chunks`](Self::chunks). With both, `grid` is the grid
    /// of the shards, in place of [`shards`](Self::shards).
    ///
    /// A rectilinear grid is written in its shortest form. That is `regular` if all lengths are equal; when the array
    /// grows, the new chunks have the same length. An empty list of lengths becomes the length 1.
    ///
    /// ```
    /// use serde_json::json;
    /// use zarr_meta::{ArrayMeta, DataType, v3::Extension};
    ///
    /// let months = json!([[31, 28, 31], 100]); // the rows of three chunks, and columns in chunks of 100
    /// let grid = Extension::new("rectilinear").with("kind", "inline").with("chunk_shapes", months);
    /// let meta = ArrayMeta::builder([90, 400], DataType::Float32).chunk_grid(grid).build()?;
    /// # Ok::<(), zarr_meta::MetaError>(())
    /// ```
    #[must_use]
    pub fn chunk_grid(mut self, grid: Extension) -> Self {
        self.grid = Some(grid);
        self
    }

    /// Sets a chunk key encoding other than `default` with `/`.
    #[must_use]
    pub fn chunk_key_encoding(mut self, encoding: Extension) -> Self {
        self.key_encoding = encoding;
        self
    }

    /// Sets the fill value, the value of all elements that are not stored.
    #[must_use]
    pub fn fill(mut self, fill: impl Into<Fill>) -> Self {
        self.fill = Some(fill.into());
        self
    }

    /// Sets the codecs in the order of encoding. If all of them are known by name and there is no array-to-bytes codec,
    /// the one that suits the data type is inserted: `bytes`, or `vlen-utf8` for strings. A list with an unknown codec
    /// is not changed.
    #[must_use]
    pub fn codecs(mut self, codecs: impl IntoIterator<Item = Extension>) -> Self {
        self.codecs = codecs.into_iter().collect();
        self
    }

    /// Sets the storage transformers. The first is the one next to the array.
    #[must_use]
    pub fn storage_transformers(mut self, transformers: impl IntoIterator<Item = Extension>) -> Self {
        self.storage_transformers = transformers.into_iter().collect();
        self
    }

    /// Sets a name for each dimension: strings, or `None::<&str>` for a dimension without a name.
    #[must_use]
    pub fn dimension_names(mut self, names: impl IntoIterator<Item = impl Into<Value>>) -> Self {
        self.dimension_names = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// Sets the attributes, which must be an object.
    #[must_use]
    pub fn attributes(mut self, attributes: impl Into<Value>) -> Self {
        self.attributes = attributes.into();
        self
    }

    /// Permits metadata that is valid, but that some implementation cannot read: codecs after sharding, and codecs that
    /// readers may skip.
    #[must_use]
    pub fn unusual(mut self) -> Self {
        self.unusual = true;
        self
    }

    /// Returns the metadata, indented with two spaces.
    ///
    /// # Errors
    /// [`InvalidArgument`](crate::MetaErrorKind::InvalidArgument) or [`Invalid`](crate::MetaErrorKind::Invalid), with
    /// the member at fault: shapes that do not fit each other, a fill value that does not fit the data type, attributes
    /// that are not an object or have values that JSON cannot represent.
    pub fn build(mut self) -> MetaResult<ArrayMeta> {
        let grid = self.grid()?;
        let codecs = self.all_codecs()?;
        let mut root = Object::new();
        root.set("zarr_format", 3);
        root.set("node_type", "array");
        root.set("shape", self.shape.iter().copied().collect::<Value>());
        root.set("data_type", self.data_type_value());
        root.set("chunk_grid", grid);
        root.set("chunk_key_encoding", &self.key_encoding);
        root.set("fill_value", self.fill_value()?);
        root.set("codecs", codecs);
        root.set("attributes", writable(&self.attributes)?);
        if let Some(names) = self.dimension_names.take().filter(|names| !names.iter().all(Value::is_null)) {
            root.set("dimension_names", names);
        }
        if !self.storage_transformers.is_empty() {
            root.set("storage_transformers", std::mem::take(&mut self.storage_transformers));
        }
        // There is no limit to the rank of a new array; readers apply their own limits later.
        let root = Value::parse(root.to_value().as_raw())?;
        let document = ArrayDocument::new(&root, &Limits::unlimited(), &mut Strict)?;
        document.lint(&mut NoNul)?;
        check_public(&document)?;
        Ok(document.into())
    }

    /// Returns the grid of the stored chunks or shards.
    fn grid(&self) -> MetaResult<Extension> {
        let chunks = self.chunks.as_deref().unwrap_or_default();
        if self.chunks.is_some() {
            self.check_shape("chunk", chunks)?;
        } else if self.grid.is_none() && !self.shape.is_empty() {
            return Err(MetaError::argument("the shape of the chunks is missing"));
        }
        match (&self.grid, &self.shards) {
            (None, None) => Ok(regular(chunks)),
            (None, Some(shards)) => {
                self.check_shape("shard", shards)?;
                check_divides(chunks, |dim| vec![shards[dim]])?;
                Ok(regular(shards))
            }
            (Some(grid), None) if grid.name() == RectilinearGrid::ENTRY.name => {
                self.rectilinear(grid, chunks)
            }
            (Some(grid), None) => Ok(grid.clone()),
            (Some(_), Some(_)) => Err(MetaError::argument("give either a chunk grid or shards, not both")),
        }
    }

    /// Returns a rectilinear grid of chunks, or of shards of `chunks`, in its shortest form.
    fn rectilinear(&self, grid: &Extension, chunks: &[u64]) -> MetaResult<Extension> {
        let registry = Registry::core().overriding(GRIDS);
        let limits = Limits::unlimited();
        let context = Context::new(&registry, &limits);
        let refused = |e: CodecError| {
            let message = "the chunk grid cannot be used";
            MetaError::argument(message).at(e.pointer()).at("/chunk_grid").with_source(e)
        };
        let (built, notes) = registry.chunk_grid(&grid.to_spec()?, &self.shape, &context).map_err(refused)?;
        if let Some(note) = notes.into_iter().next() {
            return Err(MetaError::argument(note.message).at(&note.pointer).at("/chunk_grid"));
        }
        check_divides(chunks, |dim| built.lengths(dim))?;
        let built = RectilinearGrid::new((0..built.rank()).map(|dim| built.runs(dim))).map_err(refused)?;
        let Spec { name, configuration, .. } = built.to_spec();
        let base = if name == grid.name() { grid.clone() } else { Extension::new(name) };
        Ok(configuration.iter().fold(base, |grid, (member, value)| grid.with(member, value)))
    }

    fn check_shape(&self, what: &str, shape: &[u64]) -> MetaResult<()> {
        let (rank, got) = (self.shape.len(), shape.len());
        if rank != got {
            let message = format!("the array has {rank} dimensions, the {what} shape {got}");
            return Err(MetaError::argument(message));
        }
        RegularGrid::new(shape)
            .map(drop)
            .map_err(|e| MetaError::argument(format!("the {what} shape cannot be used")).with_source(e))
    }

    fn data_type_value(&self) -> Value {
        let name = self.data_type.name();
        match &self.data_type {
            DataType::Extension(t) if !t.configuration().is_empty() => {
                Extension::new(name).with_configuration(&(&t.configuration()).into()).into()
            }
            _ => (&*name).into(),
        }
    }

    fn fill_value(&self) -> MetaResult<Value> {
        let bits = match &self.fill {
            None => Ok(fill::default(&self.data_type)),
            Some(fill) => fill.bits(&self.data_type),
        };
        bits.and_then(|bits| fill::for_document(&self.data_type, &bits)).map_err(|e| e.at("/fill_value"))
    }

    /// Returns the codecs of the document, with the defaults inserted.
    fn all_codecs(&mut self) -> MetaResult<Vec<Extension>> {
        let mut codecs = std::mem::take(&mut self.codecs);
        // zarrs refuses the empty order of a transposed scalar.
        codecs.retain(|c| !(c.name() == "transpose" && is_empty_order(c)));
        let roles: Vec<Option<Role>> = codecs.iter().map(|c| role(c.name())).collect();
        if roles.iter().all(|r| matches!(r, Some(Role::ArrayArray | Role::BytesBytes))) {
            let at = roles.iter().position(|r| *r == Some(Role::BytesBytes)).unwrap_or(codecs.len());
            codecs.insert(at, self.serializer(&codecs[..at])?);
        }
        self.check_usual(&codecs)?;
        let mut element = Element::of(&self.data_type);
        let complete = |codec: &Extension| {
            let full = complete(codec, element.size);
            element = element.after(codec);
            full
        };
        let codecs: Vec<Extension> = codecs.iter().map(complete).collect();
        match &self.chunks {
            Some(chunks) if self.shards.is_some() || self.grid.is_some() => {
                Ok(vec![Sharding::new(chunks.as_slice(), codecs).to_extension()])
            }
            _ => Ok(codecs),
        }
    }

    /// Returns the array → bytes codec that suits the data type after the codecs `before`.
    fn serializer(&self, before: &[Extension]) -> MetaResult<Extension> {
        match self.data_type.layout() {
            Layout::Fixed { unit: 1, .. } if !before.iter().any(|c| changes_type(c.name())) => {
                Ok(Extension::new("bytes"))
            }
            Layout::Fixed { .. } | Layout::Packed { .. } => {
                Ok(Extension::new("bytes").with("endian", "little"))
            }
            Layout::Variable => match &*self.data_type.name() {
                "string" => Ok(Extension::new("vlen-utf8")),
                "bytes" => Ok(Extension::new("vlen-bytes")),
                name => Err(MetaError::argument(format!(
                    "data type {name} has no default array-to-bytes codec, expected one in the list of codecs"
                ))),
            },
            _ => Err(MetaError::argument("expected an array-to-bytes codec in the list of codecs")),
        }
    }

    fn check_usual(&self, codecs: &[Extension]) -> MetaResult<()> {
        if self.unusual {
            return Ok(());
        }
        if let Some(codec) = codecs.iter().find(|c| c.explicit_must_understand().is_some()) {
            let message = format!("codec {:?} says must_understand, which most readers refuse", codec.name());
            return Err(MetaError::argument(message));
        }
        let shard = codecs.iter().position(|c| c.name() == Sharding::NAME);
        if let Some(behind) = shard.and_then(|i| codecs.get(i + 1)) {
            let message =
                format!("codec {:?} after a shard prevents readers from reading parts of it", behind.name());
            return Err(MetaError::argument(message));
        }
        Ok(())
    }
}

/// A sink that refuses U+0000 in names, because many C libraries cut a name there.
struct NoNul;

impl Sink for NoNul {
    fn report(&mut self, diagnostic: Diagnostic) -> MetaResult<()> {
        match diagnostic.code {
            Code::NulInText => Err(MetaError::argument(diagnostic.message).at(&diagnostic.pointer)),
            _ => Ok(()),
        }
    }
}

/// Refuses private names, which only models of older formats use.
fn check_public(document: &ArrayDocument) -> MetaResult<()> {
    let codecs = document.codecs().iter().enumerate().map(|(i, c)| (pointer::element("/codecs", i), c));
    let all = [("/data_type".to_owned(), document.data_type())].into_iter().chain(codecs);
    all.filter(|(_, extension)| is_private(extension.name())).try_for_each(|(place, extension)| {
        let message = format!("format 3 has no equivalent of {:?} of older formats", extension.name());
        Err(MetaError::argument(message).at(&place))
    })
}

/// Checks that the lengths of the shards in each dimension are multiples of the chunk lengths.
fn check_divides(chunks: &[u64], shards: impl Fn(usize) -> Vec<u64>) -> MetaResult<()> {
    for (dim, chunk) in chunks.iter().enumerate() {
        if let Some(shard) = shards(dim).into_iter().find(|shard| shard % chunk != 0) {
            let message = format!(
                "in dimension {dim} the shard length {shard} is not a multiple of the chunk length {chunk}"
            );
            return Err(MetaError::argument(message));
        }
    }
    Ok(())
}

fn regular(chunk_shape: &[u64]) -> Extension {
    Extension::new("regular").with("chunk_shape", chunk_shape.iter().copied().collect::<Value>())
}

fn is_empty_order(codec: &Extension) -> bool {
    codec.configuration().get("order").and_then(|o| o.elements()).is_some_and(|mut o| o.next().is_none())
}
