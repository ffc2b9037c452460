//! `numcodecs.zfpy`: numbers in the format of zfp, after its header. The codec is that of [`zarr_codec_zfp::zfpy`],
//! where its members are documented.

pub use zarr_codec_zfp::zfpy::ENTRY;

#[cfg(test)]
mod tests {
    use zarr_traits::DataType;
    use zarr_traits::json;
    use zarr_traits::strided::bytes_of;

    use crate::testing::{decode_fixed, hex, repr};

    #[test]
    fn the_codec_is_in_the_table() {
        // rule D10.1
        let encoded = hex("7a66700580000000000020cb000000bcbd10030000a03e7a1d00008045050000");
        let elements = [-51, -39, -15, 25, -24, 44, 24, 16, 26];
        let configuration = json!({"mode": 4, "tolerance": 0.5});
        let decoded =
            decode_fixed("numcodecs.zfpy", &configuration, &repr(DataType::Int32), &encoded, &[9]).unwrap();
        assert_eq!(decoded, bytes_of(&elements));
    }

    /// The chunks of zarr-python 3.4.2 with numcodecs 0.17.1 for `filters=[BitRound(keepbits=5)], serializer=ZFPY(…)`
    /// and the numbers [1.1, 2.7, -3.3, 0, pi, -1e3, 0.25, 100.5]. A rate of 16 bits loses bits of the integers.
    #[test]
    fn streams_behind_bitround_of_numcodecs_are_the_bits_of_floats() {
        let exact = [1.093_75_f32, 2.6875, -3.3125, 0.0, 3.125, -992.0, 0.25, 100.0];
        let of_rate = [
            0x3f8b_8000,
            0x402c_8000,
            0xc053_8000,
            0x8000,
            0x4049_0000,
            0xc477_0000,
            0x3e81_0000,
            0x42c7_0000,
        ]
        .map(f32::from_bits);
        let (lossless, rate) = (json!({}), json!({"mode": 2, "rate": 16.0}));
        let tolerance = json!({"mode": 4, "tolerance": 0.001});
        for (data_type, configuration, elements, encoded) in [
            (
                DataType::Float32,
                &lossless,
                exact,
                "7a66700570000000000000882d250000c88954276b01484a88e3db0000000000",
            ),
            (
                DataType::Float32,
                &rate,
                of_rate,
                "7a667005700000000000f0039ab70a009080551ce55e25135704bd0b00000000",
            ),
            (
                DataType::Float32,
                &tolerance,
                exact,
                "7a66700570000000000090ca9ab70a009080551c0a00000000000040b957c9c41541ef42010000000000000000000000",
            ),
            (
                DataType::Float64,
                &lossless,
                exact,
                "7a6670057100000000000088504a000000803a98a07c5a0000b23bc13e5b0300",
            ),
        ] {
            let elements = match data_type {
                DataType::Float32 => bytes_of(&elements).to_vec(),
                _ => bytes_of(&elements.map(f64::from)).to_vec(),
            };
            let encoded = hex(encoded);
            let read =
                |data_type| decode_fixed("numcodecs.zfpy", configuration, &repr(data_type), &encoded, &[8]);
            assert_eq!(read(data_type.clone()).unwrap(), elements, "{data_type} {configuration}");
            let other = if data_type == DataType::Float32 { DataType::Float64 } else { DataType::Float32 };
            assert!(read(other).is_err(), "{data_type} {configuration}");
        }
    }
}
