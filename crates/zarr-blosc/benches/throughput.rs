//! Measures frames beside C-Blosc: `cargo bench -p zarr-blosc --features lz4-c,zstd-c`. Prints MB of content a second.
//! Names of compressors select them; `shuffles` measures frames that consist of little else. Without `--bench`, as in
//! `cargo test --bench throughput`, everything small is done once.
#![allow(missing_docs, clippy::unwrap_used, clippy::cast_precision_loss, reason = "a measurement")]
#![allow(unsafe_code, reason = "calls C-Blosc")]

#[path = "../tests/c_blosc/mod.rs"]
mod c_blosc;

use std::time::Instant;

use zarr_blosc::{BloscMemory, Compressor, Frame, Settings, Shuffle, encode};

/// Whether times count: `cargo bench` says so.
fn is_measured() -> bool {
    std::env::args().any(|arg| arg == "--bench")
}

/// Runs both by turns, so that both meet the same load. Returns the fastest run of each, in MB a second.
fn race(bytes: usize, mut ours: impl FnMut(), mut theirs: impl FnMut()) -> [f64; 2] {
    let mut best = [f64::INFINITY; 2];
    let begin = Instant::now();
    loop {
        let runs: [&mut dyn FnMut(); 2] = [&mut ours, &mut theirs];
        for (run, best) in runs.into_iter().zip(&mut best) {
            let start = Instant::now();
            run();
            *best = best.min(start.elapsed().as_secs_f64());
        }
        if !is_measured() || begin.elapsed().as_secs_f64() >= 0.5 {
            return best.map(|seconds| bytes as f64 / seconds / 1e6);
        }
    }
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
    println!(
        "{:<44} {:>7} {:>7} {:>5} {:>7} {:>7} {:>5} {:>6}",
        "", "decode", "C", "", "encode", "C", "", "size"
    );
    if wanted("shuffles") {
        for shuffle in [Shuffle::Bytes, Shuffle::Bits] {
            for typesize in [1, 2, 4, 8, 12, 16] {
                // Streams of a constant byte cost little, and blocks have a multiple of eight elements.
                measure(Compressor::Lz4, shuffle, typesize, &vec![0; 96 << 13]);
            }
        }
    }
    for compressor in Compressor::ALL.into_iter().filter(|compressor| wanted(compressor.name())) {
        for len in [1 << 20, 16 << 20].into_iter().take(if is_measured() { 2 } else { 1 }) {
            for shuffle in [Shuffle::None, Shuffle::Bytes, Shuffle::Bits] {
                measure(compressor, shuffle, 4, &field(len));
            }
        }
    }
}

fn measure(compressor: Compressor, shuffle: Shuffle, typesize: usize, content: &[u8]) {
    let mut settings = Settings::default();
    (settings.compressor, settings.shuffle, settings.typesize) = (compressor, shuffle, typesize);
    let (mut state, mut frame, mut back) = (BloscMemory::new(), Vec::new(), vec![0; content.len()]);
    let mut back_in_c = back.clone();
    encode(&settings, content, &mut frame, &mut state).unwrap();
    let mut frame_in_c = c_blosc::encode(&settings, content);
    let size = frame.len() as f64 / frame_in_c.len() as f64;
    // Both decode the frame of C-Blosc.
    let decode = race(
        content.len(),
        || Frame::parse(&frame_in_c).unwrap().decode(&mut back, &mut state).unwrap(),
        || assert!(c_blosc::decode(&frame_in_c, &mut back_in_c)),
    );
    assert!(back == content && back_in_c == content);
    frame_in_c.resize(content.len() + 16, 0);
    let encode = race(
        content.len(),
        || {
            frame.clear();
            encode(&settings, content, &mut frame, &mut state).unwrap();
        },
        || assert!(c_blosc::encode_into(&settings, content, &mut frame_in_c) > 0),
    );
    print!("{:<44}", format!("{} {shuffle:?} of {typesize}, {} KiB", compressor.name(), content.len() >> 10));
    for [ours, theirs] in [decode, encode] {
        print!(" {ours:>7.0} {theirs:>7.0} {:>5.2}", ours / theirs);
    }
    println!(" {size:>6.3}");
}
