//! The codec under test, statements about it, and the chains in which it is run.

use std::cmp::Reverse;
use std::fmt;
use std::ops::RangeInclusive;

use zarr_engine::Chain;
use zarr_traits::codec::{Codec, CodecKind, Repr};
use zarr_traits::extension::{CodecEntry, Configuration, Context, Note, Spec};
use zarr_traits::json::Value;
use zarr_traits::{CodecResult, DataType, FillValue, Limits, Registry};

use super::around::{self, HIDDEN, OPEN, UNSIZED};
use super::chunk::{Case, Chunk, Pattern, Worker};
use crate::report::Fault;

/// A codec in one configuration, and statements about it.
///
/// A lossless codec for any elements in chunks of any shape needs no statements.
#[derive(Debug, Clone)]
pub struct Subject {
    pub(super) spec: Spec,
    pub(super) types: Option<Vec<DataType>>,
    pub(super) refused: Vec<DataType>,
    shapes: Option<Vec<Vec<u64>>>,
    pub(super) element: Option<fn(u64) -> Vec<u8>>,
    pub(super) lossy: bool,
    pub(super) checksum: bool,
    pub(super) largest: Option<fn() -> usize>,
    pub(super) answers: Vec<Answer>,
}

/// Elements and their encoded form.
#[derive(Debug, Clone)]
pub(super) struct Answer {
    pub(super) data_type: DataType,
    pub(super) shape: Vec<u64>,
    pub(super) elements: Vec<u8>,
    pub(super) encoded: Vec<u8>,
    /// Whether the elements must be encoded to exactly these bytes.
    pub(super) both_ways: bool,
}

/// The default shapes: no dimension, no element, one element, odd numbers of elements, and chunks that are large enough
/// to compress.
const SHAPES: &[&[u64]] = &[&[], &[0], &[1], &[7], &[3, 5], &[2, 0, 3], &[4, 3, 5], &[23, 11]];

impl Subject {
    /// Returns a subject for the codec `name` with the members of `configuration`, an object.
    ///
    /// # Panics
    /// If `configuration` is not an object.
    pub fn new(name: &str, configuration: Value) -> Self {
        let Some(configuration) = configuration.as_object() else {
            panic!("the configuration of {name:?} must be an object, not {configuration}");
        };
        Self {
            spec: Spec::named(name).configuration(configuration),
            types: None,
            refused: Vec::new(),
            shapes: None,
            element: None,
            lossy: false,
            checksum: false,
            largest: None,
            answers: Vec::new(),
        }
    }

    /// States that the codec accepts these data types; no others are tried. By default all core types and some unknown
    /// types of the suite are tried, and each must work or be refused.
    #[must_use]
    pub fn types(mut self, types: impl IntoIterator<Item = DataType>) -> Self {
        self.types = Some(types.into_iter().collect());
        self
    }

    /// States that the codec refuses these data types.
    #[must_use]
    pub fn refuses(mut self, types: impl IntoIterator<Item = DataType>) -> Self {
        self.refused.extend(types);
        self
    }

    /// States that the codec accepts chunks of these shapes, of every accepted type; no others are tried. At least one
    /// of them must have 1 to 60 elements, for the checks of damage. By default shapes of up to three dimensions are
    /// tried, and each must work or be refused.
    #[must_use]
    pub fn shapes(mut self, shapes: &[&[u64]]) -> Self {
        self.shapes = Some(shapes.iter().map(|shape| shape.to_vec()).collect());
        self
    }

    /// Sets a function that makes an element from a number, if not all bytes are valid elements. For elements of
    /// variable length it returns the content.
    #[must_use]
    pub fn elements(mut self, element: fn(u64) -> Vec<u8>) -> Self {
        self.element = Some(element);
        self
    }

    /// States that the codec rounds: only decoded elements must stay the same when they are encoded and decoded again.
    #[must_use]
    pub fn lossy(mut self) -> Self {
        self.lossy = true;
        self
    }

    /// States that the codec has a checksum: all damage must be an error.
    #[must_use]
    pub fn checksum(mut self) -> Self {
        self.checksum = true;
        self
    }

    /// Sets a function that returns the largest allocation of this thread since its last call, in bytes, from a
    /// counting allocator. Without it rule 12 is not checked.
    #[must_use]
    pub fn measured(mut self, largest: fn() -> usize) -> Self {
        self.largest = Some(largest);
        self
    }

