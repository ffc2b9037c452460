//! `numcodecs.zfpy`: numbers in the format of zfp, after its header. The codec is that of [`zarr_codec_zfp::zfpy`],
//! where its members are documented.

pub use zarr_codec_zfp::zfpy::ENTRY;

#[cfg(test)]
mod tests {
    use zarr_traits::DataType;
    use zarr_traits::serde_json::json;
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
}
