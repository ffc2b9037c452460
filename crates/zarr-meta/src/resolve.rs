//! Resolving: looks up the extensions of a document in a registry, so that chunks can be read.

use std::sync::Arc;

use zarr_engine::Chain;
use zarr_traits::codec::Repr;
use zarr_traits::extension::{Context, Note, NoteKind, Spec};
use zarr_traits::{
    ChunkGrid, CodecError, CodecErrorKind, DataType, FillValue, KeyEncoding, Limits, Prefix, Registry,
    Storage, StorageTransformer,
};

use crate::diagnostic::{Below, Capped, Code, Diagnostic, Ignore, Sink};
use crate::error::{MetaError, MetaErrorKind, MetaResult};
use crate::fill;
use crate::json::pointer;
use crate::known;
use crate::v3::{ArrayDocument, Extension};

/// The meaning of an array's document according to a registry.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Resolved {
    /// The data type.
    pub data_type: DataType,
    /// The fill value as exact bits.
    pub fill: FillValue,
    /// The chunk grid.
    pub grid: Arc<dyn ChunkGrid>,
    /// The chunk key encoding.
    pub key_encoding: Arc<dyn KeyEncoding>,
    /// The codecs.
    pub chain: Arc<Chain>,
    /// The storage transformers in the order of the document, without skipped ones.
    pub transformers: Vec<Arc<dyn StorageTransformer>>,
}

impl Resolved {
    /// Returns the unknown codecs that the document permits readers to skip. If there are any, the array can be read,
    /// but must not be written, because the chunks would lack these codecs.
    pub fn skipped(&self) -> &[String] {
        self.chain.skipped()
    }

    /// Returns the storage with the chunks of the array at `node` of `storage`, behind the storage transformers. A
    /// request passes the transformers in the order of the document, so the last one is next to the store.
    pub fn storage(&self, storage: &Storage, node: &Prefix) -> Storage {
        if self.transformers.is_empty() {
            return storage.clone();
        }
        let below = storage.clone();
        let chunks = self.transformers.iter().rev().fold(below, |below, outer| outer.wrap(&below, node));
        chunks.made_of(storage)
    }
}

/// Resolves a document of format 3, or the model of an older one if `registry` knows private names.
pub(crate) fn resolve(
    array: &ArrayDocument,
    registry: &Registry,
    limits: &Limits,
    sink: &mut dyn Sink,
) -> MetaResult<Resolved> {
    let context = Context::new(registry, limits);
    let sink: &mut dyn Sink = &mut Capped::new(sink);

    let repr = repr(array, &context, sink)?;
    let grid = chunk_grid(array, &context, sink)?;
    let key_encoding = key_encoding(array, &context, sink)?;
    let transformers = transformers(array, &context, sink)?;
    let Repr { data_type, fill, .. } = repr.clone();
    let chain = chain(array, repr, &context, sink)?;
    check_shapes(&chain, &*grid).map_err(|e| refused(e, "/codecs"))?;
    Ok(Resolved { data_type, fill, grid, key_encoding, chain: Arc::new(chain), transformers })
}

/// Returns the data type, fill value and rank of the elements.
fn repr(array: &ArrayDocument, context: &Context<'_>, sink: &mut dyn Sink) -> MetaResult<Repr> {
    let data_type = data_type(array, context, sink)?;
    let fill = fill::read(&data_type, array.fill_value(), &mut Below::member("/fill_value", sink))
        .map_err(|e| e.at("/fill_value"))?;
    Ok(Repr::new(data_type, fill, array.shape().len()))
}

/// Resolves only the data type of an array.
pub(crate) fn data_type_alone(
    array: &ArrayDocument,
    registry: &Registry,
    limits: &Limits,
) -> MetaResult<DataType> {
    data_type(array, &Context::new(registry, limits), &mut Ignore)
}

/// Resolves the data type.
fn data_type(array: &ArrayDocument, context: &Context<'_>, sink: &mut dyn Sink) -> MetaResult<DataType> {
    let (spec, waived) = meaningless_waiver(array.data_type(), "/data_type");
    let found = context.registry.data_type(&spec, context);
    let (data_type, notes) = found.map_err(|e| refused(e, "/data_type"))?;
    waived.into_iter().try_for_each(|d| sink.report(d))?;
    report(&notes, "/data_type", sink)?;
    Ok(data_type)
}

