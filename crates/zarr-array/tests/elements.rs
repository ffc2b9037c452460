//! Element types: reads, writes and errors.

use std::borrow::Cow;

use crate::common::{data_type, message, refused};
use zarr_array::ArrayErrorKind::{Corrupt, InvalidArgument};
use zarr_array::blocking::Array;
use zarr_array::traits::json::{Value, json};
use zarr_array::{
    AnyArray, ArrayErrorKind, ArrayMeta, ArrayResult, Axis, DataType, Element, FillValue, Form, NdVec,
    SmallFloat, WriteElement, block_on, standard,
};
use zarr_store::MemoryStore;

/// Creates an array of 3 x 4 elements in chunks of 2 x 3. The fill value is zero.
fn array(data_type: DataType) -> Array {
    let zero = vec![0; data_type.size().unwrap()];
    let builder = ArrayMeta::builder([3, 4], data_type).chunks([2, 3]).fill(FillValue::from_bytes(zero));
    Array::create(MemoryStore::new(), "/a", builder.build().unwrap(), &standard()).unwrap()
}

/// Creates an array with a data type of the standard registry.
fn standard_array(name: &str, configuration: Value) -> Array {
    array(data_type(name, configuration))
}

/// A third-party element: whole numbers from 0 to 100.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Percent(u16);

impl WriteElement for Percent {
    type Memory = u8;

    const NAME: &'static str = "percent";

    fn fits(data_type: &DataType) -> ArrayResult<bool> {
        Ok(*data_type == DataType::UInt8)
    }

    fn as_memory<'a>(elements: &'a [Self], form: &Form<'_>) -> ArrayResult<Cow<'a, [u8]>> {
        let number = |(at, n): (usize, &Self)| {
            let number = u8::try_from(n.0).ok().filter(|n| *n <= 100);
            number.ok_or_else(|| form.error(ArrayErrorKind::InvalidArgument, at, "is more than 100 %"))
        };
        elements.iter().enumerate().map(number).collect()
    }
}

impl Element for Percent {
    fn from_memory(memory: Vec<u8>, form: &Form<'_>) -> ArrayResult<Vec<Self>> {
        match memory.iter().position(|n| *n > 100) {
            Some(at) => Err(form.error(ArrayErrorKind::Corrupt, at, "is more than 100 %")),
            None => Ok(memory.into_iter().map(|n| Self(n.into())).collect()),
        }
    }
}

#[test]
fn third_party_elements_are_read_and_written_and_errors_name_the_element() {
    let mut array = array(DataType::UInt8);
    array.write([1..3, 1..3], &[10, 20, 30, 40].map(Percent)).unwrap();
    let column: NdVec<Percent> = array.read((.., 2)).unwrap();
    assert_eq!((column.shape(), column.as_slice()), (&[3][..], &[Percent(0), Percent(20), Percent(40)][..]));
    let mut memory = [Percent(7); 2];
    array.read_into((2, 1..3), &mut memory).unwrap();
    assert_eq!(memory, [Percent(30), Percent(40)]);
    array.write([2..3, 3..4], &[200_u8]).unwrap();
    let e = array.read::<Percent>((2, Axis::step(1.., 2))).unwrap_err();
    let message = "array \"/a\": the element at [2, 3] is more than 100 %";
    assert_eq!((e.kind(), format!("{e:#}").as_str()), (ArrayErrorKind::Corrupt, message));
    // A value that cannot be written changes neither elements nor the shape.
    let e = array.write([2..3, 0..2], &[Percent(1), Percent(101)]).unwrap_err();
    assert_eq!(format!("{e:#}"), "array \"/a\": the element at [2, 1] is more than 100 %");
    let e = array.append(0, NdVec::new([1, 4], [1, 2, 3, 101].map(Percent).to_vec()).unwrap()).unwrap_err();
    assert_eq!(format!("{e:#}"), "array \"/a\": the element at [3, 3] is more than 100 %");
    let e =
        array.append(1, NdVec::new([3, 2], [1, 2, 3, 101, 5, 6].map(Percent).to_vec()).unwrap()).unwrap_err();
    assert_eq!(format!("{e:#}"), "array \"/a\": the element at [1, 5] is more than 100 %");
    assert_eq!((array.shape(), array.read::<u8>((2, 0)).unwrap().into_vec()), (&[3, 4][..], vec![0]));
    assert!(format!("{:#}", array.read::<i8>(..).unwrap_err()).contains("the data type is uint8, not int8"));
}

