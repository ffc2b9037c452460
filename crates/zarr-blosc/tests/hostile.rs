//! Damaged frames: an error or other bytes, never a panic, and never more memory than the content.

use proptest::prelude::*;
use zarr_blosc::{
    BloscMemory, Compressor, ErrorKind, Frame, OVERHEAD, Settings, Shuffle, decode, decode_part, encode,
};

const LEN: usize = 3000;

/// Returns a frame of every compressor and shuffle that this build contains, with one and with several blocks.
fn frames() -> Vec<Vec<u8>> {
    let content: Vec<u8> = (0..LEN).map(|i| (i / 16 * 3 + i % 5).to_le_bytes()[0]).collect();
    let mut frames = Vec::new();
    for compressor in Compressor::ALL {
        for shuffle in [Shuffle::None, Shuffle::Bytes, Shuffle::Bits] {
            for blocksize in [0, 1024] {
                let mut settings = Settings::default();
                (settings.compressor, settings.shuffle, settings.typesize) = (compressor, shuffle, 4);
                settings.blocksize = blocksize;
                let mut frame = Vec::new();
                match encode(&settings, &content, &mut frame, &mut BloscMemory::new()) {
                    Ok(()) => frames.push(frame),
                    Err(e) => assert_eq!(e.kind(), ErrorKind::Unsupported, "{e}"),
                }
            }
        }
    }
    frames
}

/// Decodes all and parts of a frame, and compares them if both can be decoded.
fn attack(frame: &[u8], state: &mut BloscMemory) {
    let mut whole = vec![0x55; LEN];
    let all = decode(frame, &mut whole, state);
    for range in [0..LEN, 100..1100, 2047..2049, LEN - 1..LEN, 5..5] {
        let mut part = vec![0xaa; range.len()];
        if decode_part(frame, range.clone(), &mut part, state).is_ok() && matches!(all, Ok(LEN)) {
            assert!(part == whole[range]);
        }
    }
}

#[test]
fn every_truncation_is_an_error() {
    for mut state in crate::memories() {
        for frame in frames() {
            for len in 0..frame.len() {
                let mut cut = frame[..len].to_vec();
                assert_eq!(decode(&cut, &mut [0; LEN], &mut state).unwrap_err().kind(), ErrorKind::Corrupt);
                if len >= OVERHEAD {
                    cut[12..16].copy_from_slice(&u32::try_from(len).unwrap().to_le_bytes());
                    assert_eq!(
                        decode(&cut, &mut [0; LEN], &mut state).unwrap_err().kind(),
                        ErrorKind::Corrupt
                    );
                }
            }
            assert_eq!(decode(&frame, &mut [0; LEN], &mut state).unwrap(), LEN);
        }
    }
}

#[test]
fn no_flipped_bit_panics() {
    for mut state in crate::memories() {
        for frame in frames() {
            for bit in 0..frame.len().min(400) * 8 {
                let mut damaged = frame.clone();
                damaged[bit / 8] ^= 1 << (bit % 8);
                attack(&damaged, &mut state);
            }
        }
    }
}

proptest! {
    #[test]
    fn no_random_damage_panics(
        which in any::<proptest::sample::Index>(),
        damage in prop::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..6),
        cut in any::<proptest::sample::Index>(),
        header in any::<bool>(),
    ) {
        let frames = frames();
        let mut frame = which.get(&frames).clone();
        for (at, byte) in damage {
            let end = if header { frame.len().min(64) } else { frame.len() };
            frame[at.index(end)] = byte;
        }
        frame.truncate(frame.len() - cut.index(frame.len()) % 40);
        let len = u32::try_from(frame.len()).unwrap().to_le_bytes();
        if let Some(size) = frame.get_mut(12..16) {
            size.copy_from_slice(&len);
        }
        attack(&frame, &mut BloscMemory::new());
    }

    #[test]
    fn no_random_stream_panics(format in 0_u8..5, flags in 0_u8..8, stream in prop::collection::vec(any::<u8>(), 0..200)) {
        let len = u32::try_from(LEN).unwrap();
        let packed = u32::try_from(stream.len()).unwrap();
        let mut frame = vec![2, 1, format << 5 | 0x10 | flags & 5, 4];
        for number in [len, len, 24 + packed, 20, packed] {
            frame.extend_from_slice(&number.to_le_bytes());
        }
        frame.extend_from_slice(&stream);
        attack(&frame, &mut BloscMemory::new());
    }

    #[test]
    fn any_content_comes_back(
        content in prop::collection::vec(0_u8..4, 0..3000),
        compressor in 0_usize..6,
        shuffle in 0_usize..3,
        typesize in 0_usize..300,
        level in 0_u8..12,
        blocksize in 0_usize..5000,
        range in (any::<proptest::sample::Index>(), any::<proptest::sample::Index>()),
    ) {
        let mut settings = Settings::default();
        settings.compressor = Compressor::ALL[compressor];
        settings.shuffle = [Shuffle::None, Shuffle::Bytes, Shuffle::Bits][shuffle];
        (settings.typesize, settings.level, settings.blocksize) = (typesize, level, blocksize);
        let (mut frame, mut state) = (Vec::new(), BloscMemory::new());
        if encode(&settings, &content, &mut frame, &mut state).is_ok() {
            let mut back = vec![0xaa; content.len()];
            decode(&frame, &mut back, &mut state).unwrap();
            prop_assert_eq!(&back, &content);
            let (a, b) = (range.0.index(content.len() + 1), range.1.index(content.len() + 1));
            let range = a.min(b)..a.max(b);
            let part = &mut back[..range.len()];
            decode_part(&frame, range.clone(), part, &mut state).unwrap();
            prop_assert_eq!(&*part, &content[range]);
        }
    }
}

#[test]
fn frames_that_claim_much_take_no_memory() {
    let claim = |len: u32, blocksize: u32| {
        let mut frame = vec![2, 1, 0x91, 4];
        for number in [len, blocksize, 40] {
            frame.extend_from_slice(&number.to_le_bytes());
        }
        frame.resize(40, 0);
        frame
    };
    let mut state = BloscMemory::new();
    for (len, blocksize) in
        [(0x7fff_ffef, 1 << 29), (0x7fff_ffef, 1), (u32::MAX, 1), (1 << 30, 1 << 30), (5000, 6000)]
    {
        let e = decode(&claim(len, blocksize), &mut [0; LEN], &mut state).unwrap_err();
        assert!(matches!(e.kind(), ErrorKind::Corrupt | ErrorKind::TooLarge), "{e}");
    }
    let e = Frame::parse(&[5; 16]).unwrap_err();
    assert_eq!(e.kind(), ErrorKind::Unsupported, "{e}");
}
