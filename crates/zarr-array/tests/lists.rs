//! Selections with lists, points, masks and negative steps, against a model that picks one element at a time.

use proptest::prelude::*;
use zarr_array::blocking::Array;
use zarr_array::meta::v3::Extension;
use zarr_array::{
    ArrayErrorKind, ArrayMeta, Axis, DataType, EmptyChunks, Limits, MissingChunks, NdVec, PartialWrites,
    Selection, standard,
};
use zarr_conformance::instruments::{Counting, RequestCounts};
use zarr_store::MemoryStore;
use zarr_store_fs::FsStore;

use crate::common::{chains, counted, data_type, message, meta, numbers, refused, sharded};

/// The positions that one dimension of a selection has in a dimension of the array.
#[derive(Debug, Clone)]
enum Part {
    Index(i64),
    Range { from: u64, to: u64, step: i64 },
    List(Vec<i64>),
    Points(Vec<i64>),
}

impl Part {
    fn axis(&self) -> Axis {
        match self {
            Self::Index(index) => Axis::from(*index),
            Self::Range { from, to, step } => Axis::step(*from..*to, *step),
            Self::List(list) => Axis::list(list.iter().copied()),
            Self::Points(list) => Axis::points(list.iter().copied()),
        }
    }

    fn positions(&self, length: u64) -> Vec<u64> {
        let counted =
            |index: &i64| u64::try_from(if *index < 0 { index + length as i64 } else { *index }).unwrap();
        match self {
            Self::Index(index) => vec![counted(index)],
            Self::Range { from, to, step } => {
                let step_by = usize::try_from(step.unsigned_abs()).unwrap();
                if *step < 0 {
                    (*from..*to).rev().step_by(step_by).collect()
                } else {
                    (*from..*to).step_by(step_by).collect()
                }
            }
            Self::List(list) | Self::Points(list) => list.iter().map(counted).collect(),
        }
    }
}

/// An array, a selection of it, and the chunk shapes.
#[derive(Debug, Clone)]
struct Case {
    shape: Vec<u64>,
    chunks: Vec<u64>,
    times: Vec<u64>,
    parts: Vec<Part>,
    kind: usize,
}

impl Case {
    fn array(&self) -> Array {
        let codecs = match self.kind {
            0 => vec![],
            1 | 3 => vec![Extension::new("zstd").with("level", 1).with("checksum", false)],
            _ => {
                let order = (0..self.shape.len() as u64).rev().collect::<zarr_array::meta::json::Value>();
                vec![
                    Extension::new("transpose").with("order", order),
                    Extension::new("bytes").with("endian", "big"),
                ]
            }
        };
        let mut meta = ArrayMeta::builder(self.shape.clone(), DataType::UInt32)
            .chunks(self.chunks.clone())
            .codecs(codecs)
            .fill(7);
        if self.kind >= 2 {
            let shards: Vec<u64> = self.chunks.iter().zip(&self.times).map(|(n, times)| n * times).collect();
            meta = meta.shards(shards);
        }
        Array::create(MemoryStore::new(), "/a", meta.build().unwrap(), &standard()).unwrap()
    }

    fn selection(&self) -> Selection {
        Selection::new(self.parts.iter().map(Part::axis).collect())
    }