#[test]
fn b33_fixed_length_strings_are_read_without_their_padding() {
    let array = standard_array("fixed_length_utf32", json!({"length_bytes": 12}));
    let words = ["é漢", "", "a\0b"].map(str::to_owned);
    array.write((1, ..3), &words).unwrap();
    let any = array.read_any((1, ..3)).unwrap();
    assert_eq!(any, AnyArray::String(NdVec::new([3], words.to_vec()).unwrap()));
    assert_eq!(array.read::<String>((1, ..)).unwrap().as_slice(), ["é漢", "", "a\0b", ""]);
    assert_eq!(array.read_bytes((1, 0)).unwrap().1, [0xe9_u32, 0x6f22, 0].map(u32::to_ne_bytes).concat());
    // rule L12: strings are never cut
    let written = |word: &str| refused(array.write((2, 3), &[word.to_owned()]));
    let fits = "the element at [2, 3] has 4 code points, at most 3 fit";
    assert_eq!(written("abcd"), (InvalidArgument, fits.to_owned()));
    let ends = "the element at [2, 3] ends with U+0000, which would be taken for padding";
    assert_eq!(written("a\0"), (InvalidArgument, ends.to_owned()));
    array.write_bytes((0, 2), [0xd800_u32, 0, 0].map(u32::to_ne_bytes).concat()).unwrap();
    let surrogate = "the element at [0, 2] holds 0xd800, which is not a character";
    assert_eq!(refused(array.read::<String>(..)), (Corrupt, surrogate.to_owned()));
    assert!(array.read::<Vec<u8>>(..).is_err() && array.read::<[u8; 12]>(..).is_err());
}

#[test]
fn b40_b41_fixed_length_byte_strings_round_trip() {
    let array = standard_array("null_terminated_bytes", json!({"length_bytes": 3}));
    array.write((0, ..3), &[b"zz".to_vec(), vec![], vec![0, 0, 1]]).unwrap();
    assert_eq!(array.read::<Vec<u8>>((0, ..)).unwrap().into_vec(), [&b"zz"[..], b"", b"\0\0\x01", b""]);
    assert_eq!(array.read::<[u8; 3]>((0, ..2)).unwrap().as_slice(), [*b"zz\0", [0; 3]]);
    let any = array.read_any((0, 0)).unwrap();
    assert_eq!(any, AnyArray::Bytes(NdVec::new([], vec![b"zz".to_vec()]).unwrap()));
    let written = |bytes: &[u8]| message(array.write((2, 0), &[bytes.to_vec()]));
    assert_eq!(written(b"abcd"), "the element at [2, 0] has 4 bytes, at most 3 fit");
    assert_eq!(written(b"a\0"), "the element at [2, 0] ends with a zero, which would be taken for padding");
    assert!(array.read::<[u8; 2]>(..).is_err() && array.read::<String>(..).is_err());

    for array in
        [standard_array("r24", Value::null()), standard_array("raw_bytes", json!({"length_bytes": 3}))]
    {
        array.write((0, ..2), &[[1, 2, 0], [0; 3]]).unwrap();
        assert_eq!(array.read::<[u8; 3]>((0, ..2)).unwrap().as_slice(), [[1, 2, 0], [0; 3]]);
        assert_eq!(array.read::<Vec<u8>>((0, ..2)).unwrap().into_vec(), [[1, 2, 0], [0; 3]], "rule B9");
        let short = message(array.write((2, 0), &[vec![1, 2]]));
        assert_eq!(short, "the element at [2, 0] has 2 bytes, it must have 3");
    }
}

#[test]
fn read_into_overwrites_old_elements() {
    fn over<T: Element + PartialEq + std::fmt::Debug>(name: &str, configuration: Value, dirt: T, value: T) {
        let array = standard_array(name, configuration);
        array.write((0, 1), std::slice::from_ref(&value)).unwrap();
        let mut memory = [dirt.clone()];
        array.read_into((0, 1..2), &mut memory).unwrap();
        assert_eq!(memory, std::slice::from_ref(&value), "{name}");
        let memory = NdVec::new([1], vec![dirt]).unwrap();
        let owned = array.read_owned((0, 1..2), memory.clone()).unwrap();
        let read = block_on(array.into_async().read_owned((0, 1..2), memory)).unwrap();
        assert_eq!((read.as_slice(), owned.as_slice()), (&[value.clone()][..], &[value][..]), "{name}");
    }
    over("bool", Value::null(), true, false);
    over("int2", Value::null(), 100_i8, -2);
    over("uint4", Value::null(), 200_u8, 15);
    over("float6_e2m3fn", Value::null(), 0xff_u8, 0x3f);
    over("float8_e5m2", Value::null(), SmallFloat(1.1), SmallFloat(1.0));
    over("fixed_length_utf32", json!({"length_bytes": 4}), "too long".to_owned(), "x".to_owned());
    over("raw_bytes", json!({"length_bytes": 2}), vec![0; 9], vec![1, 2]);
    over("int16", Value::null(), i16::MIN, 1);
}