    /// States that a chunk of dense `elements`, as they lie in memory, is encoded to exactly these bytes, and decoded
    /// from them. The bytes around a bytes → bytes or array → array codec are little-endian elements in C order.
    #[must_use]
    pub fn encodes(self, data_type: DataType, shape: &[u64], elements: &[u8], encoded: &[u8]) -> Self {
        self.answer(data_type, shape, elements, encoded, true)
    }

    /// States that these bytes, from another writer, are decoded to a chunk of dense `elements`.
    #[must_use]
    pub fn decodes(self, data_type: DataType, shape: &[u64], encoded: &[u8], elements: &[u8]) -> Self {
        self.answer(data_type, shape, elements, encoded, false)
    }

    fn answer(
        mut self,
        data_type: DataType,
        shape: &[u64],
        elements: &[u8],
        encoded: &[u8],
        both_ways: bool,
    ) -> Self {
        let (shape, elements, encoded) = (shape.to_vec(), elements.to_vec(), encoded.to_vec());
        self.answers.push(Answer { data_type, shape, elements, encoded, both_ways });
        self
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "codec {:?}", self.spec.name)?;
        if self.spec.configuration.is_empty() {
            return Ok(());
        }
        write!(f, " {}", self.spec.configuration.to_value())
    }
}

/// A codec under test with its registry.
#[derive(Clone)]
pub(super) struct Bench {
    pub(super) subject: Subject,
    pub(super) entry: CodecEntry,
    registry: Registry,
    limits: Limits,
}

impl Bench {
    pub(super) fn new(registry: Registry, subject: Subject) -> Result<Self, Fault> {
        let entry = registry.codec(&subject.spec.name).map_err(|e| Fault(format!("{e:#}")))?.clone();
        Ok(Self { subject, entry, registry, limits: Limits::default() })
    }

    /// Builds the codec for the rank and the type of `repr`.
    pub(super) fn build(&self, spec: &Spec, repr: &Repr) -> CodecResult<(Codec, Vec<Note>)> {
        let context = Context::new(&self.registry, &self.limits);
        let mut configuration = Configuration::new(&spec.configuration);
        let codec = self.entry.build(&mut configuration, repr, &context)?;
        Ok((codec, configuration.finish()))
    }

    fn chain(&self, specs: &[Spec], repr: &Repr) -> CodecResult<Chain> {
        let context = Context::new(&self.registry, &self.limits);
        Chain::build(specs, repr.clone(), &context, &mut Vec::new())
    }

    /// Returns the chains of `spec`, the codec's own or a changed one, with each kind of neighbour in turn.
    pub(super) fn chains(&self, repr: &Repr) -> CodecResult<Vec<Chain>> {
        let of = |name: &str| Spec::named(name);
        let this = || self.subject.spec.clone();
        let lists = match self.entry.kind() {
            CodecKind::ArrayArray => {
                vec![vec![this(), of(OPEN)], vec![this(), of(HIDDEN)], vec![this(), of(OPEN), of(UNSIZED)]]
            }
            CodecKind::ArrayBytes => vec![vec![this()], vec![this(), of(UNSIZED)]],
            CodecKind::BytesBytes => vec![
                vec![of(OPEN), this()],
                vec![of(HIDDEN), this()],
                vec![of(OPEN), of(UNSIZED), this()],
                vec![of(OPEN), this(), of(UNSIZED)],
            ],
        };
        lists.iter().map(|specs| self.chain(specs, repr)).collect()
    }

    /// Returns the shapes of chunks to try.
    pub(super) fn shapes(&self) -> Vec<&[u64]> {
        let said = self.subject.shapes.as_ref();
        said.map_or(SHAPES.to_vec(), |shapes| shapes.iter().map(Vec::as_slice).collect())
    }

    /// Whether the subject states the accepted shapes.
    pub(super) fn shapes_are_said(&self) -> bool {
        self.subject.shapes.is_some()
    }

