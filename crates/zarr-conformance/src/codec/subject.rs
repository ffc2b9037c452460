//! The codec under test, what its author says of it, and the chains in which it is run.

use std::cmp::Reverse;
use std::fmt;
use std::ops::RangeInclusive;

use zarr_engine::Chain;
use zarr_traits::serde_json::Value;
use zarr_traits::{
    CodecResult, DataType, FillValue, Limits, Registry, Spec,
    codec::{Codec, CodecEntry, CodecKind, Configuration, Context, Note, Repr},
};

use super::around::{self, HIDDEN, OPEN, UNSIZED};
use super::chunk::{Chunk, Pattern, Worker};
use crate::report::Fault;

/// A codec in one configuration, and what its author says of it.
///
/// Nothing need be said of a codec that takes any elements in chunks of any shape and gives back what it got.
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
    /// Whether it is encoded to just these bytes.
    pub(super) both_ways: bool,
}

/// Shapes where a subject says none: no dimension, no element, one, odd numbers of them, and some that compressors can do
/// something with.
const SHAPES: &[&[u64]] = &[&[], &[0], &[1], &[7], &[3, 5], &[2, 0, 3], &[4, 3, 5], &[23, 11]];

impl Subject {
    /// The codec `name` with the members of `configuration`, an object.
    ///
    /// # Panics
    /// When `configuration` is not an object.
    pub fn new(name: &str, configuration: Value) -> Self {
        let Value::Object(configuration) = configuration else {
            panic!("the configuration of {name:?} must be an object, not {configuration}");
        };
        Self {
            spec: Spec { configuration, ..Spec::named(name) },
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

    /// It accepts these data types, and no other is tried. Unless this is said, all types of the core are tried and some of
    /// the suite that no codec has heard of, and each must be refused or work.
    #[must_use]
    pub fn types(mut self, types: impl IntoIterator<Item = DataType>) -> Self {
        self.types = Some(types.into_iter().collect());
        self
    }

    /// It refuses these data types.
    #[must_use]
    pub fn refuses(mut self, types: impl IntoIterator<Item = DataType>) -> Self {
        self.refused.extend(types);
        self
    }

    /// It accepts chunks of these shapes, of every type that it accepts, and no other shape is tried. One of them at least
    /// has 1 to 60 elements: what is damaged is that small. Unless this is said, shapes of up to three dimensions are
    /// tried, and each must be refused or work.
    #[must_use]
    pub fn shapes(mut self, shapes: &[&[u64]]) -> Self {
        self.shapes = Some(shapes.iter().map(|shape| shape.to_vec()).collect());
        self
    }

    /// Not all bytes are elements: this makes one, of its content if elements differ in length, of any number.
    #[must_use]
    pub fn elements(mut self, element: fn(u64) -> Vec<u8>) -> Self {
        self.element = Some(element);
        self
    }

    /// It rounds: what was decoded once must be the same when it is encoded and decoded again.
    #[must_use]
    pub fn lossy(mut self) -> Self {
        self.lossy = true;
        self
    }

    /// It has a checksum: no damage passes for a chunk.
    #[must_use]
    pub fn checksum(mut self) -> Self {
        self.checksum = true;
        self
    }

    /// `largest` says how large the largest allocation was that this thread has made since it was asked last, in bytes: what
    /// an allocator that counts knows. Without one nobody knows what memory is taken (rule 12).
    #[must_use]
    pub fn measured(mut self, largest: fn() -> usize) -> Self {
        self.largest = Some(largest);
        self
    }

    /// A chunk of dense `elements`, as they lie in memory, becomes just these bytes, and these bytes the chunk. Around a
    /// bytes → bytes or array → array codec elements are little endian in C order.
    #[must_use]
    pub fn encodes(self, data_type: DataType, shape: &[u64], elements: &[u8], encoded: &[u8]) -> Self {
        self.answer(data_type, shape, elements, encoded, true)
    }

    /// These bytes, of some other writer, become a chunk of dense `elements`.
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
        write!(f, " {}", Value::Object(self.spec.configuration.clone()))
    }
}

/// The place where a codec is tried.
#[derive(Clone)]
pub(super) struct Bench {
    pub(super) subject: Subject,
    pub(super) entry: CodecEntry,
    registry: Registry,
    limits: Limits,
}

/// A chunk, and the chains through which it goes; the codec is alone in the first one, as far as it can be.
pub(super) struct Case {
    pub(super) chunk: Chunk,
    pub(super) chains: Vec<Chain>,
}

impl Bench {
    pub(super) fn new(registry: Registry, subject: Subject) -> Result<Self, Fault> {
        let entry = registry.codec(&subject.spec.name).map_err(|e| Fault(e.to_string()))?;
        Ok(Self { subject, entry, registry, limits: Limits::default() })
    }

