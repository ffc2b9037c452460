//! Frames that numcodecs wrote (`testdata/generate.py`).
#![cfg(all(
    feature = "zlib",
    any(feature = "lz4", feature = "lz4-c"),
    any(feature = "zstd", feature = "zstd-c")
))]

use zarr_blosc::{Compressor, Frame, Shuffle};

fn hex(digits: &str) -> Vec<u8> {
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap()).collect()
}

#[test]
fn frames_of_numcodecs_are_decoded() {
    let mut memories = crate::memories();
    for line in include_str!("../testdata/numcodecs.txt").lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split(' ').collect();
        let [name, _level, shuffle, typesize, _blocksize, elements, frame] = fields[..] else {
            panic!("{line}")
        };
        let (typesize, elements): (usize, u64) = (typesize.parse().unwrap(), elements.parse().unwrap());
        let mask = u64::MAX >> (64 - 8 * typesize);
        let number = |i: u64| (((i * i) & mask) / 7).to_le_bytes().into_iter().take(typesize);
        let content: Vec<u8> = (0..elements).flat_map(number).collect();

        let bytes = hex(frame);
        let frame = Frame::parse(&bytes).unwrap();
        assert_eq!((frame.len(), frame.typesize()), (content.len(), typesize), "{line}");
        for memory in &mut memories {
            let mut decoded = vec![0; content.len()];
            frame.decode(&mut decoded, memory).unwrap();
            assert!(decoded == content, "{line}");
        }
        if let Some(compressor) = frame.compressor() {
            assert_eq!(compressor.name(), name.trim_end_matches("hc"), "{line}");
            let shuffles = [Shuffle::None, Shuffle::Bytes, Shuffle::Bits];
            assert_eq!(frame.shuffle(), shuffles[shuffle.parse::<usize>().unwrap()], "{line}");
        }
        let (start, end) = (content.len() / 3, content.len() / 2);
        for memory in &mut memories {
            let mut part = vec![0; end - start];
            frame.decode_part(start..end, &mut part, memory).unwrap();
            assert!(part == content[start..end], "{line}");
        }
    }
}

#[test]
fn names_are_those_of_c_blosc() {
    for compressor in Compressor::ALL {
        assert_eq!(Compressor::from_name(compressor.name()), Some(compressor));
    }
    assert_eq!(Compressor::from_name("lzma"), None);
}
