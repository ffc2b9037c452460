//! C-Blosc reads our frames, and we read those of C-Blosc.

use zarr_blosc::{BloscMemory, Compressor, Frame, Settings, Shuffle, decode, encode};

use crate::c_blosc;

const SHUFFLES: [Shuffle; 3] = [Shuffle::None, Shuffle::Bytes, Shuffle::Bits];

fn settings(compressor: Compressor, level: u8, shuffle: Shuffle, typesize: usize) -> Settings {
    let mut settings = Settings::default();
    (settings.compressor, settings.level, settings.shuffle, settings.typesize) =
        (compressor, level, shuffle, typesize);
    settings
}

/// Returns numbers that change slowly, of `typesize` bytes, with `noise` low bits of noise.
fn waves(len: usize, typesize: usize, noise: u32) -> Vec<u8> {
    let mut state = 7_u64;
    let mut value = |i: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((i as u64 / 9) << 3) ^ (state >> 40) & ((1 << noise) - 1)
    };
    let width = typesize.clamp(1, 8);
    (0..=len / typesize)
        .flat_map(|i| {
            value(i).to_le_bytes().into_iter().take(width).chain(std::iter::repeat_n(0, typesize - width))
        })
        .take(len)
        .collect()
}

/// Checks the frames of both encoders with both decoders, and returns the lengths of the frames.
fn check(settings: &Settings, content: &[u8], state: &mut BloscMemory) -> [usize; 2] {
    let context = || format!("{settings:?}, {} bytes", content.len());
    let theirs = c_blosc::encode(settings, content);
    let mut ours = Vec::new();
    encode(settings, content, &mut ours, state).unwrap();
    assert!(ours.len() <= content.len() + zarr_blosc::OVERHEAD, "{}", context());
    let mut back = vec![0xaa; content.len()];
    for frame in [&theirs, &ours] {
        back.fill(0xaa);
        assert_eq!(decode(frame, &mut back, state).unwrap(), content.len(), "{}", context());
        assert!(back == content, "{}", context());
    }
    if !content.is_empty() {
        back.fill(0xaa);
        assert!(c_blosc::decode(&ours, &mut back), "{}", context());
        assert!(back == content, "{}", context());
    }
    // The headers agree, unless a compressor makes the difference.
    if (ours[2] ^ theirs[2]) & 2 == 0 {
        assert_eq!(ours[..12], theirs[..12], "{}", context());
    }
    for range in [0..content.len(), content.len() / 3..content.len() / 2, content.len()..content.len()] {
        let part = &mut back[..range.len()];
        part.fill(0xaa);
        Frame::parse(&theirs).unwrap().decode_part(range.clone(), part, state).unwrap();
        assert!(*part == content[range.clone()], "{}, {range:?}", context());
    }
    [ours.len(), theirs.len()]
}

#[test]
fn all_settings_and_sizes_agree_with_c_blosc() {
    let mut state = BloscMemory::new();
    for typesize in [1, 2, 3, 4, 7, 8, 12, 16, 17, 32, 255] {
        let sizes = [0, 1, typesize - 1, typesize, typesize + 1, 127, 128, 129, 16 * typesize, 5000, 40_003];
        for content in sizes.map(|size| waves(size, typesize, 3)) {
            for compressor in Compressor::ALL {
                for shuffle in SHUFFLES {
                    for level in [0, 1, 5, 9] {
                        check(&settings(compressor, level, shuffle, typesize), &content, &mut state);
                    }
                }
            }
        }
    }
}

#[test]
fn large_frames_agree_with_c_blosc() {
    for (mut state, in_c) in crate::memories().into_iter().zip([true, false]) {
        large_frames_agree(&mut state, in_c);
    }
}

fn large_frames_agree(state: &mut BloscMemory, in_c: bool) {
    for compressor in Compressor::ALL {
        for (shuffle, typesize, level) in [
            (Shuffle::None, 4, 5),
            (Shuffle::Bytes, 1, 1),
            (Shuffle::Bytes, 4, 5),
            (Shuffle::Bytes, 8, 3),
            (Shuffle::Bits, 2, 6),
            (Shuffle::Bits, 12, 2),
        ] {
            for size in [262_143, 262_144, (1 << 20) + 3] {
                let [ours, theirs] =
                    check(&settings(compressor, level, shuffle, typesize), &waves(size, typesize, 4), state);
                // Other libraries compress a little more or less.
                let same = match compressor {
                    Compressor::BloscLz | Compressor::Snappy => true,
                    Compressor::Lz4 | Compressor::Lz4Hc => in_c && cfg!(feature = "lz4-c"),
                    Compressor::Zstd => in_c && cfg!(feature = "zstd-c"),
                    Compressor::Zlib => false,
                };
                assert!(!same || ours.abs_diff(theirs) <= theirs / 100, "{compressor:?} {ours} {theirs}");
            }
        }
    }
}

#[test]
fn given_block_sizes_agree_with_c_blosc() {
    let mut state = BloscMemory::new();
    for compressor in Compressor::ALL {
        for blocksize in [1, 128, 500, 4096, 65_536, 1 << 20, 1 << 30] {
            for (shuffle, typesize) in [(Shuffle::None, 1), (Shuffle::Bytes, 4), (Shuffle::Bits, 3)] {
                let mut settings = settings(compressor, 4, shuffle, typesize);
                settings.blocksize = blocksize;
                for size in [100, 511, 4096, 30_001] {
                    check(&settings, &waves(size, typesize, 2), &mut state);
                }
            }
        }
    }
}

#[test]
fn content_that_does_not_shrink_is_stored() {
    let mut state = BloscMemory::new();
    let noise: Vec<u8> = (0..50_000_u32)
        .map(|i| (i.wrapping_mul(2_654_435_761).rotate_left(i % 29) >> 13).to_le_bytes()[0])
        .collect();
    for compressor in Compressor::ALL {
        check(&settings(compressor, 5, Shuffle::Bytes, 4), &noise, &mut state);
    }
}
