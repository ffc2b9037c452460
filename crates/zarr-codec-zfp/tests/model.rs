//! Random chunks: elements survive a round trip, with the accuracy of the mode.

use proptest::prelude::*;
use zarr_traits::json;

use crate::common::{chain, decode, encode};

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_error_is_larger_than_the_tolerance(
        values in proptest::collection::vec(-1e6_f64..1e6, 64),
        exponent in -20..10,
    ) {
        let tolerance = 2_f64.powi(exponent);
        let chain = chain("zfp", &json!({"mode": "fixed_accuracy", "tolerance": tolerance}), "float64", 3);
        let encoded = encode(&chain, &[4, 4, 4], zarr_traits::strided::bytes_of(&values)).unwrap();
        let decoded = decode(&chain, &[4, 4, 4], &encoded).unwrap();
        for (value, bytes) in values.iter().zip(decoded.as_chunks().0) {
            let error = (value - f64::from_ne_bytes(*bytes)).abs();
            prop_assert!(error <= tolerance, "{value}: {error:#} > {tolerance}");
        }
    }
}
