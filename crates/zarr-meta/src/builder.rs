//! Metadata for new arrays of format 3, in the form that every implementation reads.

use crate::{GRIDS, RectilinearGrid};
use zarr_traits::extension::{Context, Spec, is_private};
use zarr_traits::{CodecError, DataType, Layout, Limits, Registry, RegularGrid};

use crate::codecs::{Element, full, zstd};
use crate::diagnostic::{Code, Diagnostic, Ignore, Sink, Strict};
use crate::documents::Format;
use crate::error::{MetaError, MetaResult};
use crate::fill::{self, Fill};
use crate::json::{Object, Value, pointer};
use crate::model::ArrayMeta;
use crate::names::{Role, changes_type, role};
use crate::shapes::Shapes;
use crate::v2::complete::complete;
use crate::v3::sharding::Sharding;
use crate::v3::{ArrayDocument, Extension, lengths, writable};

/// A builder of the metadata of a new array; see [`ArrayMeta::builder`].
///
/// Defaults are written into the document:
///
/// - Fill value 0, key encoding `default`.
/// - Codecs: `bytes` in little-endian order and `zstd` at level 3. `codecs([])` stores elements uncompressed.
/// - Without [`chunks`](Self::chunks): an array of up to 1 MiB is one chunk. A larger one has chunks of up to 512 KiB,
///   near to cubes, in shards of up to 16 MiB. A dimension of length 0 counts as 1024, elements of variable length count
///   as 32 bytes.
///
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
    codecs: Option<Vec<Extension>>,
    storage_transformers: Vec<Extension>,
    dimension_names: Option<Vec<Value>>,
    attributes: Attributes,
    unusual: bool,
}

impl ArrayMeta {
    /// Returns a builder of metadata for a new array of format 3.
    ///
    /// ```
    /// use zarr_meta::{ArrayMeta, DataType, codecs};
    /// use zarr_meta::json;
    ///
    /// let meta = ArrayMeta::builder([1000, 1000], DataType::Float32)
    ///     .chunks([100, 100])
    ///     .shards([500, 500])
    ///     .fill(f32::NAN)
    ///     .codecs([codecs::zstd(9)])
    ///     .dimension_names(["y", "x"])
    ///     .attributes(json!({ "units": "K" }))
    ///     .build()?;
    /// assert_eq!(meta.document().codecs()[0].name(), "sharding_indexed");
    /// # Ok::<(), zarr_meta::MetaError>(())
    /// ```
    pub fn builder(shape: impl Into<Vec<u64>>, data_type: DataType) -> ArrayBuilder {
        ArrayBuilder::new(shape.into(), data_type)
    }

    /// Returns a builder for a new array like this one in format 3: with its shape, chunks, shards, codecs, fill value, names
    /// (in format 2 an attribute) and attributes. Elements are of `data_type`, the [resolved](Self::resolve) type of this one.
    ///
    /// ```
    /// use zarr_meta::{ArrayMeta, DataType, codecs};
    ///
    /// let meta = ArrayMeta::builder([1000, 1000], DataType::Float32).codecs([codecs::zstd(9)]).build()?;
    /// let longer = meta.to_builder(DataType::Float32).shape([5000, 1000]).build()?;
    /// assert_eq!((longer.shape(), longer.document().codecs()), (&[5000, 1000][..], meta.document().codecs()));
    /// # Ok::<(), zarr_meta::MetaError>(())
    /// ```
    pub fn to_builder(&self, data_type: DataType) -> ArrayBuilder {
        ArrayBuilder::like(self, data_type)
    }
}

