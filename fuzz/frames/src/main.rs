//! Frames of Blosc: damaged frames, and bytes that were never a frame. The program contains little
//! else, because libFuzzer looks at the counters of the whole program after each run.
#![no_main]

use std::cell::RefCell;

use libfuzzer_sys::fuzz_target;
use zarr_blosc::{BloscMemory, Compressor, Frame, Settings, Shuffle, decode, decode_part, encode};

/// The most decoded bytes: a caller has a limit as well.
const MOST: usize = 1 << 16;

#[derive(Default)]
struct Memory {
    state: BloscMemory,
    frame: Vec<u8>,
    whole: Vec<u8>,
    part: Vec<u8>,
}

thread_local!(static MEMORY: RefCell<Memory> = RefCell::default());

fuzz_target!(|input: &[u8]| {
    MEMORY.with_borrow_mut(|memory| {
        if let Some((&[mode, how, from, to], rest)) = input.split_first_chunk() {
            run(memory, mode, how, [from, to], rest);
        }
    });
});

/// In an even mode the rest is the frame. In an odd mode it is up to 15 damages of three bytes, and content to encode.
fn run(memory: &mut Memory, mode: u8, how: u8, ends: [u8; 2], rest: &[u8]) {
    let Memory { state, frame, whole, part } = memory;
    frame.clear();
    if mode & 1 == 0 {
        frame.extend_from_slice(rest);
    } else {
        let Some((damages, content)) = rest.split_at_checked(3 * usize::from(mode >> 4)) else { return };
        // Repeated content fills several blocks.
        let content = content.repeat(1 + usize::from(how >> 5));
        encode(&settings(mode, how), &content, frame, state).expect("all compressors are in this build");
        for &[low, high, value] in damages.as_chunks().0 {
            let place = usize::from(u16::from_le_bytes([low, high])) % frame.len();
            frame[place] ^= value;
        }
        if damages.is_empty() {
            whole.resize(content.len(), 0);
            assert_eq!(decode(frame, whole, state).expect("an undamaged frame"), content.len());
            assert_eq!(*whole, content);
        }
    }
    check(state, frame, whole, part, ends);
}

fn settings(mode: u8, how: u8) -> Settings {
    let mut settings = Settings::default();
    settings.compressor =
        [Compressor::BloscLz, Compressor::Lz4, Compressor::Snappy][usize::from(how & 7) % 3];
    settings.shuffle = [Shuffle::None, Shuffle::Bytes, Shuffle::Bits][usize::from(mode >> 1 & 3) % 3];
    settings.typesize = [1, 2, 3, 8][usize::from(how >> 3 & 3)];
    settings.blocksize = if mode & 8 == 0 { 0 } else { 128 };
    settings
}

/// If a frame can be decoded, so can each part of it, with the same bytes.
fn check(state: &mut BloscMemory, frame: &[u8], whole: &mut Vec<u8>, part: &mut Vec<u8>, ends: [u8; 2]) {
    let Ok(len) = Frame::parse(frame).map(|frame| frame.len()) else { return };
    if len > MOST {
        return;
    }
    whole.resize(len, 0);
    let all = decode(frame, whole, state);
    let [from, to] = ends.map(|end| usize::from(end) * len / 255);
    let range = from.min(to)..from.max(to);
    part.resize(range.len(), 0);
    let some = decode_part(frame, range.clone(), part, state);
    if all.is_ok() {
        some.expect("the whole frame can be decoded, so can a part");
        assert_eq!(part[..], whole[range], "a part differs from the part of the whole");
    }
}
