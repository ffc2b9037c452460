//! Elements are read as they were written, with every chain and every method.

use std::time::Duration;

use crate::common::{self, Odd, chains, counted, meta, numbers};
use proptest::prelude::*;
use zarr_array::blocking::Array;
use zarr_array::meta::ArrayMeta;
use zarr_array::meta::v3::Extension;
use zarr_array::{
    AnyArray, ArrayErrorKind, Axis, Cpu, CutElements, DataType, Element, EmptyChunks, MissingChunks, NdVec,
    Storage, block_on, standard,
};
use zarr_store::MemoryStore;
use zarr_store_fs::FsStore;
use zarr_traits::Key;

#[test]
fn every_chain_round_trips() {
    for codecs in chains() {
        let shape = [13, 11];
        let (array, _) = counted(&shape, &[5, 4], &codecs);
        let values = numbers(&shape);
        array.write(.., &values).unwrap();
        assert_eq!(array.read::<u16>(..).unwrap().as_slice(), values, "{codecs:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// With steps, over chunk borders, with every chain: on the calling thread, on threads of a pool, and from a store
    /// that waits.
    #[test]
    fn a_partial_read_equals_the_same_part_of_a_whole_read(
        chain in 0..chains().len(),
        rows in 1_u64..12, columns in 1_u64..12,
        chunk in (1_u64..7, 1_u64..7),
        start in (0_u64..12, 0_u64..12), count in (0_u64..12, 0_u64..12), step in (1_u64..4, 1_u64..4),
        way in 0..3, hole in any::<bool>(),
    ) {
        let shape = [rows, columns];
        let codecs = &chains()[chain];
        let storage = Storage::from(MemoryStore::new());
        let array = Array::create(storage.clone(), "/", meta(&shape, &[chunk.0, chunk.1], codecs), &standard()).unwrap();
        let values = numbers(&shape);
        array.write(.., &values).unwrap();
        if hole {
            array.erase_chunk(&[0, 0]).unwrap();
        }
        let storage = if way == 2 { Odd::slow(&storage, Duration::ZERO, 4) } else { storage };
        let array = Array::open(storage, "/", &standard()).unwrap();
        let range = |start: u64, count: u64, len: u64| start.min(len)..(start + count).min(len);
        let (r, c) = (range(start.0, count.0, rows), range(start.1, count.1, columns));
        let selection = [Axis::step(r.clone(), step.0), Axis::step(c.clone(), step.1)];
        let part: NdVec<u16> = match way {
            1 => block_on(array.into_async().read(selection)).unwrap(),
            _ => array.read(selection).unwrap(),
        };
        let steps = |n: u64| usize::try_from(n).unwrap();
        let expected: Vec<u16> = r
            .step_by(steps(step.0))
            .flat_map(|row| c.clone().step_by(steps(step.1)).map(move |column| row * columns + column))
            .map(|i| match hole && i / columns < chunk.0 && i % columns < chunk.1 {
                true => 7,
                false => values[steps(i)],
            })
            .collect();
        prop_assert_eq!(part.as_slice(), &expected[..]);
    }

    /// Boxes with steps, written one after the other, have the same result as in a plain array.
    #[test]
    fn writes_of_parts_change_only_those_parts(
        chain in 0..chains().len(),
        boxes in prop::collection::vec((0_u64..9, 0_u64..9, 1_u64..9, 1_u64..9, 1_u64..3), 1..5),
    ) {
        let shape = [9, 9];
        let (array, _) = counted(&shape, &[4, 3], &chains()[chain]);
        let mut model = vec![7_u16; 81];
        for (i, (row, column, rows, columns, step)) in boxes.into_iter().enumerate() {
            let (r, c) = (row..(row + rows).min(9), column..(column + columns).min(9));
            let steps = usize::try_from(step).unwrap();
            let places: Vec<usize> = r.clone().step_by(steps)
                .flat_map(|row| c.clone().step_by(steps).map(move |column| row * 9 + column))
                .map(|place| usize::try_from(place).unwrap())
                .collect();
            let values: Vec<u16> = (0..places.len()).map(|k| u16::try_from(i * 100 + k).unwrap()).collect();
            array.write([Axis::step(r, step), Axis::step(c, step)], &values).unwrap();
            places.iter().zip(&values).for_each(|(place, value)| model[*place] = *value);
        }
        prop_assert_eq!(array.read::<u16>(..).unwrap().into_vec(), model);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// A store that replaces ranges holds the same bytes in the end as one that is given whole chunks.
    #[test]
    fn ranges_put_by_the_store_equal_whole_chunks(
        chain in 0..3_usize,
        boxes in prop::collection::vec((0_u64..300, 0_u64..300, 1_u64..40, 1_u64..300, any::<bool>()), 1..6),
    ) {
        let shape = [300, 300];
        let create = |storage: &Storage| {
            let array = Array::create(storage.clone(), "/", meta(&shape, &[250, 200], &chains()[chain]), &standard());
            array.unwrap()
        };
        // This layer replaces no ranges.
        let (ranges, whole) = (Storage::from(MemoryStore::new()), Storage::from(MemoryStore::new()));
        let arrays = [create(&ranges), create(&Odd::slow(&whole, Duration::ZERO, 4))];
        for (i, (row, column, rows, columns, is_wide)) in boxes.into_iter().enumerate() {
            let (r, c) = (row..(row + rows).min(300), column..(column + columns).min(300));
            let (r, c) = if is_wide { (r, c) } else { (c, r) };
            let count = usize::try_from((r.end - r.start) * (c.end - c.start)).unwrap();
            let values: Vec<u16> = (0..count).map(|k| u16::try_from((i * 9973 + k) % 65_521).unwrap()).collect();
            for array in &arrays {
                array.write([r.clone(), c.clone()], &values).unwrap();
            }
        }
        prop_assert_eq!(common::keys(&ranges), common::keys(&whole));
        for key in common::keys(&ranges) {
            let value = |storage: &Storage| block_on(storage.get(&Key::new(&key).unwrap(), 1 << 20)).unwrap();
            prop_assert_eq!(value(&ranges), value(&whole), "{}", key);
        }
    }
}

#[test]
fn an_index_drops_its_dimension() {
    let (array, _) = counted(&[4, 6], &[3, 4], &chains()[0]);
    array.write(.., &numbers(&[4, 6])).unwrap();
    let row: NdVec<u16> = array.read((2, ..)).unwrap();
    assert_eq!((row.shape(), row.as_slice()), (&[6][..], &[12, 13, 14, 15, 16, 17][..]));
    let one: NdVec<u16> = array.read((3, 5)).unwrap();
    assert_eq!((one.shape(), one.as_slice()), (&[][..], &[23][..]));
    array.write((2, 1..3), &[100_u16, 101]).unwrap();
    assert_eq!(array.read::<u16>((2, 0..4)).unwrap().as_slice(), [12, 100, 101, 15]);
}

#[test]
fn async_and_blocking_give_the_same_on_every_kind_of_store() {
    let (shape, values) = ([40, 30], numbers(&[40, 30]));
    let folder = tempfile::tempdir().unwrap();
    let local = Storage::from(FsStore::open(folder.path()).unwrap());
    let slow = Odd::slow(&Storage::from(MemoryStore::new()), Duration::from_millis(1), 8);
    for storage in [Storage::from(MemoryStore::new()), local, slow] {
        let meta = meta(&shape, &[7, 9], &chains()[4]);
        let array = block_on(zarr_array::Array::create(storage.clone(), "/x/y", meta, &standard())).unwrap();
        for cpu in [Cpu::inline(), Cpu::threads(3)] {
            let array = array.clone().with_cpu(cpu);
            block_on(array.write(.., NdVec::new(shape, values.clone()).unwrap())).unwrap();
            block_on(array.write([5..9, 2..4], NdVec::new([4, 2], vec![1_u16; 8]).unwrap())).unwrap();
            let all: NdVec<u16> = block_on(array.read(..)).unwrap();
            let again = block_on(array.read_owned(.., NdVec::new(shape, vec![0; 1200]).unwrap())).unwrap();
            assert_eq!(all, again);
            let blocking = Array::open(storage.clone(), "x/y", &standard()).unwrap();
            let mut buffer = vec![0_u16; 1200];
            blocking.read_into(.., &mut buffer).unwrap();
            assert_eq!(all.as_slice(), buffer);
            let AnyArray::UInt16(any) = blocking.read_any(..).unwrap() else { panic!("not `UInt16`") };
            assert_eq!(any, all);
            assert_eq!(blocking.read_bytes(..).unwrap().1, zarr_strided::bytes_of(&buffer));
        }
    }
}

#[test]
fn scalars_empty_dimensions_and_oversized_chunks_round_trip() {
    // rules C2, C4 and C.t5
    for (shape, chunks, count) in
        [(&[][..], &[][..], 1), (&[0, 3], &[2, 2], 0), (&[3], &[10], 3), (&[0], &[1], 0)]
    {
        let meta = ArrayMeta::builder(shape, DataType::Float64).chunks(chunks).fill(0.5).build().unwrap();
        let array = Array::create(MemoryStore::new(), "/", meta, &standard()).unwrap();
        assert_eq!(array.read::<f64>(..).unwrap().into_vec(), vec![0.5; count], "{shape:?}");
        let values: Vec<f64> = (0..count).map(|i| f64::from(u8::try_from(i).unwrap())).collect();
        array.write(.., &values).unwrap();
        assert_eq!(array.read::<f64>(..).unwrap().into_vec(), values, "{shape:?}");
    }
}

#[test]
fn c_t34_c_t35_keys_of_format_2_are_next_to_the_document() {
    let v2 = |separator: &str| Extension::new("v2").with("separator", separator);
    for (shape, separator, keys) in [
        (&[][..], ".", &["a/0", "a/zarr.json", "zarr.json"][..]),
        (&[3], "/", &["a/0", "a/1", "a/zarr.json", "zarr.json"]),
        (&[3, 2], "/", &["a/0/0", "a/1/0", "a/zarr.json", "zarr.json"]),
        (&[3, 2], ".", &["a/0.0", "a/1.0", "a/zarr.json", "zarr.json"]),
    ] {
        let storage = Storage::from(MemoryStore::new());
        let builder = ArrayMeta::builder(shape, DataType::UInt16).chunks(vec![2; shape.len()]);
        let meta = builder.chunk_key_encoding(v2(separator)).build().unwrap();
        let array = Array::create(storage.clone(), "/a", meta, &standard()).unwrap();
        let values = vec![5_u16; numbers(shape).len()];
        array.write(.., &values).unwrap();
        assert_eq!(
            Array::open(storage.clone(), "/a", &standard()).unwrap().read::<u16>(..).unwrap().as_slice(),
            values
        );
        assert_eq!(common::keys(&storage), keys);
    }
}

#[test]
fn every_core_type_has_an_element() {
    fn same<T: Element>(array: &Array, _: &[T]) -> NdVec<T> {
        array.read(..).unwrap()
    }
    macro_rules! check {
        ($($data_type:ident, $($value:expr),+;)*) => {$(
            let values = [$($value),+];
            let meta = ArrayMeta::builder([values.len() as u64], DataType::$data_type).chunks([2]).build().unwrap();
            let array = Array::create(MemoryStore::new(), "/", meta, &standard()).unwrap();
            array.write(.., &values).unwrap();
            assert_eq!(same(&array, &values).as_slice(), &values[..]);
        )*};
    }
    check! {
        Bool, true, false, true;
        Int8, -1_i8, 127, -128;
        Int16, -1_i16, 300, 5;
        Int32, -1_i32, i32::MAX, 5;
        Int64, -1_i64, i64::MIN, 5;
        UInt8, 1_u8, 255, 5;
        UInt16, 1_u16, 65_535, 5;
        UInt32, 1_u32, u32::MAX, 5;
        UInt64, 1_u64, u64::MAX, 5;
        Float32, 1.5_f32, f32::INFINITY, -0.0;
        Float64, 1.5_f64, f64::MIN, -0.0;
    }
    #[cfg(feature = "half")]
    check! { Float16, half::f16::ONE, half::f16::MAX, half::f16::NEG_ZERO; }
    #[cfg(feature = "num-complex")]
    check! {
        Complex64, num_complex::Complex::new(1.0_f32, -2.0), num_complex::Complex::new(0.5, 3.0);
        Complex128, num_complex::Complex::new(1.0_f64, -2.0), num_complex::Complex::new(0.5, 3.0);
    }
    let meta = ArrayMeta::builder([2], DataType::Raw(3)).chunks([1]).build().unwrap();
    let array = Array::create(MemoryStore::new(), "/", meta, &standard()).unwrap();
    array.write(.., &[[1_u8, 2, 3], [4, 5, 6]]).unwrap();
    assert_eq!(array.read::<[u8; 3]>(..).unwrap().as_slice(), [[1, 2, 3], [4, 5, 6]]);
    let AnyArray::Other { bytes, .. } = array.read_any(..).unwrap() else { panic!("not `Other`") };
    assert_eq!(bytes, [1, 2, 3, 4, 5, 6]);
}

#[test]
fn a_wrong_type_shape_or_selection_is_an_error() {
    let (array, _) = counted(&[4, 6], &[3, 4], &chains()[0]);
    let kind = |e: zarr_array::ArrayError| e.kind();
    for selection in [[0..5, 0..6], [0..4, 5..7]] {
        assert_eq!(array.read::<u16>(selection).map_err(kind).unwrap_err(), ArrayErrorKind::InvalidArgument);
    }
    let e = array.read::<f32>(..).unwrap_err();
    assert_eq!(format!("{e:#}"), "array \"/a\": the data type is uint16, not float32");
    assert_eq!(array.write(.., &[1_u16]).map_err(kind).unwrap_err(), ArrayErrorKind::InvalidArgument);
    assert_eq!(array.read_into(.., &mut [1_u16]).map_err(kind).unwrap_err(), ArrayErrorKind::InvalidArgument);
    let read_only = Array::open(array.storage().read_only(), "/a", &standard()).unwrap();
    assert_eq!(
        read_only.write(.., &numbers(&[4, 6])).map_err(kind).unwrap_err(),
        ArrayErrorKind::Unsupported
    );
}

#[test]
fn a_missing_chunk_is_fill_or_an_error_as_the_handle_says() {
    let (array, _) = counted(&[4], &[2], &chains()[0]);
    array.write([0..2], &[1_u16, 2]).unwrap();
    assert_eq!(array.read::<u16>(..).unwrap().as_slice(), [1, 2, 7, 7]);
    let mut buffer = [9_u16; 4];
    array.read_into(.., &mut buffer).unwrap();
    assert_eq!(buffer, [1, 2, 7, 7], "old elements of the buffer are overwritten");
    let strict = array.with_missing_chunks(MissingChunks::Error);
    let e = strict.read::<u16>(..).unwrap_err();
    assert_eq!(e.kind(), ArrayErrorKind::NotFound);
    assert_eq!(format!("{e:#}"), "array \"/a\", chunk [1] (key \"a/c/1\"): the chunk is missing");
}

#[test]
fn chunks_of_fill_are_not_stored_unless_asked_for() {
    let (array, counting) = counted(&[4], &[2], &chains()[0]);
    array.write(.., &[1_u16, 2, 7, 7]).unwrap();
    let stored = |array: &Array| block_on(array.storage().list_all(&Default::default())).unwrap().len();
    let (documents, array) = (2, array);
    assert_eq!(stored(&array), documents + 1);
    array.write([0..1], &[7_u16]).unwrap();
    array.write([1..2], &[7_u16]).unwrap();
    assert_eq!(stored(&array), documents, "a chunk that becomes empty part by part is deleted");
    let array = array.with_empty_chunks(EmptyChunks::Store);
    array.write(.., &[7_u16; 4]).unwrap();
    assert_eq!(stored(&array), documents + 2);
    assert!(counting.counts().deletes > 0);
}

#[test]
fn negative_zero_and_nan_payloads_are_not_fill() {
    // rule L92
    let meta = ArrayMeta::builder([2], DataType::Float32).chunks([1]).fill(0.0_f32).build().unwrap();
    let array = Array::create(MemoryStore::new(), "/", meta, &standard()).unwrap();
    array.write(.., &[-0.0_f32, f32::from_bits(0x7fc0_0001)]).unwrap();
    let bits: Vec<u32> = array.read::<f32>(..).unwrap().into_vec().into_iter().map(f32::to_bits).collect();
    assert_eq!(bits, [0x8000_0000, 0x7fc0_0001]);
}

#[test]
fn border_chunks_are_stored_full_with_fill_beyond_the_edge() {
    // rules C3 and G4
    let (array, _) = counted(&[3], &[2], &chains()[0]);
    array.write(.., &[1_u16, 2, 3]).unwrap();
    let key = array.chunk_key(&[1]).unwrap();
    assert_eq!(block_on(array.storage().get(&key, u64::MAX)).unwrap().unwrap()[..], [3, 0, 7, 0]);
}

#[test]
fn arrays_grow_and_shrink_and_cut_elements_are_deleted_or_kept() {
    for shrink in [CutElements::Delete, CutElements::Keep] {
        let (mut array, _) = counted(&[6, 4], &[4, 3], &chains()[4]);
        array.write(.., &numbers(&[6, 4])).unwrap();
        array.resize_with([3, 2], shrink).unwrap();
        assert_eq!(array.read::<u16>(..).unwrap().as_slice(), [0, 1, 4, 5, 8, 9]);
        array.resize_with([6, 4], shrink).unwrap();
        let grown = Array::open(array.storage().clone(), "/a", &standard()).unwrap().read::<u16>(..).unwrap();
        let kept = if shrink == CutElements::Keep {
            numbers(&[6, 4])
        } else {
            let mut cut = vec![7; 24];
            [0, 1, 4, 5, 8, 9].into_iter().for_each(|i| cut[usize::from(i)] = i);
            cut
        };
        assert_eq!(grown.into_vec(), kept, "{shrink:?}");
    }
}

#[test]
fn appending_makes_an_array_longer() {
    let (mut array, _) = counted(&[0, 3], &[2, 2], &chains()[5]);
    for row in 0..5_u16 {
        array.append(0, NdVec::new([1, 3], vec![row; 3]).unwrap()).unwrap();
    }
    let rows: Vec<u16> = array.read::<u16>((.., 0)).unwrap().into_vec();
    assert_eq!((array.shape(), rows), (&[5, 3][..], vec![0, 1, 2, 3, 4]));
    assert!(array.append(0, NdVec::new([1, 2], vec![0_u16; 2]).unwrap()).is_err());
    assert!(array.append(2, NdVec::new([1, 3], vec![0_u16; 3]).unwrap()).is_err());
    // a handle with an old shape still gets its own range
    let mut other = Array::open(array.storage().clone(), "/a", &standard()).unwrap();
    array.append(0, NdVec::new([1, 3], vec![5_u16; 3]).unwrap()).unwrap();
    other.append(0, NdVec::new([1, 3], vec![9_u16; 3]).unwrap()).unwrap();
    assert_eq!(other.read::<u16>((5.., 0)).unwrap().into_vec(), [5, 9]);
    // a handle with an old shape cannot resize
    assert_eq!(array.resize([2, 3]).unwrap_err().kind(), ArrayErrorKind::Conflict);
    other.resize([2, 3]).unwrap();
}

#[test]
fn creating_needs_a_free_path_and_creates_the_groups_above() {
    let storage = Storage::from(MemoryStore::new());
    let make =
        |path: &str| Array::create(storage.clone(), path, meta(&[2, 2], &[2, 2], &chains()[0]), &standard());
    make("a/b/c").unwrap().write(.., &[1_u16, 2, 3, 4]).unwrap();
    for (path, kind) in [
        ("a/b/c", ArrayErrorKind::Exists),
        ("a/b/c/d", ArrayErrorKind::Exists),
        ("a/b", ArrayErrorKind::Exists),
    ] {
        assert_eq!(make(path).unwrap_err().kind(), kind, "{path}");
    }
    let keys = common::keys(&storage);
    assert_eq!(keys, ["a/b/c/c/0/0", "a/b/c/zarr.json", "a/b/zarr.json", "a/zarr.json", "zarr.json"]); // rule F11
    let again =
        Array::replace(storage.clone(), "a/b/c", meta(&[2, 2], &[1, 1], &chains()[0]), &standard()).unwrap();
    assert_eq!(
        again.read::<u16>(..).unwrap().as_slice(),
        [7; 4],
        "rule F17: nothing of the old array is left"
    );
    assert_eq!(
        Array::open(storage.clone(), "a/b", &standard()).unwrap_err().kind(),
        ArrayErrorKind::NotFound
    );
    assert_eq!(Array::open(storage, "a/x", &standard()).unwrap_err().kind(), ArrayErrorKind::NotFound);
}