    /// Returns the shape of the result and the index of each element in the array, as an offset in C order.
    fn model(&self) -> (Vec<u64>, Vec<usize>) {
        let positions: Vec<Vec<u64>> =
            self.parts.iter().zip(&self.shape).map(|(part, n)| part.positions(*n)).collect();
        let points: Vec<usize> =
            (0..self.parts.len()).filter(|dim| matches!(self.parts[*dim], Part::Points(_))).collect();
        // For each dimension of the result the offsets that it adds.
        let stride = |dim: usize| self.shape[dim + 1..].iter().product::<u64>();
        let (mut shape, mut all) = (Vec::new(), vec![0_u64]);
        for dim in 0..self.parts.len() {
            let adds: Vec<u64> = if points.first() == Some(&dim) {
                (0..positions[dim].len())
                    .map(|nth| points.iter().map(|dim| positions[*dim][nth] * stride(*dim)).sum())
                    .collect()
            } else if points.contains(&dim) {
                continue;
            } else {
                positions[dim].iter().map(|position| position * stride(dim)).collect()
            };
            if !matches!(self.parts[dim], Part::Index(_)) {
                shape.push(adds.len() as u64);
            }
            all = all.iter().flat_map(|at| adds.iter().map(move |add| at + add)).collect();
        }
        (shape, all.into_iter().map(|at| usize::try_from(at).unwrap()).collect())
    }
}

fn part(length: u64, points: usize) -> impl Strategy<Value = Part> {
    let n = i64::try_from(length).unwrap();
    let lists = move |len| prop::collection::vec(-n..n, len);
    prop_oneof![
        1 => (-n..n).prop_map(Part::Index),
        2 => (0..=length, 0..=length, prop_oneof![1_i64..4, -4_i64..0])
            .prop_map(|(a, b, step)| Part::Range { from: a.min(b), to: a.max(b), step }),
        3 => lists(prop::collection::SizeRange::from(0..8)).prop_map(Part::List),
        3 => lists(points.into()).prop_map(Part::Points),
    ]
}

fn cases() -> impl Strategy<Value = Case> {
    let dims = prop::collection::vec((1_u64..12, 1_u64..5, 1_u64..4), 1..4);
    (dims, 0_usize..9, 0_usize..5).prop_flat_map(|(dims, points, kind)| {
        let shape: Vec<u64> = dims.iter().map(|d| d.0).collect();
        let parts: Vec<_> = shape.iter().map(|n| part(*n, points)).collect();
        (Just((dims, shape, kind)), parts).prop_map(|((dims, shape, kind), parts)| Case {
            shape,
            chunks: dims.iter().map(|d| d.1).collect(),
            times: dims.iter().map(|d| d.2).collect(),
            parts,
            kind,
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(500) })]

    #[test]
    fn any_selection_reads_and_writes_the_elements_of_the_model(case in cases(), stored in any::<bool>()) {
        selected(&case, stored)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(4000) })]

    #[test]
    #[ignore = "large: cargo xtask full"]
    fn large_any_selection_reads_and_writes_the_elements_of_the_model(case in cases(), stored in any::<bool>()) {
        selected(&case, stored)?;
    }
}

/// Reads and writes a selection of an array of fill values, or of stored elements.
fn selected(case: &Case, stored: bool) -> Result<(), TestCaseError> {
    let array = case.array();
    let elements: u64 = case.shape.iter().product();
    let mut values: Vec<u32> = vec![7; usize::try_from(elements).unwrap()];
    if stored {
        values = (100..).take(values.len()).collect();
        array.write(.., &values).unwrap();
    }
    let (shape, at) = case.model();
    let read: NdVec<u32> = array.read(case.selection()).unwrap();
    prop_assert_eq!(read.shape(), &shape[..]);
    let expected: Vec<u32> = at.iter().map(|at| values[*at]).collect();
    prop_assert_eq!(read.as_slice(), &expected[..]);
    let mut into = vec![0; expected.len()];
    array.read_into(case.selection(), &mut into).unwrap();
    prop_assert_eq!(into, expected);
    let new: Vec<u32> = (100_000..).take(at.len()).collect();
    array.write(case.selection(), &NdVec::new(shape, new.clone()).unwrap()).unwrap();
    for (at, value) in at.iter().zip(new) {
        values[*at] = value;
    }
    let read = array.read::<u32>(..).unwrap();
    prop_assert_eq!(read.as_slice(), &values[..]);
    Ok(())
}

fn cost(counting: &Counting, work: impl FnOnce()) -> RequestCounts {
    let before = counting.counts();
    work();
    counting.counts() - before
}

