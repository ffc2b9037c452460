//! The suite finds each flaw of a codec, and reports it under the right rule.
#![allow(clippy::unwrap_used, reason = "it is for tests")]
#![allow(unsafe_code, reason = "a counting allocator")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use zarr_conformance::Failures;
use zarr_conformance::codec::{Subject, check};
use zarr_traits::json::{Value, json};
use zarr_traits::strided::{Destination, Dims, Source, Swap};
use zarr_traits::{codec::*, extension::*, partial::*, *};

/// The flaw of a codec, from its configuration.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Flaw(&'static str);

impl Flaw {
    fn of(configuration: &mut Configuration<'_>) -> CodecResult<Self> {
        let given = configuration.optional_string("flaw")?;
        let all = BYTES_BYTES.iter().chain(ARRAY_BYTES).chain(ARRAY_ARRAY).chain(RESHAPES);
        let known = all.map(|(name, _)| *name).find(|name| given.as_deref() == Some(name));
        Ok(Self(known.unwrap_or("none")))
    }

    fn is(self, name: &str) -> bool {
        self.0 == name
    }
}

/// The flaws of [`Framed`], and the rule that each breaks.
const BYTES_BYTES: &[(&str, &str)] = &[
    ("forgets the last byte", "1"),
    ("accepts unsupported chunks", "2"),
    ("accepts a type that it must refuse", "2"),
    ("has another kind", "3"),
    ("ignores nested members", "4"),
    ("panics for a number", "4"),
    ("is larger than it says", "5"),
    ("is smaller than it says", "5"),
    ("overflows in its size", "5"),
    ("has bounds that shrink", "5"),
    ("clears the output", "6"),
    ("encodes differently after bytes", "6"),
    ("returns wrong bytes of a span", "8"),
    ("accepts any size of a span", "8"),
    ("truncates what does not fit", "10"),
    ("does not report too large", "10"),
    ("decodes zero bytes", "10"),
    ("panics for truncated bytes", "11"),
    ("pads truncated bytes", "11"),
    ("ignores trailing bytes", "11"),
    ("skips the checksum", "11"),
    ("reports more bytes than the room has", "11"),
    ("trusts a stored length", "12"),
    ("fails again after an error", "13"),
    ("writes another form", "14"),
];

/// A codec that writes a length, the bytes with some flipped bits, and their sum.
#[derive(Debug)]
struct Framed(Flaw, u8);

#[derive(Default)]
struct Failed(bool);

fn sum(bytes: &[u8]) -> u8 {
    bytes.iter().fold(7, |sum, byte| sum.rotate_left(1).wrapping_add(*byte))
}

impl Framed {
    /// Returns the bytes between length and sum.
    fn body<'a>(&self, src: &'a [u8]) -> CodecResult<&'a [u8]> {
        if self.0.is("panics for truncated bytes") {
            assert!(src.len() > 4, "no length");
        }
        let (len, rest) = src.split_first_chunk().ok_or_else(|| CodecError::corrupt("no length"))?;
        let len = usize::try_from(u32::from_le_bytes(*len)).unwrap();
        if self.0.is("trusts a stored length") {
            drop(vec![0_u8; len]);
        }
        let (body, end) = rest.split_at_checked(len).ok_or_else(|| CodecError::corrupt("cut"))?;
        let right = match end {
            [_, _, ..] if self.0.is("ignores trailing bytes") => end[0] == sum(body),
            _ => *end == [sum(body)] || self.0.is("skips the checksum"),
        };
        if right { Ok(body) } else { Err(CodecError::new(CodecErrorKind::Checksum, "another sum")) }
    }
}