#[cfg(all(feature = "half", feature = "num-complex"))]
#[test]
fn b4_b5_b20_b21_halves_and_complex_numbers_round_trip() {
    use half::{bf16, f16};
    use num_complex::Complex;

    fn there_and_back<T: Element + PartialEq + std::fmt::Debug>(name: &str, value: T, bytes: &[u8]) {
        let array = standard_array(name, Value::null());
        array.write((1, 2), std::slice::from_ref(&value)).unwrap();
        assert_eq!(array.read_bytes((1, 2)).unwrap().1, bytes, "{name}");
        assert_eq!(array.read::<T>((1, 2)).unwrap().into_vec(), [value], "{name}");
        assert!(array.read::<[u8; 4]>(..).is_err() && array.read::<i16>(..).is_err(), "{name}");
    }
    let pair = |a: u16, b: u16| [a.to_ne_bytes(), b.to_ne_bytes()].concat();
    there_and_back("float16", f16::from_f32(1.5), &0x3e00_u16.to_ne_bytes());
    there_and_back("bfloat16", bf16::from_f32(1.5), &0x3fc0_u16.to_ne_bytes());
    there_and_back("complex_float16", Complex::new(f16::ONE, f16::NEG_ONE), &pair(0x3c00, 0xbc00));
    there_and_back("complex_bfloat16", Complex::new(bf16::ONE, bf16::NEG_ONE), &pair(0x3f80, 0xbf80));
    let floats = [1.0_f32.to_ne_bytes(), (-2.0_f32).to_ne_bytes()].concat();
    there_and_back("complex64", Complex::new(1.0_f32, -2.0), &floats);
    there_and_back("complex_float32", Complex::new(1.0_f32, -2.0), &floats);
    let doubles = [1.0_f64.to_ne_bytes(), (-2.0_f64).to_ne_bytes()].concat();
    there_and_back("complex128", Complex::new(1.0_f64, -2.0), &doubles);
}

#[test]
fn b30_bt74_upper_bits_of_small_integers_are_ignored_and_written_as_the_sign() {
    // name, a stored byte and its element, a written element and its byte, an invalid element
    for (name, stored, read, written, byte, wrong) in [
        ("int4", 0xf7, 7, -8, 0xf8, 8),
        ("int4", 0x08, -8, 7, 0x07, -9),
        ("int2", 0xfd, 1, -2, 0xfe, 2),
        ("int2", 0x02, -2, 1, 0x01, -3),
        ("int8", 0xf7, -9, -128, 0x80, -129),
    ] {
        let array = standard_array(name, Value::null());
        array.write_bytes((0, 0), vec![stored]).unwrap();
        array.write((0, 1), &[written]).unwrap();
        assert_eq!(array.read::<i8>((0, ..2)).unwrap().into_vec(), [read, written], "{name}");
        let mut memory = [0_i8; 2];
        array.read_into((0, ..2), &mut memory).unwrap();
        assert_eq!(memory, [read, written], "{name}");
        assert_eq!(array.read_bytes((0, 1)).unwrap().1, [byte], "{name}");
        if let Ok(wrong) = i8::try_from(wrong) {
            let e = refused(array.write((2, 2..), &[0, wrong]));
            let range = if name == "int4" { "-8 to 7" } else { "-2 to 1" };
            assert_eq!(e, (InvalidArgument, format!("the element at [2, 3] is {wrong}, not from {range}")));
        }
        assert!(array.read::<u8>(..).is_err(), "{name}");
        let any = array.read_any((0, ..2)).unwrap();
        assert_eq!(any, AnyArray::Int8(NdVec::new([2], vec![read, written]).unwrap()), "{name}");
    }
    for (name, stored, read, wrong) in [
        ("uint4", 0xf7, 7, Some(16_u8)),
        ("uint2", 0xf7, 3, Some(4)),
        ("float8_e5m2", 0xf7, 0xf7, None),
        ("float6_e2m3fn", 0xff, 0x3f, Some(0x40)),
        ("float4_e2m1fn", 0xf7, 7, Some(16)),
    ] {
        let array = standard_array(name, Value::null());
        array.write_bytes((0, 0), vec![stored]).unwrap();
        assert_eq!(array.read::<u8>((0, 0)).unwrap().into_vec(), [read], "rule B28, {name}");
        let any = array.read_any((0, 0)).unwrap();
        assert_eq!(
            any == AnyArray::UInt8(NdVec::new([], vec![read]).unwrap()),
            name.starts_with('u'),
            "{name}"
        );
        array.write((0, 0), &[read]).unwrap();
        assert_eq!(array.read_bytes((0, 0)).unwrap().1, [read], "{name}");
        if let Some(wrong) = wrong {
            let most = format!("the element at [0, 0] is {wrong}, not from 0 to {}", wrong - 1);
            assert_eq!(refused(array.write((0, 0), &[wrong])), (InvalidArgument, most));
        }
        assert!(array.read::<i8>(..).is_err(), "{name}");
    }
}