/// A hundred points of 512 x 512, in no order.
fn points() -> Selection {
    Selection::points((0..100_u64).map(|i| [i * 211 % 512, i * 389 % 512]))
}

#[test]
fn every_chunk_of_a_list_is_fetched_once_whatever_the_order() {
    let zstd = [
        Extension::new("bytes").with("endian", "little"),
        Extension::new("zstd").with("level", 1).with("checksum", false),
    ];
    let (array, counting) = counted(&[512, 512], &[64, 64], &zstd);
    array.write(.., &numbers(&[512, 512])).unwrap();
    let touched: std::collections::HashSet<_> =
        (0..100_u64).map(|i| (i * 211 % 512 / 64, i * 389 % 512 / 64)).collect();
    let used = cost(&counting, || drop(array.read::<u16>(points()).unwrap()));
    assert_eq!(used.requests(), touched.len() as u64);
    let rows = ([400, 3, 401, 3, 2], ..);
    assert_eq!(cost(&counting, || drop(array.read::<u16>(rows).unwrap())).requests(), 16);
    let used = cost(&counting, || array.write(rows, &numbers(&[5, 512])).unwrap());
    assert_eq!((used.reads, used.puts), (16, 16));
    let used = cost(&counting, || array.write(points(), &numbers(&[100])).unwrap());
    assert_eq!((used.reads, used.puts), (touched.len() as u64, touched.len() as u64));
}

#[test]
fn only_the_ranges_that_hold_points_are_read_of_uncompressed_chunks() {
    let (array, counting) = counted(&[512, 512], &[256, 512], &[]);
    array.write(.., &numbers(&[512, 512])).unwrap();
    let mut fetching = array.fetching();
    fetching.gap = 100;
    let array = array.with_fetching(fetching);
    let used = cost(&counting, || drop(array.read::<u16>(points()).unwrap()));
    assert_eq!((used.requests(), used.ranges), (2, 100), "the rows are 1 KiB apart");
    assert!(used.bytes_read < 100 * 8, "{used:?}");
    let columns = (.., [3, 500, 4]);
    let used = cost(&counting, || drop(array.read::<u16>(columns).unwrap()));
    assert_eq!(
        (used.requests(), used.ranges, used.bytes_read),
        (2, 514, 17_352),
        "from column 500 to column 3 of the next row are 30 bytes"
    );
}

#[test]
fn only_the_inner_chunks_that_hold_points_are_read_of_shards() {
    let (array, counting) = counted(&[512, 512], &[256, 256], &sharded(&[16, 16], "end"));
    array.write(.., &numbers(&[512, 512])).unwrap();
    let inner: std::collections::HashSet<_> =
        (0..100_u64).map(|i| (i * 211 % 512 / 16, i * 389 % 512 / 16)).collect();
    let mut fetching = array.fetching();
    fetching.gap = 0;
    let array = array.with_fetching(fetching);
    let used = cost(&counting, || drop(array.read::<u16>(points()).unwrap()));
    assert_eq!(used.requests(), 8, "four indexes, and all inner chunks of each shard at once");
    assert!(used.bytes_read <= inner.len() as u64 * 512 + 4 * (16 * 256 + 4), "{used:?}");
    let explained = array.explain(points()).unwrap();
    assert_eq!((explained.chunks, explained.inner_chunks), (4, inner.len() as u64));

    let before = array.read_encoded_inner_chunk(&[31, 31]).unwrap();
    let used = cost(&counting, || array.write(([40, 20], [100, 300]), &[1_u16, 2, 3, 4]).unwrap());
    assert_eq!((used.reads, used.puts), (2, 2), "two shards");
    assert_eq!(array.read_encoded_inner_chunk(&[31, 31]).unwrap(), before);
    assert_eq!(array.read::<u16>(([20, 40], [100, 300])).unwrap().as_slice(), [3, 4, 1, 2]);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(150) })]

    #[test]
    fn explain_predicts_the_requests_of_any_selection(case in cases(), gap in 0_u64..40) {
        // In a directory, which reads into memory: pieces that follow each other in it are decoded as one.
        let folder = tempfile::tempdir().unwrap();
        let directory = FsStore::open(folder.path()).unwrap();
        let (storage, counting) = Counting::over(&directory.into());
        let array = case.array();
        let array = Array::create(storage, "/b", array.metadata().clone(), &standard()).unwrap();
        let elements = usize::try_from(case.shape.iter().product::<u64>()).unwrap();
        let values: Vec<u32> = (100_u32..).take(elements).collect();
        array.write(.., &values).unwrap();
        let mut fetching = array.fetching();
        fetching.gap = gap;
        let array = array.with_fetching(fetching).with_index_cache(0);
        let explained = array.explain(case.selection()).unwrap();
        let mut read = None;
        let used = cost(&counting, || read = Some(array.read::<u32>(case.selection()).unwrap()));
        prop_assert_eq!((explained.requests, explained.ranges), (used.requests(), used.ranges));
        prop_assert_eq!(explained.bytes, used.bytes_read);
        let expected: Vec<u32> = case.model().1.iter().map(|at| values[*at]).collect();
        prop_assert_eq!(read.unwrap().into_vec(), expected);
    }
}