impl BytesBytesCodec for Framed {
    fn decode_into(&self, src: &[u8], dst: &mut [u8], scratch: &mut Scratch) -> CodecResult<usize> {
        let failed = &mut scratch.slot::<Failed>().0;
        if *failed && self.0.is("fails again after an error") {
            return Err(CodecError::corrupt("once more"));
        }
        *failed = true;
        if self.0.is("decodes zero bytes") && src.is_empty() {
            dst.fill(0);
            return Ok(dst.len());
        }
        let body = match (self.0, self.body(src)) {
            (Flaw("reports more bytes than the room has"), Err(_)) => return Ok(dst.len() + 1),
            (Flaw("pads truncated bytes"), Err(_)) if src.len() < dst.len() => {
                dst.fill(0);
                return Ok(dst.len());
            }
            (_, body) => body?,
        };
        let body = &body[..body.len() - usize::from(self.0.is("forgets the last byte") && body.len() > 1)];
        let room = dst.len();
        let body = match self.0 {
            Flaw("truncates what does not fit") => &body[..body.len().min(room)],
            Flaw("does not report too large") if room < body.len() => {
                return Err(CodecError::corrupt("no room"));
            }
            _ => body,
        };
        let dst = dst.get_mut(..body.len()).ok_or_else(too_large)?;
        dst.iter_mut().zip(body).for_each(|(to, from)| *to = from ^ self.1);
        *failed = false;
        Ok(dst.len())
    }

    fn decode_span(
        &self,
        src: &[u8],
        size: usize,
        span: Range<usize>,
        dst: &mut [u8],
        _: &mut Scratch,
    ) -> CodecResult<bool> {
        let body = self.body(src)?;
        if body.len() != size && !self.0.is("accepts any size of a span") {
            return Err(CodecError::corrupt("another size"));
        }
        let Some(body) = body.get(span) else { return Ok(false) };
        let turned = if self.0.is("returns wrong bytes of a span") { 0 } else { self.1 };
        dst.iter_mut().zip(body).for_each(|(to, from)| *to = from ^ turned);
        Ok(true)
    }

    fn encode(&self, src: &[u8], out: &mut Vec<u8>, _: &mut Scratch) -> CodecResult<()> {
        if self.0.is("accepts unsupported chunks") && src.len() > 100 {
            return Err(CodecError::new(CodecErrorKind::Unsupported, "it is too large"));
        }
        if self.0.is("clears the output") {
            out.clear();
        }
        let behind = !out.is_empty() && self.0.is("encodes differently after bytes");
        let body: Vec<u8> = src.iter().map(|byte| byte ^ self.1 ^ u8::from(behind)).collect();
        out.extend(u32::try_from(body.len()).unwrap().to_le_bytes());
        out.extend(&body);
        out.push(sum(&body));
        Ok(())
    }

    fn encoded_size(&self, decoded: u64) -> EncodedSize {
        match self.0 {
            Flaw("is larger than it says") => EncodedSize::AtMost(decoded.saturating_add(4)),
            Flaw("is smaller than it says") => EncodedSize::Exact(decoded.saturating_add(6)),
            Flaw("overflows in its size") => EncodedSize::Exact(decoded.checked_add(5).unwrap()),
            Flaw("has bounds that shrink") if decoded > 1 << 40 => EncodedSize::AtMost(7),
            _ => EncodedSize::Exact(decoded.saturating_add(5)),
        }
    }
}

/// The flaws of [`Backwards`].
const ARRAY_BYTES: &[(&str, &str)] = &[
    ("wants dense elements", "7"),
    ("decodes another part", "8"),
    ("fetches another part", "8"),
    ("fetches too few pieces", "8"),
    ("encodes only scalars", "2"),
    ("overflows in a product", "5"),
    ("accepts any number of bytes", "11"),
    ("claims to store elements", "15"),
    ("claims to have inner chunks", "15"),
];

/// A codec for elements of one byte in reverse order.
#[derive(Debug)]
struct Backwards(Flaw);

impl Backwards {
    fn len(shape: &[u64]) -> usize {
        usize::try_from(shape.iter().product::<u64>()).unwrap()
    }
}

