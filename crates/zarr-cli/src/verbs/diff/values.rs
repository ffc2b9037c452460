//! Compares the elements of two arrays, part by part.

use std::collections::BTreeSet;
use std::sync::Mutex;

use futures_util::future::join;
use zarr_array::blocking::Array;
use zarr_array::meta::json::{DEPTH, Document, Value};
use zarr_array::traits::lock::unpoisoned;
use zarr_array::traits::strided::Dims;
use zarr_array::traits::{Bytes, RegularGrid};
use zarr_array::{ArrayResult, DataType, Limits};

use super::tolerance::{Apart, Judge, Tolerance};
use crate::args::target::{Target, registry};
use crate::crew;
use crate::elements::Elements;
use crate::exit::Failure;
use crate::out::json;
use crate::out::progress::Progress;
use crate::out::render::Render;
use crate::out::table::count;
use crate::pick::Pick;
use crate::slabs::{Budget, Slab, Slabs};
use crate::stored::Stored;

/// The memory that is counted for an element of variable length, in bytes.
const VARIABLE: usize = 64;

/// The largest part that is compared at once, in bytes of elements. A larger shard is cut along its inner chunks.
const MOST: u64 = Budget::DEFAULT.most;

/// The largest number of stored parts that are held in memory.
const MANY: usize = 1 << 22;

/// How the elements of two arrays differ.
#[derive(Debug, Default)]
pub(super) struct Values {
    pub(super) different: u128,
    first: Option<First>,
    /// The largest differences of numbers.
    absolute: f64,
    relative: f64,
    are_numbers: bool,
}

/// The first element in C order that differs: its position in the arrays and both elements as JSON.
#[derive(Debug)]
struct First {
    /// The place in the selection.
    place: Vec<u64>,
    index: Vec<u64>,
    a: String,
    b: String,
}

/// Two arrays of the same shape and data type.
struct Pair<'a> {
    sides: &'a [Target; 2],
    arrays: &'a [Array; 2],
    picks: Vec<Pick>,
    judge: Judge,
    render: Option<Render>,
    /// Whether equal objects have equal elements.
    has_same_chunks: bool,
    /// The largest part that is compared at once, in bytes of elements.
    most: u64,
}

/// A chunk as it is stored.
type Object = ArrayResult<Option<Bytes>>;

/// A part to compare.
struct Part {
    slab: Slab,
    /// The chunk that the part is, if both arrays have the same chunks.
    chunk: Option<Dims>,
}

/// Compares the elements of two arrays, all or those that are picked, or returns why they are not
/// compared.
pub(super) fn compare(
    sides: &[Target; 2],
    arrays: &[Array; 2],
    picks: Option<Vec<Pick>>,
    tolerance: &Tolerance,
    progress: &Progress,
) -> Result<Result<Values, &'static str>, Failure> {
    let [a, b] = arrays;
    match (a.shape() == b.shape(), a.data_type() == b.data_type()) {
        (false, _) => return Ok(Err("the shapes differ")),
        (_, false) => return Ok(Err("the data types differ")),
        _ => {}
    }
    let is_whole = picks.is_none();
    let picks = picks.unwrap_or_else(|| a.shape().iter().map(|len| Pick::range(0..*len)).collect());
    let judge = Judge::new(a.data_type(), *tolerance);
    let same = a.metadata().has_same_chunks(b.metadata(), &registry(), &Limits::default());
    // The fill value is also that of missing inner chunks.
    let is_same = same.unwrap_or(false) && a.fill() == b.fill() && !judge.looks_at_equal_bytes();
    let has_same_chunks = is_whole && is_same;
    let pair = Pair {
        sides,
        arrays,
        picks,
        judge,
        render: Render::json(a.data_type()),
        has_same_chunks,
        most: MOST,
    };
    let values = Mutex::new(Values { are_numbers: a.data_type().numeric().is_some(), ..Values::default() });
    let own = arrays.clone().map(Array::into_async);
    let read = async |part: &Part| match pair.chunk(part) {
        Some(index) => Some(join(own[0].read_encoded_chunk(index), own[1].read_encoded_chunk(index)).await),
        None => None,
    };
    let job = |part: Part, objects: Option<(Object, Object)>| {
        let found = pair.part(&part, objects)?;
        progress.add(1);
        if found.different > 0 {
            unpoisoned(values.lock()).add(found);
        }
        Ok(())
    };
    let size = |part: &Part| {
        let elements = part.slab.count.iter().fold(1_u64, |n, len| n.saturating_mul(*len));
        elements.saturating_mul(element_size(a.data_type()) as u64).saturating_mul(3)
    };
    crew::each_read(&[a.storage(), b.storage()], pair.parts(is_whole)?, size, read, job)?;
    Ok(Ok(unpoisoned(values.into_inner())))
}

