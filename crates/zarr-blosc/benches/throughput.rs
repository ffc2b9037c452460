//! Measures frames beside C-Blosc: `cargo bench -p zarr-blosc --features lz4-c,zstd-c`. Prints MB of content a second.
#![allow(missing_docs, clippy::unwrap_used, clippy::cast_precision_loss, reason = "a measurement")]
#![allow(unsafe_code, reason = "calls C-Blosc")]

#[path = "../tests/c_blosc/mod.rs"]
mod c_blosc;

use std::time::Instant;

use zarr_blosc::{Compressor, Frame, Settings, Shuffle, State, encode};

/// Returns the fastest of some runs, in MB a second.
fn speed(bytes: usize, mut run: impl FnMut()) -> f64 {
    run();
    let begin = Instant::now();
    let mut best = f64::INFINITY;
    while begin.elapsed().as_secs_f64() < 0.12 {
        let start = Instant::now();
        run();
        best = best.min(start.elapsed().as_secs_f64());
    }
    bytes as f64 / best / 1e6
}

/// Returns `f32` values like a field of temperatures: smooth, with noise in the low bits.
fn field(bytes: usize) -> Vec<u8> {
    let mut state = 1_u32;
    let value = |i: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let (row, column) = ((i / 1440) as f32, (i % 1440) as f32);
        let smooth = 280. + 20. * (row / 200.).sin() + 5. * (column / 90.).cos();
        ((smooth + (state >> 24) as f32 / 512.) * 64.).round() / 64.
    };
    (0..bytes / 4).map(value).flat_map(f32::to_le_bytes).collect()
}

fn main() {
    let only: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    let wanted = |name: &str| only.is_empty() || only.iter().any(|arg| arg == name);
    if wanted("shuffles") {
        shuffles();
    }
    println!(
        "{:<44} {:>8} {:>8} {:>6} {:>8} {:>8} {:>6} {:>7}",
        "", "decode", "C", "", "encode", "C", "", "size"
    );
    for compressor in Compressor::ALL.into_iter().filter(|compressor| wanted(compressor.name())) {
        for len in [1 << 20, 16 << 20] {
            for shuffle in [Shuffle::None, Shuffle::Bytes, Shuffle::Bits] {
                frames(compressor, shuffle, 5, 4, &field(len));
            }
        }
    }
}

/// Measures the shuffles alone: frames whose streams are a constant byte are little else.
fn shuffles() {
    println!("{:<44} {:>8} {:>8}", "streams that cost little", "decode", "C");
    for shuffle in [Shuffle::Bytes, Shuffle::Bits] {
        for typesize in [1, 2, 4, 8, 12, 16] {
            frames(Compressor::Lz4, shuffle, 5, typesize, &vec![0; 1 << 20]);
        }
    }
}

fn frames(compressor: Compressor, shuffle: Shuffle, level: u8, typesize: usize, content: &[u8]) {
    let mut settings = Settings::default();
    (settings.compressor, settings.shuffle, settings.level, settings.typesize) =
        (compressor, shuffle, level, typesize);
    let (mut state, mut frame, mut back) = (State::new(), Vec::new(), vec![0; content.len()]);
    encode(&settings, content, &mut frame, &mut state).unwrap();
    let mut c_frame = c_blosc::encode(&settings, content);
    let size = frame.len() as f64 / c_frame.len() as f64;
    // Both decode the frame of C-Blosc.
    let decode =
        speed(content.len(), || Frame::parse(&c_frame).unwrap().decode(&mut back, &mut state).unwrap());
    assert!(back == content);
    let c_decode = speed(content.len(), || assert!(c_blosc::decode(&c_frame, &mut back)));
    let made = speed(content.len(), || {
        frame.clear();
        encode(&settings, content, &mut frame, &mut state).unwrap();
    });
    c_frame.resize(content.len() + 16, 0);
    let c_made = speed(content.len(), || assert!(c_blosc::encode_into(&settings, content, &mut c_frame) > 0));
    println!(
        "{:<44} {decode:>8.0} {c_decode:>8.0} {:>6.2} {made:>8.0} {c_made:>8.0} {:>6.2} {size:>7.3}",
        format!(
            "{} {shuffle:?} of {typesize}, level {level}, {} KiB",
            compressor.name(),
            content.len() >> 10
        ),
        decode / c_decode,
        made / c_made,
    );
}