impl ArrayBytesCodec for Backwards {
    fn access(&self) -> PartAccess<'_> {
        match self.0 {
            Flaw("claims to store elements") => PartAccess::Plain(Swap::NONE),
            Flaw("claims to have inner chunks") => PartAccess::Inner(&[1]),
            _ => PartAccess::Ranges,
        }
    }

    fn decode_into(
        &self,
        src: &[u8],
        shape: &[u64],
        part: &Region,
        mut dst: Destination<'_>,
        _: &mut Scratch,
    ) -> CodecResult<()> {
        if src.len() < Self::len(shape)
            || src.len() > Self::len(shape) && !self.0.is("accepts any number of bytes")
        {
            return Err(CodecError::corrupt("another size"));
        }
        let elements: Vec<u8> = src[..Self::len(shape)].iter().rev().copied().collect();
        let at: Vec<u64> = match self.0 {
            Flaw("decodes another part") => vec![0; shape.len()],
            _ => part.start().to_vec(),
        };
        Ok(dst.put(Source::dense(&elements, shape, 1)?.sub(&at, part.shape())?, Swap::NONE)?)
    }

    fn encode(&self, src: Source<'_>, out: &mut Vec<u8>, _: &mut Scratch) -> CodecResult<()> {
        if self.0.is("encodes only scalars") && !src.shape().is_empty() {
            return Err(CodecError::new(CodecErrorKind::Unsupported, "not a scalar"));
        }
        let mut elements = Vec::new();
        match (self.0, src.as_dense()) {
            (Flaw("wants dense elements"), None) => elements.resize(Self::len(src.shape()), 0),
            _ => src.append_to(&mut elements, Swap::NONE)?,
        }
        out.extend(elements.iter().rev());
        Ok(())
    }

    fn encoded_size(&self, shape: &[u64]) -> EncodedSize {
        match (self.0, Dims::from(shape).product()) {
            (Flaw("overflows in a product"), _) => {
                EncodedSize::Exact(shape.iter().fold(1_u64, |a, b| a.wrapping_mul(*b)))
            }
            (_, Some(size)) => EncodedSize::Exact(size),
            (_, None) => EncodedSize::Unknown,
        }
    }

    fn partial(
        &self,
        shape: &[u64],
        part: &Region,
        _: Fetching,
        _: Option<&Known>,
    ) -> CodecResult<Option<Box<dyn ChunkRead>>> {
        Ok(Some(Box::new(Reading(self.0, shape.into(), part.clone()))))
    }
}

/// A partial read of single elements.
#[derive(Debug)]
struct Reading(Flaw, Dims, Region);

impl ChunkRead for Reading {
    fn pieces(&self, out: &mut Vec<Piece>) -> CodecResult<()> {
        let Self(flaw, shape, part) = self;
        let count = part.len().unwrap();
        let count = if flaw.is("fetches too few pieces") { count.min(1) } else { count };
        for number in 0..count {
            let (mut rest, mut at) = (number, Dims::filled(0, shape.len()));
            for dim in (0..shape.len()).rev() {
                (rest, at[dim]) = (rest / part.shape()[dim], rest % part.shape()[dim]);
            }
            let mut place = 0;
            for dim in 0..shape.len() {
                let start = if flaw.is("fetches another part") { 0 } else { part.start()[dim] };
                place = place * shape[dim] + start + at[dim];
            }
            let offset = shape.product().unwrap() - 1 - place;
            out.push(Piece::new(
                Span { offset, len: 1 },
                at,
                Dims::filled(1, shape.len()),
                PieceDecode::Strided { strides: vec![1; shape.len()].into(), swap: Swap::NONE },
            ));
        }
        Ok(())
    }
}

/// The flaws of [`Plus`].
const ARRAY_ARRAY: &[(&str, &str)] = &[
    ("forgets the fill value", "9"),
    ("panics for zero", "11"),
    ("claims to reorder dimensions", "15"),
    ("claims to change only the shape", "15"),
    ("depends on its neighbours", "15"),
    ("rounds", "1"),
];

