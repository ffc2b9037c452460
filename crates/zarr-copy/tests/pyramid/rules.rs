//! Random pyramids against the rules, as short and slow code.

use std::collections::BTreeMap;

use proptest::prelude::*;
use zarr_array::blocking::Array;
use zarr_array::traits::json::Value;
use zarr_array::traits::number::Numeric;
use zarr_array::{ArrayMeta, DataType, Storage, block_on};
use zarr_copy::RunOptions;
use zarr_copy::pyramid::{Downsample, Factors, LevelCount, MissingValues, Pyramid};
use zarr_copy::zarr_hierarchy::blocking::Group;
use zarr_copy::zarr_hierarchy::{standard, zarr_array};
use zarr_store::MemoryStore;

/// An element.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
enum Number {
    Int(i128),
    Float(f64),
}

/// Whether elements are equal: NaN is NaN.
fn same(one: &Number, other: &Number) -> bool {
    matches!((one, other), (Number::Float(one), Number::Float(other)) if one.is_nan() && other.is_nan())
        || one == other
}

/// One level from the one before it.
fn level(
    from: &[Number],
    shape: &[u64],
    factors: &[u64],
    method: Downsample,
    missing: &[Number],
    data_type: &DataType,
) -> (Vec<Number>, Vec<u64>) {
    let next: Vec<u64> = shape.iter().zip(factors).map(|(n, f)| n.div_ceil(*f)).collect();
    let all = |lengths: &[u64]| {
        lengths.iter().fold(vec![vec![]], |all: Vec<Vec<u64>>, n| {
            all.iter().flat_map(|index| (0..*n).map(move |at| [&index[..], &[at]].concat())).collect()
        })
    };
    let made = all(&next).into_iter().map(|index| {
        let start: Vec<u64> = index.iter().zip(factors).map(|(at, f)| at * f).collect();
        let lengths: Vec<u64> =
            start.iter().zip(factors).zip(shape).map(|((start, f), n)| (*f).min(n - start)).collect();
        let inside = all(&lengths).into_iter().map(|at| {
            let place =
                at.iter().zip(&start).zip(shape).fold(0, |place, ((at, start), n)| place * n + start + at);
            from[usize::try_from(place).unwrap()]
        });
        let inside: Vec<Number> = inside.collect();
        let is_missing =
            |one: &Number| matches!(one, Number::Float(number) if number.is_nan()) || missing.contains(one);
        let mut valid: Vec<Number> = inside.iter().filter(|one| !is_missing(one)).copied().collect();
        if method == Downsample::Nearest || valid.is_empty() {
            return inside[0];
        }
        if method == Downsample::Mean && *data_type != DataType::Bool {
            return mean(&valid, data_type);
        }
        valid.sort_by(|one, other| one.partial_cmp(other).unwrap());
        match method {
            Downsample::Min => valid[0],
            Downsample::Max => valid[valid.len() - 1],
            Downsample::Median => valid[(valid.len() - 1) / 2],
            _ => {
                let count = |one: &Number| valid.iter().filter(|other| *other == one).count();
                let most = valid.iter().map(count).max().unwrap();
                *valid.iter().find(|one| count(one) == most).unwrap()
            }
        }
    });
    (made.collect(), next)
}

fn mean(valid: &[Number], data_type: &DataType) -> Number {
    let count = valid.len();
    let mut floats =
        valid.iter().filter_map(|one| if let Number::Float(one) = one { Some(*one) } else { None });
    if let Some(first) = floats.next() {
        let mean = floats.fold(first, |sum, one| sum + one) / count as f64;
        #[expect(clippy::cast_possible_truncation, reason = "the mean is rounded once")]
        let mean = if *data_type == DataType::Float32 { f64::from(mean as f32) } else { mean };
        return Number::Float(mean);
    }
    let total: i128 = valid.iter().map(|one| if let Number::Int(one) = one { *one } else { 0 }).sum();
    let count = count as i128;
    let (down, rest) = (total.div_euclid(count), 2 * total.rem_euclid(count));
    let is_up = rest > count || rest == count && down % 2 != 0;
    Number::Int(down + i128::from(is_up))
}

fn read(array: &Array) -> Vec<Number> {
    let numeric = array.data_type().numeric().unwrap();
    let bytes = match numeric {
        Numeric::Bool => array.read::<bool>(..).unwrap().into_vec().into_iter().map(u8::from).collect(),
        _ => array.read_bytes(..).unwrap().1,
    };
    let number = |raw: &[u8]| match numeric {
        Numeric::Float(format) => Number::Float(format.to_f64(numeric.load(raw))),
        _ => Number::Int(numeric.integer(numeric.load(raw)).unwrap()),
    };
    bytes.chunks_exact(numeric.size()).map(number).collect()
}

#[derive(Debug, Clone)]
struct Case {
    data_type: DataType,
    method: Downsample,
    /// The length, the factor, the chunk and how many chunks a shard has, of each dimension.
    dims: Vec<(u64, u64, u64, u64)>,
    has_shards: bool,
    missing: Vec<i8>,
    /// Elements are from few numbers, or from all.
    few: bool,
    threads: usize,
    seed: u64,
}

