//! The measurement of scaling runs, and prints what `cargo xtask bench --page` reads.
#![allow(clippy::unwrap_used, reason = "this is a test")]

use std::process::Command;

use serde_json::Value;

#[test]
fn small_sizes_are_measured() {
    let output = Command::new(env!("CARGO_BIN_EXE_scaling")).arg("--quick").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
    let charts = printed["scaling"]["charts"].as_array().unwrap();
    let lines: Vec<&Value> = charts.iter().flat_map(|chart| chart["lines"].as_array().unwrap()).collect();
    assert_eq!((charts.len(), lines.len()), (4, 20));
    for line in lines {
        let points = line["points"].as_array().unwrap();
        let sizes: Vec<u64> = points.iter().map(|point| point["size"].as_u64().unwrap()).collect();
        assert!(sizes.len() == 2 && sizes[0] < sizes[1], "{line}");
        for point in points {
            assert_eq!(point["secs"].as_array().unwrap().len(), point["cpu"].as_array().unwrap().len());
            assert!(
                point["count"].as_u64().unwrap() > 0 && point["secs"][0].as_f64().unwrap() > 0.0,
                "{line}"
            );
        }
    }
}