    /// Returns the data types to try. A bytes → bytes codec sees only the layout of a type.
    pub(super) fn types(&self) -> Vec<DataType> {
        if let Some(types) = &self.subject.types {
            return types.clone();
        }
        let strange = [DataType::Raw(3)].into_iter().chain(around::types());
        let mut types: Vec<DataType> = DataType::CORE.into_iter().chain(strange).collect();
        if self.entry.kind() == CodecKind::BytesBytes {
            let layouts: Vec<_> = types.iter().map(DataType::layout).collect();
            let mut at = 0..;
            types.retain(|t| layouts.iter().position(|layout| *layout == t.layout()) == at.next());
        }
        types
    }

    /// Returns the representation that reaches the codec, with a fill value of zeros.
    pub(super) fn zeros(&self, data_type: &DataType, rank: usize) -> Repr {
        let fill = FillValue::from_bytes(vec![0; data_type.size().unwrap_or(0)]);
        Repr::new(data_type.clone(), fill, rank)
    }

    /// Returns chunks of every accepted type and shape, with elements of each pattern in turn.
    pub(super) fn cases(&self) -> Vec<Case> {
        let (types, shapes) = (self.types(), self.shapes());
        let all = types.iter().enumerate().flat_map(|(i, t)| {
            let shapes = shapes.iter().enumerate();
            shapes.map(move |(j, shape)| (t, shape, Pattern::ALL[(i + j) % Pattern::ALL.len()]))
        });
        all.filter_map(|(data_type, shape, pattern)| self.case(data_type, shape, pattern)).collect()
    }

    /// Returns a chunk of each accepted type, of about a hundred bytes (the largest accepted small shape), with its
    /// encoded form by the first chain. A missing chunk is a fault, because rules would pass without a check.
    pub(super) fn small_cases(&self) -> Result<Vec<(Case, Vec<u8>)>, Fault> {
        const SMALL: RangeInclusive<u64> = 1..=60;
        let elements = |shape: &[u64]| shape.iter().product::<u64>();
        let (types, mut shapes) = (self.types(), self.shapes());
        shapes.sort_by_key(|shape| Reverse(elements(shape)));
        let patterns = [Pattern::Waves, Pattern::Noise].into_iter().cycle();
        let (mut worker, mut cases) = (Worker::new(), Vec::new());
        for (data_type, pattern) in types.iter().zip(patterns) {
            let mut accepted = shapes.iter().filter(|shape| self.accepts(data_type, shape)).peekable();
            if accepted.peek().is_none() {
                continue;
            }
            let small = accepted.find(|shape| SMALL.contains(&elements(shape)));
            let none = || format!("no shape with {SMALL:?} elements is tried and accepted for {data_type}");
            let case = small.and_then(|shape| self.case(data_type, shape, pattern)).ok_or_else(none)?;
            let encoded = case.encode(&case.chains[0], worker.at(&case.chunk))?;
            cases.push((case, encoded));
        }
        Ok(cases)
    }

    /// Returns the chunk of a known answer.
    pub(super) fn answered(&self, answer: &Answer) -> Result<Case, Fault> {
        let repr = self.zeros(&answer.data_type, answer.shape.len());
        let chains = self.chains(&repr)?;
        let elements = answer.elements.chunks_exact(repr.fixed()?.0).map(<[u8]>::to_vec).collect();
        Ok(Case { chunk: Chunk { repr, shape: answer.shape.clone(), elements }, chains })
    }

    /// Whether the codec accepts chunks of this type and shape.
    pub(super) fn accepts(&self, data_type: &DataType, shape: &[u64]) -> bool {
        let chains = self.chains(&self.zeros(data_type, shape.len()));
        chains.is_ok_and(|chains| chains[0].check_shape(shape).is_ok())
    }

    /// Returns `None` if the type or the shape is refused.
    fn case(&self, data_type: &DataType, shape: &[u64], pattern: Pattern) -> Option<Case> {
        let mut repr = self.zeros(data_type, shape.len());
        let mut chains = self.chains(&repr).ok()?;
        if pattern == Pattern::Fill {
            // a codec may refuse a fill value that it cannot encode
            let fill = FillValue::from_bytes(Pattern::Waves.element(data_type, self.subject.element, 77));
            let other = Repr::new(repr.data_type.clone(), fill, repr.rank);
            if let Ok(built) = self.chains(&other) {
                (repr, chains) = (other, built);
            }
        }
        chains[0].check_shape(shape).ok()?;
        let chunk = Chunk::new(repr, shape, pattern, self.subject.element);
        Some(Case { chunk, chains })
    }
}
