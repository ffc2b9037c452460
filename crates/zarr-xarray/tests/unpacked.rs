//! Reads decode chunk by chunk, directly into the result. They return what decoding of single elements returns.

use zarr_array::blocking::Array;
use zarr_array::{AnyArray, Axis, DataType, Selection, Storage, standard};
use zarr_conformance::instruments::Counting;
use zarr_hierarchy::{ArrayMeta, blocking::Group};
use zarr_meta::json::{Value, json};
use zarr_meta::v3::Extension;
use zarr_store::MemoryStore;
use zarr_xarray::blocking::{Dataset, Variable};
use zarr_xarray::kernel::decode_booleans;
use zarr_xarray::{Decoded, Decoding, Positions};

const TYPES: [DataType; 13] = [
    DataType::Int8,
    DataType::Int16,
    DataType::Int32,
    DataType::Int64,
    DataType::UInt8,
    DataType::UInt16,
    DataType::UInt32,
    DataType::UInt64,
    DataType::Float16,
    DataType::Float32,
    DataType::Float64,
    DataType::Complex64,
    DataType::Complex128,
];

const SHAPE: [u64; 2] = [26, 300];

/// A name, the chunks, the shards if there are any, and the codecs of the chunks.
type Layout = (&'static str, [u64; 2], Option<[u64; 2]>, Vec<Extension>);

/// Arrays with rows of several lengths, uncompressed, compressed, transposed, swapped, and in shards.
fn layouts() -> Vec<Layout> {
    let bytes = |endian| Extension::new("bytes").with("endian", endian);
    let zstd = || Extension::new("zstd").with("level", 1).with("checksum", false);
    let turned = || Extension::new("transpose").with("order", [1_u64, 0].into_iter().collect::<Value>());
    vec![
        ("raw", [16, 128], None, vec![bytes("little")]),
        ("short rows", [7, 9], None, vec![bytes("little"), zstd()]),
        ("whole rows", [16, 300], None, vec![bytes("little"), zstd()]),
        ("swapped", [16, 128], None, vec![bytes("big")]),
        ("turned", [16, 128], None, vec![turned(), bytes("little"), zstd()]),
        ("shards", [8, 64], Some([16, 192]), vec![bytes("little"), zstd()]),
    ]
}

/// Attributes, with missing values that every type has.
fn packings(of: &DataType) -> Vec<Value> {
    let mut packings = vec![
        json!({ "missing_value": 7 }),
        json!({ "missing_value": [7, 9] }),
        json!({ "missing_value": [7, 9, 11, 13] }),
        json!({ "dtype": "bool" }),
        json!({}),
    ];
    if !matches!(of, DataType::Complex64 | DataType::Complex128) {
        packings.extend([
            json!({ "scale_factor": 0.1, "add_offset": 220.5 }),
            json!({ "scale_factor": 0.1, "missing_value": 7 }),
            json!({ "add_offset": -3.25, "missing_value": [7, 9] }),
            json!({ "scale_factor": 0.1, "_FillValue": "NaN" }),
        ]);
    }
    packings
}

/// Elements of all kinds: missing values, others that occur often, and any bits, also those of NaN and infinities.
fn noise(of: &DataType, count: usize, random: &mut fastrand::Rng) -> Vec<u8> {
    let size = of.size().unwrap();
    let mut bytes = Vec::with_capacity(count * size);
    for _ in 0..count {
        let small = random.u8(5..14);
        match (random.u8(..3), of) {
            (0, _) => bytes.extend((0..size).map(|_| random.u8(..))),
            (1, DataType::Float32 | DataType::Complex64) => {
                let special = if random.bool() { [f32::INFINITY, f32::NAN] } else { [f32::NAN, -0.0] };
                bytes.extend(special.iter().flat_map(|n| n.to_ne_bytes()).take(size));
            }
            (_, DataType::Float16) => bytes.extend(half::f16::from_f64(small.into()).to_ne_bytes()),
            (_, DataType::Float32) => bytes.extend(f32::from(small).to_ne_bytes()),
            (_, DataType::Float64) => bytes.extend(f64::from(small).to_ne_bytes()),
            (_, DataType::Complex64) => {
                bytes.extend([f32::from(small), 0.0].iter().flat_map(|n| n.to_ne_bytes()))
            }
            (_, DataType::Complex128) => {
                bytes.extend([f64::from(small), 0.0].iter().flat_map(|n| n.to_ne_bytes()));
            }
            _ => {
                let start = bytes.len();
                bytes.resize(start + size, 0);
                let at = if cfg!(target_endian = "little") { start } else { start + size - 1 };
                bytes[at] = small;
            }
        }
    }
    bytes
}

/// A dataset with one variable "v", of which one corner is not stored.
fn stored(of: &DataType, attributes: &Value, layout: &Layout, random: &mut fastrand::Rng) -> Storage {
    let storage = Storage::from(MemoryStore::new());
    let root = Group::create(storage.clone(), "/", &standard()).unwrap();
    let (_, chunks, shards, codecs) = layout;
    let meta = ArrayMeta::builder(SHAPE, of.clone()).chunks(*chunks).codecs(codecs.clone());
    let is_real = !matches!(of, DataType::Complex64 | DataType::Complex128);
    let meta = if is_real { meta.fill(9) } else { meta };
    let meta = if let Some(shards) = shards { meta.shards(*shards) } else { meta };
    let meta = meta.dimension_names(["y", "x"]).attributes(attributes.clone()).build().unwrap();
    let array = root.create_array("v", meta).unwrap();
    array.write_bytes((..22, ..), noise(of, 22 * 300, random)).unwrap();
    storage
}

fn open(storage: &Storage) -> Variable {
    let group = Group::open(storage.clone(), "/", &standard()).unwrap();
    Dataset::open(group).unwrap().variable("v").unwrap()
}

/// Decodes each element alone.
fn one_by_one(decoding: &Decoding, stored: &[u8], size: usize) -> Vec<u8> {
    let wide = match decoding {
        Decoding::Numbers(packing) => packing.decoded.size(),
        Decoding::Booleans(_) => 1,
        _ => return stored.to_vec(),
    };
    let mut decoded = vec![0; stored.len() / size * wide];
    for (element, decoded) in stored.chunks(size).zip(decoded.chunks_mut(wide)) {
        match decoding {
            Decoding::Numbers(packing) => packing.decode(element, decoded).unwrap(),
            Decoding::Booleans(packing) => decode_booleans(packing, element, decoded).unwrap(),
            _ => {}
        }
    }
    decoded
}

fn bytes_of(decoded: Decoded) -> Vec<u8> {
    macro_rules! bytes {
        ($values:expr) => {
            $values.into_iter().flat_map(|value| value.to_ne_bytes()).collect()
        };
    }
    match decoded {
        Decoded::Booleans(values) => values.into_iter().map(|truth| u8::from(truth.unwrap())).collect(),
        Decoded::Numbers(numbers) => match numbers {
            AnyArray::Int8(values) => bytes!(values),
            AnyArray::Int16(values) => bytes!(values),
            AnyArray::Int32(values) => bytes!(values),
            AnyArray::Int64(values) => bytes!(values),
            AnyArray::UInt8(values) => bytes!(values),
            AnyArray::UInt16(values) => bytes!(values),
            AnyArray::UInt32(values) => bytes!(values),
            AnyArray::UInt64(values) => bytes!(values),
            AnyArray::Float32(values) => bytes!(values),
            AnyArray::Float64(values) => bytes!(values),
            AnyArray::Other { bytes, .. } => bytes,
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

/// Each packing is read from every layout, and so is each real type.
#[test]
fn a_read_of_any_part_decodes_each_element_as_if_it_were_alone() {
    parts_are_decoded(|number| number % layouts().len());
}

#[test]
#[ignore = "large: cargo xtask full"]
fn large_a_read_of_any_part_decodes_each_element_as_if_it_were_alone() {
    (0..layouts().len()).for_each(|layout| parts_are_decoded(|_| layout));
}

/// Reads parts of arrays of every type with every packing. `layout` returns the place of a layout for the sum of the places
/// of a type and of a packing.
fn parts_are_decoded(layout: impl Fn(usize) -> usize) {
    let mut random = fastrand::Rng::with_seed(11);
    for (first, of) in TYPES.iter().enumerate() {
        for (second, attributes) in packings(of).into_iter().enumerate() {
            let layout = &layouts()[layout(first + second)];
            let case = format!("{of} {attributes} {}", layout.0);
            let storage = stored(of, &attributes, layout, &mut random);
            let variable = open(&storage);
            let array = Array::open(storage, "/v", &standard()).unwrap();
            let (y, x) = (random.u64(..11), random.u64(..150));
            let list = [25_u64, 3, 3, 12];
            type Pick = (Selection, [Positions; 2]);
            let picks: [Pick; 4] = [
                (Selection::from(..), [Positions::from(..), Positions::from(..)]),
                (Selection::from((y..y + 15, x..x + 150)), {
                    let [y, x] = [y, x].map(|at| i64::try_from(at).unwrap());
                    [Positions::from(y..y + 15), Positions::from(x..x + 150)]
                }),
                (
                    Selection::new(vec![Axis::step(1..26, 3), Axis::step(2..300, 7)]),
                    [Positions::step(1..26, 3), Positions::step(2..300, 7)],
                ),
                (
                    Selection::new(vec![Axis::from(list.to_vec()), Axis::from(x..x + 3)]),
                    [
                        Positions::from(list.map(|at| i64::try_from(at).unwrap()).to_vec()),
                        Positions::from(i64::try_from(x).unwrap()..i64::try_from(x).unwrap() + 3),
                    ],
                ),
            ];
            for (number, (selection, [rows, columns])) in picks.into_iter().enumerate() {
                let raw = array.read_bytes(selection).unwrap().1;
                let part = variable.isel([("y", rows), ("x", columns)]).unwrap();
                let wanted = one_by_one(variable.decoding(), &raw, of.size().unwrap());
                assert!(bytes_of(part.read_any().unwrap()) == wanted, "{case}, selection {number}");
            }
        }
    }
}

#[test]
fn numbers_without_missing_values_or_factors_are_read_as_they_are() {
    for (attributes, of) in [
        (json!({}), DataType::Int16),
        (json!({ "_FillValue": "NaN", "missing_value": "NaN" }), DataType::Float32),
    ] {
        let storage = stored(&of, &attributes, &layouts()[0], &mut fastrand::Rng::with_seed(1));
        assert_eq!(open(&storage).decoding(), &Decoding::Stored, "{attributes}");
    }
}

/// A decoded part costs the requests and bytes of the same part as it is stored.
#[test]
fn decoding_reads_no_more_than_the_stored_elements() {
    let attributes = json!({ "scale_factor": 0.5, "missing_value": 7 });
    for layout in layouts() {
        let storage = stored(&DataType::Int16, &attributes, &layout, &mut fastrand::Rng::with_seed(3));
        let (counted, counting) = Counting::over(&storage);
        let variable = open(&counted).isel([("y", 3..5), ("x", 20..30)]).unwrap();
        let before = counting.counts();
        variable.read_raw::<i16>().unwrap();
        let raw = counting.counts() - before;
        let variable = open(&counted).isel([("y", 3..5), ("x", 20..30)]).unwrap();
        let before = counting.counts();
        variable.read::<f64>().unwrap();
        assert_eq!(counting.counts() - before, raw, "{}", layout.0);
    }
}