/// A codec that adds one to each `uint8`.
#[derive(Debug)]
struct Plus(Flaw, Repr);

impl Plus {
    fn one(&self, element: u8) -> u8 {
        let mask = if self.0.is("rounds") { 0xf0 } else { 0xff };
        (element & mask).wrapping_add(1)
    }

    /// Returns a mask that each element gets from the others.
    fn others(&self, src: &Source<'_>) -> u8 {
        let count = src.shape().iter().product::<u64>();
        if self.0.is("depends on its neighbours") { count.to_le_bytes()[0] } else { 0 }
    }

    fn each(src: &Source<'_>, mut dst: Destination<'_>, one: impl Fn(u8) -> u8) -> CodecResult<()> {
        let mut elements = Vec::new();
        src.append_to(&mut elements, Swap::NONE)?;
        elements.iter_mut().for_each(|element| *element = one(*element));
        Ok(dst.put(Source::dense(&elements, src.shape(), 1)?, Swap::NONE)?)
    }
}

impl ArrayArrayCodec for Plus {
    fn encoded_repr(&self) -> CodecResult<Repr> {
        let fill = self.1.fill.bytes()[0];
        let encoded = if self.0.is("forgets the fill value") { fill } else { self.one(fill) };
        Ok(Repr::new(self.1.data_type.clone(), FillValue::of(encoded), self.1.rank))
    }

    fn encoded_shape(&self, shape: &[u64]) -> CodecResult<Dims> {
        Ok(shape.into())
    }

    fn effect(&self) -> Effect<'_> {
        match self.0 {
            Flaw("claims to reorder dimensions") if self.1.rank == 1 => Effect::Reorder(&[0]),
            Flaw("claims to change only the shape") => Effect::Reshape,
            _ => Effect::Elementwise,
        }
    }

    fn decode(&self, src: Source<'_>, dst: Destination<'_>, _: &mut Scratch) -> CodecResult<()> {
        let others = self.others(&src);
        Self::each(&src, dst, |element| match self.0 {
            Flaw("panics for zero") => element.checked_sub(1).unwrap(),
            _ => (element ^ others).wrapping_sub(1),
        })
    }

    fn encode(&self, src: Source<'_>, dst: Destination<'_>, _: &mut Scratch) -> CodecResult<()> {
        let others = self.others(&src);
        Self::each(&src, dst, |element| self.one(element) ^ others)
    }
}

/// The flaws of [`Flat`].
const RESHAPES: &[(&str, &str)] =
    &[("needs another part", "8"), ("needs a part outside", "8"), ("turns the elements around", "15")];

/// A codec that makes one dimension of all.
#[derive(Debug)]
struct Flat(Flaw, Repr);

impl Flat {
    fn copied(&self, src: &Source<'_>, mut dst: Destination<'_>) -> CodecResult<()> {
        let mut elements = Vec::new();
        src.append_to(&mut elements, Swap::NONE)?;
        if self.0.is("turns the elements around") {
            elements.reverse();
        }
        let shape: Dims = dst.shape().into();
        Ok(dst.put(Source::dense(&elements, &shape, 1)?, Swap::NONE)?)
    }
}

impl ArrayArrayCodec for Flat {
    fn encoded_repr(&self) -> CodecResult<Repr> {
        Ok(Repr::new(self.1.data_type.clone(), self.1.fill.clone(), 1))
    }

    fn encoded_shape(&self, shape: &[u64]) -> CodecResult<Dims> {
        let elements = Dims::from(shape).product();
        elements.map(|n| [n].into()).ok_or_else(|| CodecError::corrupt("it has too many elements"))
    }