    /// The codec itself, for what has the rank and the type of `repr`.
    pub(super) fn build(&self, spec: &Spec, repr: &Repr) -> CodecResult<(Codec, Vec<Note>)> {
        let context = Context::new(&self.registry, &self.limits);
        let mut configuration = Configuration::new(&spec.configuration);
        let codec = (self.entry.build)(&mut configuration, repr, &context)?;
        Ok((codec, configuration.finish()))
    }

    fn chain(&self, specs: &[Spec], repr: &Repr) -> CodecResult<Chain> {
        let context = Context::new(&self.registry, &self.limits);
        Chain::build(specs, repr.clone(), &context, &mut Vec::new())
    }

    /// The chains of `spec`, which is that of the codec or a changed one: each other kind of neighbour in turn.
    pub(super) fn chains(&self, repr: &Repr) -> CodecResult<Vec<Chain>> {
        let of = |name: &str| Spec::named(name);
        let this = || self.subject.spec.clone();
        let lists = match self.entry.kind {
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

    /// The shapes of chunks to try.
    pub(super) fn shapes(&self) -> Vec<&[u64]> {
        let said = self.subject.shapes.as_ref();
        said.map_or(SHAPES.to_vec(), |shapes| shapes.iter().map(Vec::as_slice).collect())
    }

    /// Whether the subject says that just these shapes are accepted.
    pub(super) fn shapes_are_said(&self) -> bool {
        self.subject.shapes.is_some()
    }

    /// The data types to try. A codec of bytes sees no more of a type than how it lies in memory.
    pub(super) fn types(&self) -> Vec<DataType> {
        if let Some(types) = &self.subject.types {
            return types.clone();
        }
        let strange = [DataType::Raw(3)].into_iter().chain(around::types());
        let mut types: Vec<DataType> = DataType::CORE.into_iter().chain(strange).collect();
        if self.entry.kind == CodecKind::BytesBytes {
            let layouts: Vec<_> = types.iter().map(DataType::layout).collect();
            let mut at = 0..;
            types.retain(|t| layouts.iter().position(|layout| *layout == t.layout()) == at.next());
        }
        types
    }

    /// What reaches the codec, of a type and a rank, with a fill value of zeros.
    pub(super) fn zeros(&self, data_type: &DataType, rank: usize) -> Repr {
        let fill = FillValue::from_bytes(vec![0; data_type.size().unwrap_or(0)]);
        Repr::new(data_type.clone(), fill, rank)
    }

    /// Chunks of every type that is accepted and of every shape, with elements of each pattern in turn.
    pub(super) fn cases(&self) -> Vec<Case> {
        let (types, shapes) = (self.types(), self.shapes());
        let all = types.iter().enumerate().flat_map(|(i, t)| {
            let shapes = shapes.iter().enumerate();
            shapes.map(move |(j, shape)| (t, shape, Pattern::ALL[(i + j) % Pattern::ALL.len()]))
        });
        all.filter_map(|(data_type, shape, pattern)| self.case(data_type, shape, pattern)).collect()
    }

    /// A chunk of each type that is accepted, some hundred bytes long: the largest shape that is accepted and small; with
    /// the encoded form by the first chain. It is a fault if there is none: rules would pass that were not tried.
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
            let none = || format!("of {data_type} no chunk of {SMALL:?} elements is tried and accepted");
            let case = small.and_then(|shape| self.case(data_type, shape, pattern)).ok_or_else(none)?;
            let encoded = case.encode(&case.chains[0], worker.at(&case.chunk))?;
            cases.push((case, encoded));
        }
        Ok(cases)
    }

    /// The chunk of a known answer.
    pub(super) fn answered(&self, answer: &Answer) -> Result<Case, Fault> {
        let repr = self.zeros(&answer.data_type, answer.shape.len());
        let chains = self.chains(&repr)?;
        let elements = answer.elements.chunks_exact(repr.fixed()?.0).map(<[u8]>::to_vec).collect();
        Ok(Case { chunk: Chunk { repr, shape: answer.shape.clone(), elements }, chains })
    }

    /// Whether it takes chunks of this type and shape.
    pub(super) fn accepts(&self, data_type: &DataType, shape: &[u64]) -> bool {
        let chains = self.chains(&self.zeros(data_type, shape.len()));
        chains.is_ok_and(|chains| chains[0].check_shape(shape).is_ok())
    }

    /// `None` where the type or the shape is refused.
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
