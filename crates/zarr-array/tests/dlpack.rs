//! Tensors of DLPack share the memory of a read.

use dlpk::sys::DLDataTypeCode;
use zarr_array::blocking::Array;
use zarr_array::{AnyArray, ArrayErrorKind, ArrayMeta, DataType, NdVec, standard};
use zarr_store::MemoryStore;

use crate::common::refused;

#[test]
fn a_tensor_has_the_shape_the_type_and_the_memory_of_the_values() {
    let values = NdVec::new([2, 3], vec![1_i16, 2, 3, 4, 5, 6]).unwrap();
    let memory = values.as_slice().as_ptr();
    let tensor = values.into_dlpack().unwrap();
    assert_eq!((tensor.shape(), tensor.strides()), (&[2, 3][..], Some(&[3, 1][..])));
    assert_eq!((tensor.dtype().code, tensor.dtype().bits), (DLDataTypeCode::kDLInt, 16));
    assert_eq!(tensor.data_ptr::<i16>().unwrap(), memory);
    let back = ndarray::ArrayViewD::<i16>::try_from(tensor.as_ref()).unwrap();
    assert_eq!(back[[1, 0]], 4);
}

#[test]
fn an_array_of_a_type_known_at_run_time_becomes_a_tensor_if_dlpack_has_the_type() {
    let read = |data_type: DataType| {
        let meta = ArrayMeta::builder([2, 0, 3], data_type).chunks([2, 1, 3]).build().unwrap();
        let array = Array::create(MemoryStore::new(), "/a", meta, &standard()).unwrap();
        array.read_any(..).and_then(AnyArray::into_dlpack)
    };
    for (data_type, code, bits) in [
        (DataType::Bool, DLDataTypeCode::kDLBool, 8),
        (DataType::UInt64, DLDataTypeCode::kDLUInt, 64),
        (DataType::Float32, DLDataTypeCode::kDLFloat, 32),
    ] {
        let tensor = read(data_type).unwrap();
        assert_eq!((tensor.dtype().code, tensor.dtype().bits), (code, bits));
        assert_eq!(tensor.shape(), [2, 0, 3]);
    }
    assert_eq!(refused(read(DataType::String)).0, ArrayErrorKind::Unsupported);
}
