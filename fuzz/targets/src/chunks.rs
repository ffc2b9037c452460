//! Reads of an array whose only chunk is the input. If the whole array can be read, so can each part, with the same
//! elements. After a write to a part, the rest is as before.

use zarr_array::blocking::Array;
use zarr_array::{Axis, Cpu, Selection, standard};
use zarr_meta::json;
use zarr_store::MemoryStore;
use zarr_traits::{Key, Registry, Storage, block_on};

use crate::layouts::Layout;

/// An array of one chunk.
pub(crate) struct Subject {
    storage: Storage,
    array: Array,
    chunk: Key,
    length: u64,
    lossy: bool,
    /// The bytes of the whole array, if its elements have a fixed size.
    bytes: Option<usize>,
}

/// The elements of a selection: bytes if they have a fixed size, else as text.
#[derive(Debug, PartialEq)]
enum Elements {
    Bytes(Vec<u8>),
    Text(String),
}

impl Subject {
    /// Opens the array of a layout, in memory.
    pub(crate) fn new(layout: Layout) -> Self {
        let storage = Storage::from(MemoryStore::new());
        let document = Key::new(layout.document.as_str()).expect("a key");
        block_on(storage.put(&document, layout.text.clone())).expect("memory takes every value");
        let array = Array::open(storage.clone(), "/", &registry())
            .unwrap_or_else(|e| panic!("{}: {e:#}", layout.text));
        let array = array.with_cpu(Cpu::inline());
        let chunk = Key::new(layout.chunk).expect("a key");
        let bytes = array.read_bytes(..).ok().map(|(_, bytes)| bytes.len());
        Self { storage, array, chunk, length: layout.length, lossy: layout.lossy, bytes }
    }

    fn store(&self, chunk: Vec<u8>) {
        block_on(self.storage.put(&self.chunk, chunk)).expect("memory takes every value");
    }

    fn stored(&self) -> Vec<u8> {
        let found = block_on(self.storage.get(&self.chunk, u64::MAX)).expect("memory has no errors");
        found.map(|bytes| bytes.to_vec()).unwrap_or_default()
    }

    fn read(&self, selection: impl Into<Selection>) -> Option<Elements> {
        let selection = selection.into();
        match self.bytes {
            Some(_) => self.array.read_bytes(selection).ok().map(|(_, bytes)| Elements::Bytes(bytes)),
            None => self.array.read_any(selection).ok().map(|values| Elements::Text(format!("{values:?}"))),
        }
    }

    /// Encodes elements that begin with `bytes` and repeat them.
    fn encode(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let size = self.bytes?;
        let elements: Vec<u8> = bytes.iter().copied().chain([0]).cycle().take(size).collect();
        self.array.write_bytes(.., elements).ok()?;
        Some(self.stored())
    }
}

fn registry() -> Registry {
    standard().overriding(zarr_codecs_numcodecs::CODECS)
}

/// The first bytes of an input.
struct Head {
    /// Which subject.
    subject: u8,
    /// How the other bytes are meant: see [`stored`].
    mode: u8,
    /// Two corners of a box.
    corners: [u8; 4],
}

const HEAD: usize = 6;

/// Runs one input on one of the subjects.
pub(crate) fn run(subjects: &[Subject], input: &[u8]) {
    let Some((&[subject, mode, a, b, c, d], rest)) = input.split_first_chunk::<HEAD>() else { return };
    let head = Head { subject, mode, corners: [a, b, c, d] };
    let Some(subject) = subjects.get(usize::from(head.subject) % subjects.len()) else { return };
    let Some(chunk) = stored(subject, head.mode, rest) else { return };
    subject.store(chunk);
    check(subject, head.corners, head.mode & 2 != 0);
}

