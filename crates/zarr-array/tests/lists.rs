//! Selections with lists, points, masks and negative steps, against a model that picks one element at a time.

use proptest::prelude::*;
use zarr_array::blocking::Array;
use zarr_array::meta::v3::Extension;
use zarr_array::{ArrayMeta, Axis, DataType, MissingChunks, NdVec, Selection, standard};
use zarr_store::MemoryStore;

use crate::common::{chains, counted, message, meta};

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
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    #[test]
    fn any_selection_reads_the_elements_of_the_model(case in cases(), stored in any::<bool>()) {
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
    }

    #[test]
    fn any_selection_writes_the_elements_of_the_model(case in cases(), stored in any::<bool>()) {
        let array = case.array();
        let elements: u64 = case.shape.iter().product();
        let mut values: Vec<u32> = vec![7; usize::try_from(elements).unwrap()];
        if stored {
            values = (100..).take(values.len()).collect();
            array.write(.., &values).unwrap();
        }
        let (shape, at) = case.model();
        let new: Vec<u32> = (100_000..).take(at.len()).collect();
        array.write(case.selection(), &NdVec::new(shape, new.clone()).unwrap()).unwrap();
        for (at, value) in at.iter().zip(new) {
            values[*at] = value;
        }
        let read = array.read::<u32>(..).unwrap();
        prop_assert_eq!(read.as_slice(), &values[..]);
    }
}