fn case() -> impl Strategy<Value = Case> {
    use DataType::*;
    let types = [Bool, UInt8, Int8, UInt16, Int16, UInt32, Int32, UInt64, Int64, Float32, Float64];
    let dims = (1_usize..=4).prop_flat_map(|rank| {
        let longest = [40_u64, 24, 9, 6][rank - 1];
        prop::collection::vec((1..=longest, 1_u64..=4, 1_u64..=7, 1_u64..=3), rank)
    });
    let missing = prop_oneof![2 => Just(vec![]), 1 => Just(vec![3]), 1 => Just(vec![0, 5])];
    (
        prop::sample::select(types.to_vec()),
        prop::sample::select(Downsample::ALL),
        dims,
        any::<(bool, bool, bool, u64)>(),
        missing,
    )
        .prop_map(|(data_type, method, dims, (has_shards, few, threads, seed), missing)| {
            let threads = if threads { 2 } else { 0 };
            Case { data_type, method, dims, has_shards, missing, few, threads, seed }
        })
}

impl Case {
    fn list(&self, of: impl Fn(&(u64, u64, u64, u64)) -> u64) -> Vec<u64> {
        self.dims.iter().map(of).collect()
    }

    fn bytes(&self) -> Vec<u8> {
        let numeric = self.data_type.numeric().unwrap();
        let count = self.dims.iter().map(|dim| dim.0).product::<u64>();
        let mut state = self.seed;
        let mut bytes = Vec::new();
        for _ in 0..count {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let random = state >> 24;
            let bits = match numeric {
                Numeric::Bool => random % 2,
                Numeric::Integer { .. } if self.few => random % 7,
                Numeric::Integer { .. } => random.wrapping_mul(0x9e37_79b9_7f4a_7c15),
                Numeric::Float(format) if random.is_multiple_of(5) => format.nan().unwrap(),
                Numeric::Float(format) => {
                    let number = if self.few { (random % 7) as f64 } else { random as f64 / 1e7 - 20.0 };
                    #[expect(clippy::cast_possible_truncation, reason = "any number will do")]
                    let narrow = number as f32;
                    if format.size() == 4 { narrow.to_bits().into() } else { number.to_bits() }
                }
                Numeric::Complex(_) => unreachable!(),
                _ => unreachable!(),
            };
            let at = bytes.len();
            bytes.resize(at + numeric.size(), 0);
            numeric.store(bits, &mut bytes[at..]);
        }
        bytes
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(600) })]

    #[test]
    fn levels_follow_the_rules(case in case()) {
        let storage = Storage::from(MemoryStore::new());
        Group::create(storage.clone(), "/", &standard()).unwrap();
        let (shape, factors) = (case.list(|dim| dim.0), case.list(|dim| dim.1));
        prop_assume!(factors.iter().any(|factor| *factor > 1));
        let meta = ArrayMeta::builder(shape.clone(), case.data_type.clone()).chunks(case.list(|dim| dim.2)).codecs([]);
        let meta = if case.has_shards { meta.shards(case.list(|dim| dim.2 * dim.3)) } else { meta };
        let level0 = Array::create(storage.clone(), "/0", meta.build().unwrap(), &standard()).unwrap();
        level0.write_bytes(.., case.bytes()).unwrap();
        let missing = match case.data_type {
            DataType::Bool => MissingValues::None,
            _ => MissingValues::Values(case.missing.iter().map(|value| Value::from(i64::from(*value))).collect()),
        };
        let is_float = matches!(case.data_type, DataType::Float32 | DataType::Float64);
        let number = |value: &i8| if is_float { Number::Float((*value).into()) } else { Number::Int((*value).into()) };
        let values: Vec<Number> = match case.data_type {
            DataType::Bool => Vec::new(),
            _ => case.missing.iter().map(number).collect(),
        };
        let pyramid = Pyramid::new(storage.clone(), "/0", &standard())
            .factors(Factors::Each(factors.clone()))
            .levels(LevelCount::Further(3))
            .method(case.method)
            .missing(missing)
            .threads(case.threads);
        let Ok(plan) = block_on(pyramid.plan()) else {
            prop_assert!(shape.iter().zip(&factors).all(|(n, f)| n.div_ceil(*f) == *n));
            return Ok(());
        };
        block_on(plan.run(RunOptions::new(), &|_| {})).unwrap();
        let (mut wanted, mut shape) = (read(&level0), shape);
        for of in plan.levels() {
            (wanted, shape) = level(&wanted, &shape, &factors, case.method, &values, &case.data_type);
            let made = Array::open(storage.clone(), &of.path, &standard()).unwrap();
            prop_assert_eq!(made.shape(), &shape);
            let made = read(&made);
            let differ = made.iter().zip(&wanted).position(|(made, wanted)| !same(made, wanted));
            prop_assert!(differ.is_none(), "level {}, {:?}: {:?}, {:?}", of.path, differ, made, wanted);
        }
    }
}

/// Every method has been compared with the reference for every kind of elements if this holds.
#[test]
fn all_methods_are_in_the_list() {
    let names: BTreeMap<_, _> = Downsample::ALL.iter().map(|method| (method.name(), *method)).collect();
    assert_eq!(names.len(), 6);
    for (name, method) in names {
        assert_eq!(name.parse(), Ok(method));
    }
}
