//! C-Blosc, against which the tests and the measurement compare.

use std::ffi::CString;

use zarr_blosc::{OVERHEAD, Settings, Shuffle};

/// Encodes with one thread.
pub(crate) fn encode(settings: &Settings, src: &[u8]) -> Vec<u8> {
    let mut frame = vec![0; src.len() + OVERHEAD];
    let len = encode_into(settings, src, &mut frame);
    frame.truncate(len);
    frame
}

/// Encodes into `frame`, which is larger than `src` by [`OVERHEAD`], and returns the length of the frame.
pub(crate) fn encode_into(settings: &Settings, src: &[u8], frame: &mut [u8]) -> usize {
    let name = CString::new(settings.compressor.name()).unwrap();
    let shuffle = match settings.shuffle {
        Shuffle::None => 0,
        Shuffle::Bytes => 1,
        Shuffle::Bits => 2,
    };
    // SAFETY: both pointers are valid for the given lengths, the name ends in a 0, and one thread uses no global state.
    let made = unsafe {
        blosc_src::blosc_compress_ctx(
            settings.level.into(),
            shuffle,
            settings.typesize,
            src.len(),
            src.as_ptr().cast(),
            frame.as_mut_ptr().cast(),
            frame.len(),
            name.as_ptr(),
            settings.blocksize,
            1,
        )
    };
    usize::try_from(made).unwrap()
}

/// Decodes a valid frame with one thread; returns whether all of `dst` is filled.
pub(crate) fn decode(frame: &[u8], dst: &mut [u8]) -> bool {
    // SAFETY: the frame has the length in its header, and writes are checked against the length of the destination.
    let made = unsafe {
        blosc_src::blosc_decompress_ctx(frame.as_ptr().cast(), dst.as_mut_ptr().cast(), dst.len(), 1)
    };
    usize::try_from(made) == Ok(dst.len())
}
