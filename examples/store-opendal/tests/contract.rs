use opendal::{Operator, services::Memory};
use zarr_array::{ArrayMeta, DataType, PartialWrites, Storage, blocking::Array, standard};

fn memory() -> Storage {
    example_store_opendal::storage(Operator::new(Memory::default()).unwrap()).unwrap()
}

#[test]
fn only_names_with_other_characters_than_ascii_letters_are_listed_wrong() {
    // `object_store_opendal` escapes listed names twice.
    let broken = zarr_conformance::store::check(memory).unwrap_err();
    assert_eq!(broken.as_slice().iter().map(|failure| failure.rule).collect::<Vec<_>>(), ["14", "E.t8"]);
}

#[test]
fn it_holds_an_array() {
    let meta = ArrayMeta::builder([30, 20], DataType::Int32).chunks([10, 10]).build().unwrap();
    let array = Array::create(memory(), "/a", meta, &standard()).unwrap();
    let array = array.with_partial_writes(PartialWrites::Unchecked);
    array.write(.., &(0..600).collect::<Vec<i32>>()).unwrap();
    array.write((15, 9..11), &[1, 2]).unwrap();
    assert_eq!(array.read::<i32>((15, 8..12)).unwrap().as_slice(), [308, 1, 2, 311]);
}
