//! Structs and the `bytes` codec: every field has its configured byte order.

use zarr_array::standard;
use zarr_array::traits::codec::Repr;
use zarr_array::traits::extension::{Context, Spec};
use zarr_array::traits::json::{Value, json};
use zarr_array::traits::{FillValue, Limits, Region, Scratch};
use zarr_engine::Chain;
use zarr_strided::{Destination, Source};

/// Fields `x` (int16), `p` (`a`: two int16, `b`: uint8) and `z` (complex64).
fn fields() -> Value {
    let inner = json!({"fields": [
        {"name": "a", "data_type": "int16", "shape": [2]}, {"name": "b", "data_type": "uint8"}
    ]});
    json!({"fields": [
        {"name": "x", "data_type": "int16"},
        {"name": "p", "data_type": {"name": "numcodecs:struct", "configuration": inner}},
        {"name": "z", "data_type": "complex64"}
    ]})
}

fn chain(codec: &str, endian: Value) -> Chain {
    let registry = standard();
    let limits = Limits::default();
    let context = Context::new(&registry, &limits);
    let (data_type, _) =
        registry.data_type(&Spec::new("numcodecs:struct", fields()).unwrap(), &context).unwrap();
    let fill = FillValue::from_bytes(vec![0; data_type.size().unwrap()]);
    let spec = Spec::new(codec, json!({ "endian": endian })).unwrap();
    Chain::build(&[spec], Repr::new(data_type, fill, 1), &context, &mut Vec::new()).unwrap()
}

#[test]
fn d1_2_every_field_has_its_byte_order() {
    let native = |number: [u8; 2]| i16::from_le_bytes(number).to_ne_bytes();
    let float = |number: f32| number.to_ne_bytes();
    let element: Vec<u8> =
        [&native([1, 2])[..], &native([3, 4]), &native([5, 6]), &[7], &float(1.), &float(-2.)].concat();
    let elements = [&element[..], &element].concat();
    for (codec, endian, stored) in [
        ("bytes", json!("little"), "0102 0304 0506 07 0000803f 000000c0"),
        ("bytes", json!("big"), "0201 0403 0605 07 3f800000 c0000000"),
        // rule H11: the order of x, a, b, z
        ("bytes:fields", json!(["big", "little", "little", "big"]), "0201 0304 0506 07 3f800000 c0000000"),
        ("bytes:fields", json!(["little", "big", "big", "little"]), "0102 0403 0605 07 0000803f 000000c0"),
    ] {
        let (chain, mut scratch, mut out) = (chain(codec, endian), Scratch::new(), Vec::new());
        chain.encode(Source::dense(&elements, &[2], 15).unwrap(), &mut out, &mut scratch).unwrap();
        let stored = stored.replace(' ', "").repeat(2);
        assert_eq!(out.iter().map(|byte| format!("{byte:02x}")).collect::<String>(), stored, "{codec}");
        let mut second = vec![0; 15];
        let part = Region::new([1], [1]).unwrap();
        let dst = Destination::dense(&mut second, &[1], 15).unwrap();
        chain.decode_into(&out, &[2], &part, dst, &mut scratch).unwrap();
        assert_eq!(second, element, "{codec} {stored}");
    }
}