/// The attributes of the new array.
#[derive(Debug, Clone)]
enum Attributes {
    /// From the caller.
    Given(Value),
    /// From a stored array. They are kept, also where JSON cannot represent a value.
    Stored(Object),
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
            codecs: None,
            storage_transformers: Vec::new(),
            dimension_names: None,
            attributes: Attributes::Given(Object::new().into()),
            unusual: false,
        }
    }

    /// Returns a builder with the settings of an array, whose data type is `data_type`: its shape, chunks, shards, codecs,
    /// fill value, names and attributes. An older format becomes format 3.
    pub(crate) fn like(meta: &ArrayMeta, data_type: DataType) -> Self {
        let document = meta.document();
        let mut builder = Self::new(document.shape().to_vec(), data_type)
            .fill(Fill::stored(document.fill_value().clone()))
            .storage_transformers(document.storage_transformers().iter().map(|one| one.restated(None)));
        builder.attributes = Attributes::Stored(meta.attributes_without_names());
        // Codecs of the array that the builder would refuse are permitted, and no others.
        builder.unusual = builder.check_usual(document.codecs()).is_err();
        if meta.format() == Format::V3 {
            builder.key_encoding = document.chunk_key_encoding().restated(Some("separator"));
        }
        builder.dimension_names =
            meta.dimension_names().map(|names| names.iter().map(|name| name.as_deref().into()).collect());
        builder.with_chunks_of(document)
    }

    /// Takes the chunks, shards and codecs of a document. Shards in the form that this builder writes become settings,
    /// so that they can be changed; others stay a codec.
    fn with_chunks_of(mut self, document: &ArrayDocument) -> Self {
        let element = Element::of(&self.data_type);
        let codecs = full(document.codecs(), element, document.shape().len(), &Registry::core());
        let grid = document.chunk_grid().restated(None);
        let outer = grid.configuration().get("chunk_shape").filter(|_| grid.name() == "regular");
        let outer = outer.and_then(|shape| lengths(&shape, "", usize::MAX, &mut Ignore).ok());
        let usual = match &codecs[..] {
            [only] => Sharding::parse(only).ok().flatten(),
            _ => None,
        };
        match usual.filter(|s| *s == Sharding::new(s.chunk_shape.clone(), s.codecs.clone())) {
            Some(Sharding { chunk_shape, codecs, .. }) => {
                (self.chunks, self.codecs) = (Some(chunk_shape), Some(codecs));
                match outer {
                    Some(shards) => self.shards = Some(shards),
                    None => self.grid = Some(grid),
                }
            }
            None => {
                self.codecs = Some(codecs);
                match outer {
                    Some(chunks) => self.chunks = Some(chunks),
                    None => self.grid = Some(grid),
                }
            }
        }
        self
    }

    /// Sets the shape of the array.
    #[must_use]
    pub fn shape(mut self, shape: impl Into<Vec<u64>>) -> Self {
        self.shape = shape.into();
        self
    }

    /// Sets the shape of a chunk in elements; with [`shards`](Self::shards) that of an inner chunk. Without `shards`, the
    /// array then has no shards.
    #[must_use]
    pub fn chunks(mut self, shape: impl Into<Vec<u64>>) -> Self {
        self.chunks = Some(shape.into());
        self
    }

    /// Packs the chunks into shards of this shape in elements, which must be a multiple of the chunk shape. The codecs
    /// then apply to the inner chunks. Without [`chunks`](Self::chunks), chunks of up to 512 KiB are chosen.
    #[must_use]
    #[doc(alias = "subchunk")]
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
    /// use zarr_meta::json;
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
    #[doc(alias = "nodata")]
    pub fn fill(mut self, fill: impl Into<Fill>) -> Self {
        self.fill = Some(fill.into());
        self
    }

    /// Sets the codecs in the order of encoding, see [`codecs`](crate::codecs); none of them for uncompressed chunks. If all of them are known by name and there is no array-to-bytes codec,
    /// the one that suits the data type is inserted: `bytes`, or `vlen-utf8` for strings. A list with an unknown codec
    /// is not changed.
    #[must_use]
    #[doc(alias("compress", "compressors"))]
    pub fn codecs(mut self, codecs: impl IntoIterator<Item = Extension>) -> Self {
        self.codecs = Some(codecs.into_iter().collect());
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
        self.attributes = Attributes::Given(attributes.into());
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
        self.check_layout()?;
        self.choose_shapes();
        let grid = self.grid()?;
        let codecs = self.all_codecs()?;
        let mut root = Object::new();
        root.set("zarr_format", 3);
        root.set("node_type", "array");
        root.set("shape", self.shape.iter().copied().collect::<Value>());
        root.set("data_type", Extension::from(&self.data_type));
        root.set("chunk_grid", grid);
        root.set("chunk_key_encoding", &self.key_encoding);
        root.set("fill_value", self.fill_value()?);
        root.set("codecs", codecs);
        let attributes = match &self.attributes {
            Attributes::Given(attributes) => writable(attributes)?,
            // They are set last, because the checks are for new attributes.
            Attributes::Stored(_) => Object::new().into(),
        };
        root.set("attributes", attributes);
        if let Some(names) = self.dimension_names.take().filter(|names| !names.iter().all(Value::is_null)) {
            root.set("dimension_names", names);
        }
        if !self.storage_transformers.is_empty() {
            root.set("storage_transformers", std::mem::take(&mut self.storage_transformers));
        }
        // There is no limit to the rank of a new array; readers apply their own limits later.
        let root = Value::parse(root.to_value().as_raw())?;
        let mut document = ArrayDocument::new(&root, &Limits::unlimited(), &mut Strict)?;
        document.lint(&mut NoNul)?;
        check_public(&document)?;
        if let Attributes::Stored(attributes) = &self.attributes {
            document.keep_attributes(attributes);
        }
        Ok(document.into())
    }

    /// Checks that elements of the data type have a byte order.
    fn check_layout(&self) -> MetaResult<()> {
        let (name, layout) = (self.data_type.name(), self.data_type.layout());
        let Layout::Fixed { size, unit } = layout else { return Ok(()) };
        let message = format!(
            "data type {name:?} has elements of {size} bytes in units of {unit}, expected units of 1, 2, 4, 8 or 16 that \
             divide the element (1: no byte order)"
        );
        if layout.is_valid() { Ok(()) } else { Err(MetaError::argument(message).at("/data_type")) }
    }

    /// Chooses the shapes of chunks and shards that are not given.
    fn choose_shapes(&mut self) {
        // Shards that are configured as a codec need chunks that the caller knows.
        let is_sharded = self.codecs.iter().flatten().any(|codec| codec.name() == Sharding::NAME);
        if self.chunks.is_some() || self.grid.is_some() || is_sharded {
            return;
        }
        match &self.shards {
            Some(shards) => self.chunks = Some(Shapes::inside(shards, &self.data_type)),
            None => {
                let Shapes { chunks, shards } = Shapes::of(&self.shape, &self.data_type);
                (self.chunks, self.shards) = (Some(chunks), shards);
            }
        }
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
            (Some(grid), None) if grid.name() == RectilinearGrid::ENTRY.name() => {
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
        let (built, notes) = registry.chunk_grid(&grid.to_spec(), &self.shape, &context).map_err(refused)?;
        if let Some(note) = notes.into_iter().next() {
            return Err(MetaError::argument(note.message).at(&note.pointer).at("/chunk_grid"));
        }
        check_divides(chunks, |dim| built.lengths(dim))?;
        let built = RectilinearGrid::new((0..built.rank()).map(|dim| built.runs(dim))).map_err(refused)?;
        let Spec { name, configuration, .. } = built.to_spec();
        let base = if name == grid.name() { grid.clone() } else { Extension::new(name) };
        Ok(configuration.members().fold(base, |grid, member| grid.with(&member.name_lossy(), member.value())))
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

    fn fill_value(&self) -> MetaResult<Value> {
        let bits = match &self.fill {
            None => Ok(fill::default(&self.data_type)),
            Some(fill) => fill.bits(&self.data_type),
        };
        bits.and_then(|bits| fill::for_document(&self.data_type, &bits)).map_err(|e| e.at("/fill_value"))
    }

    /// Returns the codecs of the document, with the defaults inserted.
    fn all_codecs(&mut self) -> MetaResult<Vec<Extension>> {
        let mut codecs = self.codecs.take().unwrap_or_else(|| vec![zstd(LEVEL)]);
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

/// The level of the default compression.
const LEVEL: i32 = 3;

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