#[test]
fn lists_select_elements_through_all_codecs() {
    for codecs in chains() {
        let array =
            Array::create(MemoryStore::new(), "/a", meta(&[8, 8], &[4, 4], &codecs), &standard()).unwrap();
        array.write((0..8, 0..5), &(0..40).collect::<Vec<u16>>()).unwrap();
        let read = array.read::<u16>(([7, 0, 7], Axis::step(.., -3))).unwrap();
        assert_eq!(read.as_slice(), [7, 39, 36, 7, 4, 1, 7, 39, 36], "{codecs:?}");
        array.write(Selection::points([[0, 0], [7, 7], [0, 0]]), &[50_u16, 60, 70]).unwrap();
        assert_eq!(array.read::<u16>(([0, 7], [0, 7])).unwrap().as_slice(), [70, 7, 35, 60], "{codecs:?}");
    }
}

#[test]
fn text_and_rows_are_selected_by_lists() {
    let meta = ArrayMeta::builder([6], DataType::String).chunks([4]).build().unwrap();
    let array = Array::create(MemoryStore::new(), "/a", meta, &standard()).unwrap();
    let words = ["zero", "one", "", "three", "four"].map(str::to_owned);
    array.write(0..5, &words).unwrap();
    let read = array.read::<String>(([4, 1, 4, 5, 2],)).unwrap();
    assert_eq!(read.as_slice(), ["four", "one", "four", "", ""]);
    array.write(([5, 0, 5],), &["a", "b", "c"].map(str::to_owned)).unwrap();
    assert_eq!(
        array.read::<String>(Axis::step(.., -1)).unwrap().as_slice(),
        ["c", "four", "three", "", "one", "b"]
    );
}

#[test]
fn an_error_names_the_place_in_the_array() {
    let (array, _) = counted(&[10, 10], &[4, 4], &[]);
    let array = array.with_missing_chunks(MissingChunks::Error);
    let e = array.read::<u16>(([9, 1], [5, 2])).unwrap_err();
    assert_eq!((e.kind(), e.key().is_some()), (ArrayErrorKind::NotFound, true));
    let meta = ArrayMeta::builder([10, 10], data_type("uint4", zarr_array::traits::json!(null)))
        .chunks([4, 4])
        .build()
        .unwrap();
    let array = Array::create(MemoryStore::new(), "/a", meta, &standard()).unwrap();
    let wrong = array.write(([6, 1], Axis::points([9])), &[3_u8, 200]);
    assert!(message(wrong).starts_with("the element at [1, 9] is 200"));
}