fn element_size(data_type: &DataType) -> usize {
    data_type.size().unwrap_or(VARIABLE)
}

/// Returns the size of the first chunk, which stands for all.
fn chunk_size(array: &Array) -> u64 {
    let first = array.chunk_shape(&vec![0; array.shape().len()]).unwrap_or_default();
    first.iter().fold(1, |n, len| n.saturating_mul(*len))
}

type Parts<'a> = Box<dyn Iterator<Item = Result<Part, Failure>> + Send + 'a>;

impl Pair<'_> {
    /// The array with the larger chunks, which are the parts.
    fn larger(&self) -> &Array {
        let [a, b] = self.arrays;
        if chunk_size(a) >= chunk_size(b) { a } else { b }
    }

    /// Returns the parts to compare.
    fn parts(&self, is_whole: bool) -> Result<Parts<'_>, Failure> {
        let larger = self.larger();
        if !is_whole {
            let size = element_size(larger.data_type());
            let slabs = Slabs::new(&self.picks, larger.chunk_grid(), size, Budget::DEFAULT);
            return Ok(Box::new(slabs.map(|slab| Ok(Part { slab, chunk: None }))));
        }
        let part = |index: &[u64]| -> Result<Part, Failure> {
            let chunk = larger.chunk(index)?;
            let slab = Slab { start: chunk.region().start().to_vec(), count: chunk.shape().to_vec() };
            Ok(Part { slab, chunk: self.has_same_chunks.then(|| index.into()) })
        };
        Ok(match self.stored()? {
            Some(stored) => Box::new(stored.into_iter().map(move |index| part(&index))),
            None => Box::new(larger.chunks(..)?.map(move |chunk| part(chunk.index()))),
        })
    }

    /// Returns the chunks of the larger grid in which a side stores elements; `None` if all have to be compared,
    /// because missing elements differ, a store cannot list, or there are very many.
    fn stored(&self) -> Result<Option<BTreeSet<Vec<u64>>>, Failure> {
        let [a, b] = self.arrays;
        let is_filled_alike = self.judge.compare(a.fill().bytes(), b.fill().bytes()) == Apart::Equal;
        if !is_filled_alike || !self.arrays.iter().all(|array| array.storage().capabilities().list) {
            return Ok(None);
        }
        let grid = self.larger().chunk_grid();
        let mut parts = BTreeSet::new();
        for (side, array) in self.sides.iter().zip(self.arrays) {
            for object in Stored::of(array).map_err(|e| side.fail(e))? {
                // A stray object is not part of the array.
                let Ok(index) = object.map_err(|e| side.fail(e))?.chunk else { continue };
                let chunk = array.chunk(&index).map_err(|e| side.fail(e))?;
                let cells = array.shape().iter().enumerate().map(|(dim, _)| {
                    let (start, len) = (chunk.region().start()[dim], chunk.shape()[dim]);
                    Some(grid.find(dim, start)?..=grid.find(dim, start.saturating_add(len - 1))?)
                });
                let Some(cells) = cells.collect::<Option<Vec<_>>>() else { return Ok(None) };
                let number =
                    cells.iter().fold(1_u64, |n, along| n.saturating_mul(along.end() - along.start() + 1));
                if parts.len().saturating_add(usize::try_from(number).unwrap_or(usize::MAX)) > MANY {
                    return Ok(None);
                }
                let mut indices = vec![Vec::new()];
                for along in cells {
                    let longer = |index: &Vec<u64>| {
                        let index = index.clone();
                        along.clone().map(move |i| index.iter().copied().chain([i]).collect())
                    };
                    indices = indices.iter().flat_map(longer).collect();
                }
                parts.extend(indices);
            }
        }
        Ok(Some(parts))
    }

    /// Returns the chunk whose objects are compared before its elements.
    fn chunk<'p>(&self, part: &'p Part) -> Option<&'p Dims> {
        part.chunk.as_ref().filter(|_| self.inner_grid(&part.slab).is_none())
    }

    fn part(&self, part: &Part, objects: Option<(Object, Object)>) -> Result<Values, Failure> {
        if let Some(inner) = self.inner_grid(&part.slab) {
            return self.in_pieces(&part.slab, &inner);
        }
        if let Some((a, b)) = objects
            && a.map_err(|e| self.sides[0].fail(e))? == b.map_err(|e| self.sides[1].fail(e))?
        {
            return Ok(Values::default());
        }
        self.slab(&self.picks, &part.slab)
    }

    /// Returns the grid of inner chunks if a part is a shard that is too large to be compared at once.
    fn inner_grid(&self, slab: &Slab) -> Option<RegularGrid> {
        let size = element_size(self.larger().data_type()) as u64;
        let bytes = slab.count.iter().fold(size, |n, len| n.saturating_mul(*len));
        let inner = self.larger().codecs().inner_shape(slab.count.len()).filter(|_| bytes > self.most)?;
        RegularGrid::new(inner).ok()
    }

    /// Compares a part piece by piece.
    fn in_pieces(&self, slab: &Slab, grid: &RegularGrid) -> Result<Values, Failure> {
        let boxes = slab.start.iter().zip(&slab.count);
        let picks: Vec<Pick> =
            self.picks.iter().zip(boxes).map(|(pick, (start, count))| pick.part(*start, *count)).collect();
        let budget = Budget { bytes: self.most / 4, most: self.most, ..Budget::DEFAULT };
        let mut sum = Values::default();
        for piece in Slabs::new(&picks, grid, element_size(self.larger().data_type()), budget) {
            let mut found = self.slab(&picks, &piece)?;
            if let Some(first) = &mut found.first {
                first.place.iter_mut().zip(&slab.start).for_each(|(place, start)| *place += start);
            }
            sum.add(found);
        }
        Ok(sum)
    }

    /// Compares a box of the picked elements.
    fn slab(&self, picks: &[Pick], slab: &Slab) -> Result<Values, Failure> {
        let read = |side: usize| {
            let selection = slab.selection(picks);
            Elements::read(&self.arrays[side], selection).map_err(|e| self.sides[side].fail(e))
        };
        let (a, b) = (read(0)?, read(1)?);
        if a == b && !self.judge.looks_at_equal_bytes() {
            return Ok(Values::default());
        }
        let mut values = Values::default();
        let mut judge = |place: u64, a: &[u8], b: &[u8]| {
            match self.judge.compare(a, b) {
                Apart::Equal => return,
                Apart::Other => {}
                Apart::Numbers(absolute, relative) => {
                    values.absolute = values.absolute.max(absolute);
                    values.relative = values.relative.max(relative);
                }
            }
            values.different += 1;
            if values.first.is_none() {
                values.first = Some(self.first(picks, slab, place, a, b));
            }
        };
        match (&a, &b) {
            (Elements::Fixed(a), Elements::Fixed(b)) => {
                let size = element_size(self.arrays[0].data_type()).max(1);
                let pairs = a.chunks_exact(size).zip(b.chunks_exact(size));
                (0..).zip(pairs).for_each(|(place, (a, b))| judge(place, a, b));
            }
            (Elements::Variable(a), Elements::Variable(b)) => {
                (0..).zip(a.iter().zip(b)).for_each(|(place, (a, b))| judge(place, a, b));
            }
            _ => {
                return Err(Failure::unsupported(
                    "elements of one size and of several sizes are not compared",
                ));
            }
        }
        Ok(values)
    }

    /// Describes the element at a place in C order in a slab.
    fn first(&self, picks: &[Pick], slab: &Slab, mut place: u64, a: &[u8], b: &[u8]) -> First {
        let mut within: Vec<u64> = slab
            .count
            .iter()
            .rev()
            .map(|len| {
                let at = place % len.max(&1);
                place /= len.max(&1);
                at
            })
            .collect();
        within.reverse();
        let place: Vec<u64> = slab.start.iter().zip(&within).map(|(start, at)| start + at).collect();
        let index = picks.iter().zip(&place).map(|(pick, at)| pick.position(*at)).collect();
        let text = |element: &[u8]| {
            let mut out = Vec::new();
            match self.render.as_ref().map(|render| render.element(element, &mut out)) {
                Some(Ok(())) => String::from_utf8_lossy(&out).into_owned(),
                _ => Value::from(format!("{element:02x?}")).to_compact(),
            }
        };
        First { place, index, a: text(a), b: text(b) }
    }
}