/// The stored chunk: the bytes themselves; or, in an odd mode, encoded elements that are damaged at up to 15 places. So
/// the fuzzer need not find out how to compress.
fn stored(subject: &Subject, mode: u8, bytes: &[u8]) -> Option<Vec<u8>> {
    if mode & 1 == 0 {
        return Some(bytes.to_vec());
    }
    let (damages, elements) = bytes.split_at_checked(3 * usize::from(mode >> 4))?;
    let mut chunk = subject.encode(elements)?;
    if mode & 4 != 0 {
        chunk.pop();
    }
    for damage in damages.chunks_exact(3) {
        let &[low, high, value] = damage else { continue };
        let place = usize::from(u16::from_le_bytes([low, high])).checked_rem(chunk.len())?;
        if let Some(byte) = chunk.get_mut(place) {
            *byte ^= value;
        }
    }
    Some(chunk)
}

fn check(subject: &Subject, [a, b, c, d]: [u8; 4], write: bool) {
    let side = |from: u8, to: u8| {
        let (from, to) = (u64::from(from) % subject.length, u64::from(to) % subject.length);
        from.min(to)..from.max(to) + 1
    };
    let (rows, columns) = (side(a, b), side(c, d));
    let part = || [rows.clone(), columns.clone()];
    let whole = subject.read(..);
    let found = subject.read(part());
    let Some(whole) = whole else { return };
    let found = found.expect("the whole array can be read, so a part can be");
    // Elements of several rows, each row by itself: the same elements in the same order.
    let lists = [Axis::list(rows.clone()), Axis::list(columns.clone())];
    let listed =
        subject.read(Selection::from(lists)).expect("the whole array can be read, so can lists of it");
    assert_eq!(found, listed, "a box and the lists of its indices differ");
    let (Elements::Bytes(whole), Elements::Bytes(found)) = (&whole, &found) else { return };
    let expected = cut(whole, subject.length, &rows, &columns);
    assert_eq!(&expected, found, "a part differs from the part of the whole");
    if write {
        let written = subject.array.write_bytes(part(), found.clone());
        let after = subject.read(..).expect("a write leaves an array that can be read");
        // A lossy codec changes the elements when it encodes them again.
        assert!(
            after == Elements::Bytes(whole.clone()) || subject.lossy && written.is_ok(),
            "a write changed the rest"
        );
    }
}

/// Cuts a box out of the bytes of a square array.
fn cut(whole: &[u8], length: u64, rows: &std::ops::Range<u64>, columns: &std::ops::Range<u64>) -> Vec<u8> {
    let row = whole.len() / length as usize;
    let element = row / length as usize;
    let rows = whole.chunks_exact(row).skip(rows.start as usize).take((rows.end - rows.start) as usize);
    let columns = columns.start as usize * element..columns.end as usize * element;
    rows.flat_map(|row| row[columns.clone()].iter().copied()).collect()
}

/// Valid chunks of all subjects, whole and as elements to encode.
pub(crate) fn seeds(subjects: &[Subject]) -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for (number, subject) in subjects.iter().enumerate() {
        let head = |mode: u8| vec![number as u8, mode, 1, 9, 3, 12];
        for elements in [&b"\0"[..], b"\x01\x02\x03\x05\x08\x0d\x15\x22", b"ab\0\0\xff\x7f\0\x80"] {
            if let Some(chunk) = subject.encode(elements) {
                seeds.push([head(0), chunk].concat());
                seeds.push([head(0x23), vec![0, 0, 1, 9, 0, 255], elements.to_vec()].concat());
            }
        }
        if subject.bytes.is_none() {
            let texts = subject.text_seeds();
            seeds.extend(texts.into_iter().map(|chunk| [head(0), chunk].concat()));
        }
    }
    seeds
}

impl Subject {
    /// Chunks of texts, byte strings or objects, as the codecs of these count and write them.
    fn text_seeds(&self) -> Vec<Vec<u8>> {
        let count = (self.length * self.length) as u32;
        let item = |bytes: &[u8]| [&(bytes.len() as u32).to_le_bytes()[..], bytes].concat();
        let items = (0..count).flat_map(|i| item(&vec![b'a'; i as usize % 5]));
        let counted: Vec<u8> = count.to_le_bytes().into_iter().chain(items).collect();
        let object = json!({"a": [1, null, "ü"]});
        let json = json!([object, object, object]);
        vec![counted, json.as_raw().into(), b"\x93\x01\xa1a\xc0".to_vec()]
    }
}