/// Returns the name and configuration of an extension that a reader must never ignore. If the document has
/// `must_understand: false` there, that has no effect and is reported as a diagnostic.
fn meaningless_waiver(extension: &Extension, place: &str) -> (Spec, Option<Diagnostic>) {
    let spec = extension.to_spec();
    let message = "must_understand: false has no meaning here, ignored";
    let waived = (!spec.must_understand)
        .then(|| Diagnostic::new(Code::MeaninglessWaiver, pointer::join(place, "must_understand"), message));
    (spec, waived)
}

/// Resolves only the chunk grid of an array.
pub(crate) fn chunk_grid_alone(
    array: &ArrayDocument,
    registry: &Registry,
    limits: &Limits,
) -> MetaResult<Arc<dyn ChunkGrid>> {
    chunk_grid(array, &Context::new(registry, limits), &mut Ignore)
}

/// Resolves the chunk grid.
fn chunk_grid(
    array: &ArrayDocument,
    context: &Context<'_>,
    sink: &mut dyn Sink,
) -> MetaResult<Arc<dyn ChunkGrid>> {
    const PLACE: &str = "/chunk_grid";
    check_lists(array.chunk_grid(), context.limits).map_err(|e| e.at(PLACE))?;
    let (spec, waived) = meaningless_waiver(array.chunk_grid(), PLACE);
    let built = context.registry.chunk_grid(&spec, array.shape(), context);
    let (grid, notes) = built.map_err(|e| refused(e, PLACE))?;
    waived.into_iter().try_for_each(|d| sink.report(d))?;
    report(&notes, PLACE, sink)?;
    Ok(grid)
}

/// Counts the entries in lists of chunk lengths. The values made of them take many times the memory of their text.
fn check_lists(grid: &Extension, limits: &Limits) -> MetaResult<()> {
    let most = limits.grid_runs.saturating_mul(2);
    // Each entry has a character at least.
    if grid.to_value().as_raw().len() <= most {
        return Ok(());
    }
    for member in grid.configuration().members() {
        let lists = member.value().elements().into_iter().flatten();
        let entries = lists.flat_map(|list| list.elements().into_iter().flatten());
        if entries.take(most.saturating_add(1)).count() > most {
            let message = format!("the lists have more than {most} entries");
            return Err(MetaError::limit(message).at(&pointer::join("/configuration", &member.name_lossy())));
        }
    }
    Ok(())
}

/// Resolves only the key encoding of an array.
pub(crate) fn key_encoding_alone(
    array: &ArrayDocument,
    registry: &Registry,
    limits: &Limits,
) -> MetaResult<Arc<dyn KeyEncoding>> {
    key_encoding(array, &Context::new(registry, limits), &mut Ignore)
}

/// Resolves the key encoding. An unknown encoding is never read as `default`.
fn key_encoding(
    array: &ArrayDocument,
    context: &Context<'_>,
    sink: &mut dyn Sink,
) -> MetaResult<Arc<dyn KeyEncoding>> {
    const PLACE: &str = "/chunk_key_encoding";
    let extension = array.chunk_key_encoding();
    let (mut spec, waived) = meaningless_waiver(extension, PLACE);
    let misplaced = extension.beside("separator");
    if let Some(separator) = &misplaced
        && !spec.configuration.contains("separator")
    {
        spec.configuration.set("separator", separator);
    }
    let (encoding, notes) = context.registry.key_encoding(&spec, context).map_err(|e| refused(e, PLACE))?;
    waived.into_iter().try_for_each(|d| sink.report(d))?;
    if misplaced.is_some() {
        let message = "separator belongs in configuration; read as if it were there, unless there is one";
        sink.report(Diagnostic::new(Code::MisplacedSeparator, pointer::join(PLACE, "separator"), message))?;
    }
    report(&notes, PLACE, sink)?;
    Ok(encoding)
}

/// Resolves the storage transformers. Unknown ones with `must_understand: false` are skipped.
fn transformers(
    array: &ArrayDocument,
    context: &Context<'_>,
    sink: &mut dyn Sink,
) -> MetaResult<Vec<Arc<dyn StorageTransformer>>> {
    let mut transformers = Vec::new();
    for (i, extension) in array.storage_transformers().iter().enumerate() {
        let place = pointer::element("/storage_transformers", i);
        let spec = extension.to_spec();
        match context.registry.transformer(&spec, context) {
            Ok((transformer, notes)) => {
                report(&notes, &place, sink)?;
                transformers.push(transformer);
            }
            Err(e) if e.kind() == CodecErrorKind::UnknownExtension && !spec.must_understand => {
                let message =
                    format!("unknown storage transformer {:?}, ignored as the document allows", spec.name);
                sink.report(Diagnostic::new(Code::SkippedTransformer, place, message))?;
            }
            Err(e) => return Err(refused(e, &place)),
        }
    }
    Ok(transformers)
}