#[test]
fn b23_b28_small_floats_are_numbers_and_are_not_rounded() {
    let array = standard_array("float8_e5m2", Value::null());
    let stored = [0x3c, 0xbc, 0x01, 0x80, 0x7b, 0x7c, 0xfc, 0x7d];
    array.write_bytes([0..2, 0..4], stored.to_vec()).unwrap();
    let read = array.read::<SmallFloat>([0..2, 0..4]).unwrap().into_vec();
    let numbers = [1.0, -1.0, 2.0_f32.powi(-16), -0.0, 57344.0, f32::INFINITY, f32::NEG_INFINITY];
    assert_eq!(read[..7].iter().map(|n| n.0.to_bits()).collect::<Vec<_>>(), numbers.map(f32::to_bits));
    assert!(read[7].0.is_nan());
    array.write((2, ..), &[1.75, -0.0, f32::NAN, -f32::NAN].map(SmallFloat)).unwrap();
    assert_eq!(array.read_bytes((2, ..)).unwrap().1, [0x3f, 0x80, 0x7e, 0x7e]);
    let e = refused(array.write((2, 2..), &[SmallFloat(1.0), SmallFloat(1.1)]));
    assert_eq!(
        e,
        (InvalidArgument, "the element at [2, 3] is 1.1, which float8_e5m2 cannot represent".to_owned())
    );
    assert!(array.read::<f32>(..).is_err());

    let array = standard_array("float4_e2m1fn", Value::null());
    array.write_bytes((0, 0), vec![0xf7]).unwrap();
    assert_eq!(
        array.read::<SmallFloat>((0, 0)).unwrap().into_vec(),
        [SmallFloat(6.0)],
        "rule B28: upper bits"
    );
    let nan = refused(array.write((0, 0), &[SmallFloat(f32::NAN)]));
    assert_eq!(nan.1, "the element at [0, 0] is NaN, which float4_e2m1fn cannot represent", "rule B.t76");
    assert!(
        refused(standard_array("uint4", Value::null()).read::<SmallFloat>(..))
            .1
            .contains("not a float of up to 8 bits")
    );
}

/// rule D1.t7
#[test]
fn a_bool_that_is_neither_0_nor_1_is_an_error_that_names_the_element() {
    let array = array(DataType::Bool);
    let mut stored = vec![1; 12];
    array.write_bytes(.., stored.clone()).unwrap();
    assert_eq!(array.read::<bool>(..).unwrap().as_slice(), [true; 12]);
    for wrong in [2, 255] {
        stored[6] = wrong;
        array.write_bytes(.., stored.clone()).unwrap();
        let said = format!("the element at [1, 2] is stored as the byte {wrong}, a bool is 0 or 1");
        for e in [array.read::<bool>(..).unwrap_err(), array.read::<bool>([1..2, 1..3]).unwrap_err()] {
            assert_eq!(e.kind(), Corrupt, "{e:#}");
            assert!(format!("{e:#}").contains(&said), "{e:#}");
        }
        let e = array.read_any(..).map(|_| ()).unwrap_err();
        assert!(format!("{e:#}").contains(&said), "{e:#}");
        // Other elements can be read, and bytes are bytes.
        assert_eq!(array.read::<bool>([0..1, 0..4]).unwrap().as_slice(), [true; 4]);
        assert_eq!(array.read_bytes(..).unwrap().1, stored);
    }
}