impl Values {
    fn add(&mut self, other: Self) {
        self.different = self.different.saturating_add(other.different);
        self.absolute = self.absolute.max(other.absolute);
        self.relative = self.relative.max(other.relative);
        let is_before = |first: &First| self.first.as_ref().is_none_or(|own| first.place < own.place);
        if other.first.as_ref().is_some_and(is_before) {
            self.first = other.first;
        }
    }

    pub(super) fn to_text(&self) -> String {
        let different = u64::try_from(self.different).unwrap_or(u64::MAX);
        let mut text =
            format!("{} differ{}", count(different, "element"), if different == 1 { "s" } else { "" });
        if let Some(First { index, a, b, .. }) = &self.first {
            text += &format!(", first at {index:?}: {a} in A, {b} in B");
        }
        if self.are_numbers {
            let (absolute, relative) = (self.absolute, self.relative);
            text += &format!("; largest difference {absolute:?}, relative {relative:?}");
        }
        text
    }

    pub(super) fn to_json(&self) -> Value {
        let mut object =
            json::object([("different", u64::try_from(self.different).unwrap_or(u64::MAX).into())]);
        let number = |number: f64| match number.is_finite() {
            true => parsed(&format!("{number:?}")),
            false => "Infinity".into(),
        };
        if let Some(First { index, a, b, .. }) = &self.first {
            let [a, b] = [a, b].map(|text| parsed(text));
            object.set("first", json::object([("index", index.clone().into()), ("a", a), ("b", b)]));
            if self.are_numbers {
                object.set("largest_absolute", number(self.absolute));
                object.set("largest_relative", number(self.relative));
            }
        }
        object.into()
    }
}