/// Resolves only the codecs of an array.
pub(crate) fn chain_alone(array: &ArrayDocument, registry: &Registry, limits: &Limits) -> MetaResult<Chain> {
    let context = Context::new(registry, limits);
    chain(array, repr(array, &context, &mut Ignore)?, &context, &mut Ignore)
}

/// Resolves the codecs.
fn chain(array: &ArrayDocument, repr: Repr, context: &Context<'_>, sink: &mut dyn Sink) -> MetaResult<Chain> {
    if array.codecs().is_empty() {
        return Err(MetaError::invalid("expected at least one codec, found none").at("/codecs"));
    }
    let specs: Vec<Spec> = array.codecs().iter().map(Extension::to_spec).collect();
    let mut notes = Vec::new();
    let chain = Chain::build(&specs, repr, context, &mut notes).map_err(|e| refused(e, "/codecs"))?;
    report(&notes, "/codecs", sink)?;
    Ok(chain)
}

/// The most chunk shapes that are all checked when an array is opened.
const TRIED: usize = 1 << 12;

/// Checks that the codecs support the chunk shapes of the grid. If there are at most [`TRIED`] shapes, all are checked.
/// Else each length of each dimension is checked with the first lengths of the others: most codecs check dimensions one
/// by one, and a shape that is missed is an error when it is read.
fn check_shapes(chain: &Chain, grid: &dyn ChunkGrid) -> Result<(), CodecError> {
    let lengths: Vec<Vec<u64>> = (0..grid.rank()).map(|dim| grid.lengths(dim)).collect();
    // A dimension of length 0 may have no chunk.
    let first: Vec<u64> = lengths.iter().map(|l| l.first().copied().unwrap_or(1)).collect();
    let few = lengths.iter().try_fold(1, |all: usize, l| all.checked_mul(l.len().max(1)));
    let mut shapes = vec![first];
    for (dim, lengths) in lengths.iter().enumerate() {
        let bases = if few.is_some_and(|n| n <= TRIED) { &shapes[..] } else { &shapes[..1] };
        let pairs = lengths.iter().skip(1).flat_map(|length| bases.iter().map(move |base| (base, *length)));
        let with = |(base, length): (&Vec<u64>, u64)| {
            let mut shape = base.clone();
            shape[dim] = length;
            shape
        };
        let more: Vec<_> = pairs.map(with).collect();
        shapes.extend(more);
    }
    shapes.iter().try_for_each(|shape| chain.check_shape(shape))
}

/// Turns the error of a registry or codec into one about the document.
fn refused(e: CodecError, place: &str) -> MetaError {
    let hint = e.unknown_name().and_then(|(point, name)| known::hint(point, name));
    let e = match hint {
        Some(hint) => e.with_hint(&hint),
        None => e,
    };
    let kind = match e.kind() {
        CodecErrorKind::UnknownExtension => MetaErrorKind::UnknownExtension,
        CodecErrorKind::LimitExceeded => MetaErrorKind::LimitExceeded,
        CodecErrorKind::Unsupported => MetaErrorKind::Unsupported,
        _ => MetaErrorKind::Invalid,
    };
    let inner = e.pointer().to_owned();
    let message = match kind {
        MetaErrorKind::UnknownExtension => "cannot be understood",
        MetaErrorKind::LimitExceeded => "exceeds a limit",
        MetaErrorKind::Unsupported => "cannot be used here",
        _ => "is not valid",
    };
    MetaError::new(kind, message).at(&inner).at(place).with_source(e)
}

/// Reports the notes of an extension.
fn report(notes: &[Note], place: &str, sink: &mut dyn Sink) -> MetaResult<()> {
    notes.iter().try_for_each(|note| {
        let place = format!("{place}{}", note.pointer);
        sink.report(Diagnostic::new(code(note.kind), place, note.message.clone()))
    })
}

/// Returns the code of a note. Notes of third parties get the general code.
fn code(kind: NoteKind) -> Code {
    match kind {
        NoteKind::UnknownMember => Code::ConfigurationMember,
        NoteKind::Alias => Code::AliasName,
        NoteKind::SkippedCodec => Code::SkippedCodec,
        NoteKind::MeaninglessWaiver => Code::MeaninglessWaiver,
        NoteKind::IntegerSpelling => Code::IntegerSpelling,
        NoteKind::ZeroChunk => Code::ZeroChunk,
        _ => Code::CodecConfiguration,
    }
}