#[test]
fn lists_obey_the_limits_and_the_settings_of_the_handle() {
    let (array, counting) = counted(&[64, 64], &[16, 16], &[]);
    array.write(.., &numbers(&[64, 64])).unwrap();
    let mut limits = Limits::default();
    limits.result_bytes = 100;
    let (kind, _) = refused(array.clone().with_limits(limits).read::<u16>(([3; 51],)));
    assert_eq!(kind, ArrayErrorKind::LimitExceeded);

    let rejecting = array.clone().with_partial_writes(PartialWrites::RejectUnaligned);
    assert!(rejecting.write(([3, 1], ..), &numbers(&[2, 64])).is_err());
    let rows: Vec<u64> = (0..16).rev().collect();
    let used = cost(&counting, || rejecting.write((rows, ..), &numbers(&[16, 64])).unwrap());
    assert_eq!((used.reads, used.puts), (0, 4), "whole chunks are not read");
    let fill = NdVec::new([2, 16], vec![7_u16; 32]).unwrap();
    for (empty, stored) in [(EmptyChunks::Skip, 15), (EmptyChunks::Store, 16)] {
        let array = array.clone().with_empty_chunks(empty);
        for row in 0..8 {
            array.write(([2 * row + 1, 2 * row], 0..16), &fill).unwrap();
        }
        assert_eq!(array.count_stored_chunks().unwrap(), stored);
        array.write((0..16, 0..16), &numbers(&[16, 16])).unwrap();
    }
}

#[test]
fn a_huge_array_is_an_error_and_takes_no_memory() {
    let (array, _) = counted(&[1 << 50, 2], &[1, 2], &[]);
    for selection in [Selection::from((.., [1])), Selection::from((Axis::step(.., -1), [0, 1]))] {
        let (kind, message) = refused(array.read::<u16>(selection));
        assert_eq!(kind, ArrayErrorKind::LimitExceeded);
        assert!(message.contains("no memory for"), "{message}");
    }
    let (kind, _) = refused(array.read::<u16>(Axis::step(.., -1)));
    assert_eq!(kind, ArrayErrorKind::LimitExceeded);
    let far = [Axis::list([-1, 0]), Axis::from(0)];
    assert_eq!(array.read::<u16>(far).unwrap().as_slice(), [7, 7]);
}

#[test]
fn writers_of_lists_lose_no_update() {
    for codecs in [vec![], sharded(&[2, 2], "end")] {
        let (array, _) = counted(&[16, 16], &[8, 8], &codecs);
        std::thread::scope(|scope| {
            for row in 0..16_u64 {
                let array = &array;
                scope.spawn(move || {
                    let columns: Vec<u64> = (0..16).map(|i| i * 7 % 16).collect();
                    let values: Vec<u16> =
                        columns.iter().map(|column| u16::try_from(row * 16 + column).unwrap()).collect();
                    array.write((row, columns), &values).unwrap();
                });
            }
        });
        assert_eq!(array.read::<u16>(..).unwrap().as_slice(), (0..256).collect::<Vec<u16>>());
    }
}

#[test]
fn a_huge_shard_is_read_in_blocks() {
    let (array, counting) = counted(&[4096], &[4096], &sharded(&[4], "end"));
    array.write(.., &numbers(&[4096])).unwrap();
    let list: Vec<u64> = (0..1024).map(|i| i * 4 * 389 % 4096).collect();
    let expected: Vec<u16> = numbers(&[4096]).as_slice().to_vec();
    for together in [1, 7, 100_000] {
        let array = array.clone().with_block_size(together, 1 << 20).with_index_cache(0);
        let mut read = Vec::new();
        let used = cost(&counting, || read = array.read::<u16>((list.clone(),)).unwrap().into_vec());
        assert_eq!(read, list.iter().map(|at| expected[usize::try_from(*at).unwrap()]).collect::<Vec<_>>());
        assert_eq!(
            used.reads,
            1024_u64.div_ceil(together) + u64::from(together < 1024 || used.reads > 1),
            "{together}"
        );
    }
}