/// Returns a JSON value; text that is no JSON becomes a string.
fn parsed(text: &str) -> Value {
    let parsed = Document::parse(text.as_bytes(), DEPTH, &mut Vec::new());
    parsed.map_or_else(|_| text.into(), |document| document.root)
}

#[cfg(test)]
mod tests {
    use zarr_array::ArrayMeta;
    use zarr_store_fs::FsStore;

    use super::*;
    use crate::args::stores::Stores;

    #[test]
    fn a_large_shard_is_compared_piece_by_piece() {
        let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let meta =
            || ArrayMeta::builder([8, 8], DataType::UInt8).chunks([2, 2]).shards([4, 8]).build().unwrap();
        let arrays = folders.each_ref().map(|folder| {
            let store = FsStore::create(folder.path()).unwrap();
            let array = Array::create(store, "/", meta(), &registry()).unwrap();
            array.write(.., &[1_u8; 64]).unwrap();
            array
        });
        for (row, column, value) in [(7, 1, 5_u8), (5, 6, 4), (6, 0, 3)] {
            arrays[1].write((row, column), &[value]).unwrap();
        }
        let sides = folders
            .each_ref()
            .map(|folder| Target::find(folder.path(), &Stores::new(Default::default())).unwrap());
        let whole = |most| {
            let judge = Judge::new(arrays[0].data_type(), Tolerance::default());
            let picks = vec![Pick::range(0..8), Pick::range(0..8)];
            let render = Render::json(arrays[0].data_type());
            let pair =
                Pair { sides: &sides, arrays: &arrays, picks, judge, render, has_same_chunks: true, most };
            let mut sum = Values::default();
            for part in pair.parts(true).unwrap() {
                sum.add(pair.part(&part.unwrap(), None).unwrap());
            }
            let first = sum.first.unwrap();
            (sum.different, first.place, first.index, first.a, first.b)
        };
        let wanted = (3, vec![5, 6], vec![5, 6], "1".to_owned(), "4".to_owned());
        assert_eq!([whole(1000), whole(16), whole(4)], [wanted.clone(), wanted.clone(), wanted]);
    }
}
