//! Small inputs that decode to very much data are refused without using the memory.

use std::time::Instant;

use flate2::{Compress, Compression, FlushCompress};
use zarr_traits::json::{Value, json};
use zarr_traits::{CodecErrorKind, Scratch};

use crate::testing::{after_bytes, bytes_codec, chain, decode};

/// Returns the peak memory of this process in KiB, or 0 if unknown.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}

/// Returns 1 GiB of zeros as gzip: a piece of 1 MiB that ends at a byte, repeated.
fn gzip_bomb() -> Vec<u8> {
    let mut deflate = Compress::new(Compression::new(9), false);
    let zeros = vec![0; 1 << 20];
    let mut piece = Vec::with_capacity(1 << 16);
    deflate.compress_vec(&zeros, &mut piece, FlushCompress::Full).unwrap();
    let mut bomb = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
    (0..1024).for_each(|_| bomb.extend_from_slice(&piece));
    bomb.extend_from_slice(&[3, 0, 0, 0, 0, 0, 0, 0, 0, 0x40]);
    bomb
}

/// Returns `n` Zstandard blocks that each repeat one byte 128 Ki times.
fn zstd_bomb(header: &[u8], n: u32) -> Vec<u8> {
    let mut bomb = [&[0x28, 0xb5, 0x2f, 0xfd], header].concat();
    for i in 1..=n {
        let block = (128 << 13) << 1 >> 3 << 2 | 1 << 1 | u32::from(i == n);
        bomb.extend_from_slice(&block.to_le_bytes()[..3]);
        bomb.push(0);
    }
    bomb
}

#[test]
fn bombs_are_refused_without_memory() {
    let _alone = crate::alone();
    let claim = |size: u64| [&[0xe0][..], &size.to_le_bytes()].concat();
    let blosc_frame = |nbytes: u32, flags: u8| {
        let header = [[2, 1, flags, 1], nbytes.to_le_bytes(), 65_536_u32.to_le_bytes(), 36_u32.to_le_bytes()];
        [&header.concat()[..], &[0; 20]].concat()
    };
    let mut real_blosc = Vec::new();
    {
        let configuration = json!({"cname": "zstd", "clevel": 1, "shuffle": "noshuffle", "blocksize": 0});
        let zeros = vec![0; 64 << 20];
        bytes_codec("blosc", &configuration).encode(&zeros, &mut real_blosc, &mut Scratch::new()).unwrap();
    }
    let gzip = json!({"level": 5});
    let zstd = json!({"level": 1});
    let blosc = json!({"cname": "lz4", "clevel": 5, "shuffle": "noshuffle", "blocksize": 0});
    let zstd_twice =
        [json!({"name": "zstd", "configuration": zstd}), json!({"name": "zstd", "configuration": zstd})];
    let conditional = json!({"codecs": zstd_twice});
    let behind = |header: u8, bomb: Vec<u8>| [&[header][..], &bomb].concat();
    let bombs: Vec<(&str, &Value, Vec<u8>, &str)> = vec![
        ("gzip", &gzip, gzip_bomb(), "1 GiB"),
        ("zstd", &zstd, zstd_bomb(&[0x00, 0x68], 8192), "1 GiB"),
        ("zstd", &zstd, zstd_bomb(&claim(1 << 30), 8192), "1 GiB, as stated"),
        ("zstd", &zstd, zstd_bomb(&claim(1 << 60), 1), "states 2^60"),
        ("zstd", &zstd, zstd_bomb(&claim(16), 8192), "states 16 bytes"),
        ("conditional", &conditional, behind(0b01, zstd_bomb(&[0x00, 0x68], 8192)), "1 GiB"),
        (
            "conditional",
            &conditional,
            behind(0b11, zstd_bomb(&[0x00, 0x68], 8192)),
            "1 GiB between two codecs",
        ),
        ("blosc", &blosc, real_blosc, "64 MiB"),
        ("blosc", &blosc, blosc_frame(1 << 30, 0), "states 1 GiB"),
        ("blosc", &blosc, blosc_frame(0x7fff_ffff, 0), "states 2^31 - 1"),
        ("blosc", &blosc, blosc_frame(u32::MAX, 2), "states 2^32 - 1, not compressed"),
        ("blosc", &blosc, blosc_frame(1 << 20, 2), "states 1 MiB, not compressed"),
    ];
    // blocks of N5 that state a number of elements
    let n5 = json!([{"name": "n5_default", "configuration": {"codecs": [
        {"name": "transpose", "configuration": {"order": [0]}}, "bytes", {"name": "gzip", "configuration": gzip},
    ]}}]);
    let block = |len: u32| [&[0, 0, 0, 1][..], &len.to_be_bytes(), &gzip_bomb()].concat();
    let blocks =
        [(block(1 << 30), "1 GiB, as stated"), (block(16), "states 16 bytes"), (block(0), "states 0 bytes")];
    // Warm up the contexts, then reset the peak.
    for (name, configuration, _, _) in &bombs {
        let chain = chain(&after_bytes(name, (*configuration).clone()), "uint8", 1);
        decode(&chain, &[16], &[0; 40]).unwrap_err();
    }
    let _ = std::fs::write("/proc/self/clear_refs", "5");
    let before = peak();
    for (name, configuration, bomb, what) in &bombs {
        let chain = chain(&after_bytes(name, (*configuration).clone()), "uint8", 1);
        for size in [16, 65_536] {
            let e = decode(&chain, &[size], bomb).unwrap_err();
            assert!(
                matches!(e.kind(), CodecErrorKind::TooLarge | CodecErrorKind::Corrupt),
                "{name} {what}: {e:#}"
            );
        }
        // As an inner step of a chain the size is unknown, and the buffer grows to a limit.
        let mut twice: Vec<Value> = after_bytes(name, (*configuration).clone()).elements().unwrap().collect();
        twice.push(twice[1].clone());
        let twice = twice.into();
        let twice = crate::testing::chain(&twice, "uint8", 1);
        decode(&twice, &[16], bomb).unwrap_err();
    }
    for (block, what) in &blocks {
        for size in [16, 65_536] {
            let e = decode(&chain(&n5, "uint8", 1), &[size], block).unwrap_err();
            let refused = matches!(e.kind(), CodecErrorKind::TooLarge | CodecErrorKind::LimitExceeded);
            assert!(refused, "n5_default {what}: {e:#}");
        }
    }
    let grown = peak().saturating_sub(before);
    assert!(grown < 16 << 10, "{grown} KiB more than before");
}

#[test]
#[ignore = "a measurement"]
fn many_empty_members_are_decoded_quickly() {
    let member = crate::testing::hex("1f8b08000000000000ff03000000000000000000");
    let many = member.repeat(1 << 20);
    let start = Instant::now();
    let chain = chain(&after_bytes("gzip", json!({"level": 5})), "uint8", 1);
    assert_eq!(decode(&chain, &[0], &many).unwrap(), [0_u8; 0]);
    println!("{} MiB of empty gzip members: {:?}", many.len() >> 20, start.elapsed());
    let empty = crate::testing::hex("28b52ffd2000010000");
    let many = empty.repeat(1 << 20);
    let start = Instant::now();
    let chain = crate::testing::chain(&after_bytes("zstd", json!({"level": 5})), "uint8", 1);
    assert_eq!(decode(&chain, &[0], &many).unwrap(), [0_u8; 0]);
    println!("{} MiB of empty zstd frames: {:?}", many.len() >> 20, start.elapsed());
}