    fn effect(&self) -> Effect<'_> {
        Effect::Reshape
    }

    fn map_part(&self, shape: &[u64], part: &Region) -> Option<Region> {
        let ([n], [start]) = (shape, part.start()) else { return None };
        let start = match self.0 {
            Flaw("needs another part") => 0,
            Flaw("needs a part outside") => *n,
            _ => *start,
        };
        Region::new([start], part.shape())
    }

    fn decode(&self, src: Source<'_>, dst: Destination<'_>, _: &mut Scratch) -> CodecResult<()> {
        self.copied(&src, dst)
    }

    fn encode(&self, src: Source<'_>, dst: Destination<'_>, _: &mut Scratch) -> CodecResult<()> {
        self.copied(&src, dst)
    }
}

const CODECS: &[Entry] = &[
    Entry::Codec(CodecEntry::new("test.framed", CodecKind::BytesBytes, |configuration, repr, _| {
        let flaw = Flaw::of(configuration)?;
        let mask = match configuration.get("options") {
            None => 0,
            Some(value) => {
                assert!(value.as_number().is_none() || !flaw.is("panics for a number"), "it is {value}");
                let wrong = || CodecError::configuration("options must be an object");
                let options = value.as_object().ok_or_else(wrong)?;
                let known = options.members().all(|member| member.name_lossy() == "mask");
                if !known && !flaw.is("ignores nested members") {
                    return Err(CodecError::configuration("unknown option"));
                }
                options.get("mask").and_then(|mask| mask.as_u64()).unwrap_or(0)
            }
        };
        let rank = configuration.optional_integer("rank", 0..=9)?;
        if rank.is_some_and(|rank| usize::try_from(rank) != Ok(repr.rank)) {
            return Err(CodecError::new(CodecErrorKind::Unsupported, "another rank"));
        }
        if repr.data_type == DataType::Bool && !flaw.is("accepts a type that it must refuse") {
            return Err(CodecError::new(CodecErrorKind::Unsupported, "no truth"));
        }
        if flaw.is("has another kind") {
            return Ok(Codec::ArrayBytes(Arc::new(Backwards(flaw))));
        }
        Ok(Codec::BytesBytes(Arc::new(Framed(flaw, u8::try_from(mask).unwrap_or(0)))))
    })),
    Entry::Codec(CodecEntry::new(
        "test.backwards",
        CodecKind::ArrayBytes,
        |configuration, repr, _| match repr.fixed()? {
            (1, _) => Ok(Codec::ArrayBytes(Arc::new(Backwards(Flaw::of(configuration)?)))),
            _ => Err(CodecError::new(CodecErrorKind::Unsupported, "more than a byte")),
        },
    )),
    Entry::Codec(CodecEntry::new("test.plus", CodecKind::ArrayArray, |configuration, repr, _| {
        match repr.data_type {
            DataType::UInt8 => Ok(Codec::ArrayArray(Arc::new(Plus(Flaw::of(configuration)?, repr.clone())))),
            _ => Err(CodecError::new(CodecErrorKind::Unsupported, "not uint8")),
        }
    })),
    Entry::Codec(CodecEntry::new("test.flat", CodecKind::ArrayArray, |configuration, repr, _| {
        match repr.data_type {
            DataType::UInt8 => Ok(Codec::ArrayArray(Arc::new(Flat(Flaw::of(configuration)?, repr.clone())))),
            _ => Err(CodecError::new(CodecErrorKind::Unsupported, "not uint8")),
        }
    })),
];

const SHAPES: &[&[u64]] = &[&[], &[0], &[7], &[4, 3, 5]];

fn framed(flaw: &str) -> Subject {
    framed_as(flaw, json!({"flaw": flaw, "options": {"mask": 15}})).shapes(SHAPES)
}

/// The default shapes of the suite do not suit this codec.
fn one_dimensional(flaw: &str) -> Subject {
    framed_as(flaw, json!({"flaw": flaw, "options": {"mask": 15}, "rank": 1}))
}

fn framed_as(flaw: &str, configuration: Value) -> Subject {
    let encoded = [2, 0, 0, 0, 0x0f, 0xf0, sum(&[0x0f, 0xf0])];
    let encoded = if flaw == "writes another form" { [7; 7] } else { encoded };
    Subject::new("test.framed", configuration)
        .refuses([DataType::Bool])
        .checksum()
        .measured(|| LARGEST.take())
        .encodes(DataType::UInt8, &[2], &[0, 0xff], &encoded)
}

fn backwards(flaw: &str) -> Subject {
    Subject::new("test.backwards", json!({ "flaw": flaw })).shapes(SHAPES)
}

fn plus(flaw: &str) -> Subject {
    let subject = Subject::new("test.plus", json!({ "flaw": flaw })).shapes(SHAPES);
    subject.decodes(DataType::UInt8, &[2], &[1, 0], &[0, 255])
}

fn flat(flaw: &str) -> Subject {
    Subject::new("test.flat", json!({ "flaw": flaw })).shapes(SHAPES)
}

fn checked(subject: Subject) -> Result<(), Failures> {
    check(&Registry::core().with(CODECS).unwrap(), [subject])
}

#[test]
fn right_codecs_pass() {
    checked(framed("none")).unwrap();
    checked(one_dimensional("none")).unwrap();
    checked(backwards("none")).unwrap();
    checked(plus("none")).unwrap();
    checked(flat("none")).unwrap();
    checked(plus("rounds").lossy()).unwrap();
}

#[test]
fn each_flaw_is_reported_under_its_rule() {
    type Make = fn(&str) -> Subject;
    let tables: [(&[(&str, &str)], Make); 5] = [
        (BYTES_BYTES, framed),
        (BYTES_BYTES, one_dimensional),
        (ARRAY_BYTES, backwards),
        (ARRAY_ARRAY, plus),
        (RESHAPES, flat),
    ];
    let mut missed = Vec::new();
    for (flaws, make) in tables {
        for (flaw, rule) in flaws {
            match checked(make(flaw)) {
                Ok(()) => missed.push(format!("a codec that {flaw} breaks rule {rule}: nothing was found")),
                Err(found) if found.as_slice().iter().any(|failure| failure.rule == *rule) => {}
                Err(found) => missed.push(format!("a codec that {flaw} breaks rule {rule}: {found}")),
            }
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
    let rules: BTreeSet<&str> = tables.iter().flat_map(|(flaws, _)| *flaws).map(|(_, rule)| *rule).collect();
    assert_eq!(rules.len(), 15, "each rule of the contract has a flaw");
}

#[test]
fn statements_of_a_subject_are_checked() {
    for (subject, rule) in [
        (framed("none").types([DataType::Bool]), "2"),
        (backwards("none").types([DataType::Int32]), "2"),
        (backwards("none").refuses([DataType::Bool]), "2"),
        (one_dimensional("none").shapes(SHAPES), "2"),
        (framed("none").shapes(&[&[61], &[0]]), "13"),
        (backwards("none").checksum(), "11"),
        (Subject::new("test.none", json!({})), "1"),
    ] {
        let failures = checked(subject).unwrap_err();
        let rules: Vec<_> = failures.as_slice().iter().map(|failure| failure.rule).collect();
        assert!(rules.contains(&rule), "expected rule {rule}, found:\n{failures}");
    }
}

thread_local! {
    static LARGEST: Cell<usize> = const { Cell::new(0) };
}

struct Remembering;

// SAFETY: every call is passed on unchanged.
unsafe impl GlobalAlloc for Remembering {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LARGEST.set(LARGEST.get().max(layout.size()));
        // SAFETY: as the caller promised.
        unsafe { System.alloc(layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        LARGEST.set(LARGEST.get().max(layout.size()));
        // SAFETY: as the caller promised.
        unsafe { System.alloc_zeroed(layout) }
    }
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as the caller promised.
        unsafe { System.dealloc(memory, layout) };
    }
}

#[global_allocator]
static ALLOCATOR: Remembering = Remembering;
