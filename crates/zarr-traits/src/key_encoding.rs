//! Chunk key encodings: the keys of chunks.

use std::fmt::Debug;

use zarr_strided::Dims;

/// Converts the grid index of a chunk to its key, relative to the array, and back.
///
/// The rules, of which the creation of an array checks the first and the last chunk:
///
/// 1. Different indexes have different keys. Two chunks with one key overwrite each other.
/// 2. A key is legal in a [`Key`](crate::Key), and its last segment is never the name of a document, such as `zarr.json` or
///    `.zarray`.
/// 3. [`decode`](Self::decode) of the key of an index returns this index. Listings find chunks by it. So a hash alone is not
///    a key; it can stand before the index.
/// 4. `decode` returns `None` for every text that is not the key of an index.
/// 5. A key is no folder of another key: not `c` and `c/0`.
///
/// An encoding that puts a digit before the key, so that neighbouring chunks are in 16 folders:
///
/// ```
/// use std::sync::Arc;
/// use zarr_traits::extension::{Entry, KeyEncodingEntry};
/// use zarr_traits::{CodecError, CoreKeyEncoding, KeyEncoding, Registry, strided::Dims};
///
/// #[derive(Debug)]
/// struct Spread(CoreKeyEncoding);
///
/// impl KeyEncoding for Spread {
///     fn encode(&self, index: &[u64], out: &mut String) {
///         let sum = index.iter().fold(0_u64, |sum, i| sum.wrapping_mul(31).wrapping_add(*i));
///         out.push_str(&format!("{:x}/", sum % 16));
///         self.0.encode(index, out);
///     }
///
///     fn decode(&self, key: &str, rank: usize) -> Option<Dims> {
///         let index = self.0.decode(key.split_once('/')?.1, rank)?;
///         let mut again = String::new();
///         self.encode(&index, &mut again);
///         (again == key).then_some(index) // another digit is no key of a chunk
///     }
/// }
///
/// const SPREAD: Entry = Entry::KeyEncoding(KeyEncodingEntry::new("example.spread", |_, _| {
///     Ok(Arc::new(Spread(CoreKeyEncoding::v2_with('.'))))
/// }));
/// let registry = Registry::core().with(&[SPREAD])?;
///
/// let (spread, mut key) = (Spread(CoreKeyEncoding::v2_with('.')), String::new());
/// spread.encode(&[1, 2], &mut key);
/// assert_eq!(key, "1/1.2");
/// assert_eq!(spread.decode(&key, 2).as_deref(), Some(&[1, 2][..]));
/// assert_eq!(spread.decode("2/1.2", 2), None);
/// # Ok::<(), CodecError>(())
/// ```
pub trait KeyEncoding: Debug + Send + Sync {
    /// Appends the key of the chunk at `index` to `out`.
    fn encode(&self, index: &[u64], out: &mut String);

    /// Returns the index for `key` in a grid of `rank` dimensions, or `None` if `key` is not a chunk key.
    fn decode(&self, key: &str, rank: usize) -> Option<Dims>;
}

/// The two key encodings of the core: `default` (`c/1/23`) and `v2` (`1.23`).
///
/// The rules are in [chunk keys](https://github.com/zarr-rs/zarr/blob/traits-v0.1.0/docs/specification/grids-and-keys.md#c.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CoreKeyEncoding {
    first: &'static str,
    separator: char,
    empty: &'static str,
}

impl CoreKeyEncoding {
    /// Returns the encoding of `c` and the index. `separator` is `/` or `.`.
    pub fn default_with(separator: char) -> Self {
        Self { first: "c", separator, empty: "c" }
    }

    /// Returns the encoding of the index alone. `separator` is `.` or `/`.
    pub fn v2_with(separator: char) -> Self {
        Self { first: "", separator, empty: "0" }
    }
}

impl KeyEncoding for CoreKeyEncoding {
    fn encode(&self, index: &[u64], out: &mut String) {
        if index.is_empty() {
            return out.push_str(self.empty);
        }
        out.push_str(self.first);
        for (dim, i) in index.iter().enumerate() {
            if dim > 0 || !self.first.is_empty() {
                out.push(self.separator);
            }
            push_number(*i, out);
        }
    }

    fn decode(&self, key: &str, rank: usize) -> Option<Dims> {
        if rank == 0 {
            return (key == self.empty).then(Dims::new);
        }
        let mut key = key.strip_prefix(self.first)?;
        if !self.first.is_empty() {
            key = key.strip_prefix(self.separator)?;
        }
        let index: Option<Dims> = key.split(self.separator).map(number).collect();
        index.filter(|index| index.len() == rank)
    }
}

/// Appends decimal digits. Every chunk has a key, and `write!` takes several times as long for short numbers.
fn push_number(number: u64, out: &mut String) {
    if number >= 10 {
        push_number(number / 10, out);
    }
    out.push(char::from(b'0' + (number % 10) as u8));
}

/// Parses decimal digits without a leading zero.
fn number(text: &str) -> Option<u64> {
    let plain = text.bytes().all(|b| b.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    if plain { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_the_form_of_the_specification() {
        // rules C30 and C31
        for (encoding, key, scalar) in [
            (CoreKeyEncoding::default_with('/'), "c/1/23/45", "c"),
            (CoreKeyEncoding::default_with('.'), "c.1.23.45", "c"),
            (CoreKeyEncoding::v2_with('.'), "1.23.45", "0"),
            (CoreKeyEncoding::v2_with('/'), "1/23/45", "0"),
        ] {
            for (index, key) in [(&[1, 23, 45][..], key), (&[], scalar)] {
                let mut out = String::new();
                encoding.encode(index, &mut out);
                assert_eq!(out, key);
                assert_eq!(encoding.decode(key, index.len()).as_deref(), Some(index));
            }
        }
    }

    #[test]
    fn a_key_that_is_not_a_chunk_key_has_no_index() {
        let slash = CoreKeyEncoding::default_with('/');
        for bad in [
            "c",
            "c/",
            "c/1",
            "c/1/2/3",
            "c/01/2",
            "c/+1/2",
            "c/1/x",
            "c.1.2",
            "d/1/2",
            "c/1/18446744073709551616",
        ] {
            assert_eq!(slash.decode(bad, 2), None, "rule C35: {bad:?}");
        }
        let largest = [u64::MAX, 0]; // rule C33
        let mut key = String::new();
        slash.encode(&largest, &mut key);
        assert_eq!(key, "c/18446744073709551615/0");
        assert_eq!(slash.decode(&key, 2).as_deref(), Some(&largest[..]));
        assert_eq!(CoreKeyEncoding::v2_with('.').decode("c.1.2", 2), None);
        for document in ["zarr.json", ".zarray", ".zattrs", "0", "c"] {
            assert_eq!(CoreKeyEncoding::v2_with('/').decode(document, 2), None, "rule C.t35: {document:?}");
        }
        // Rules C.t34 and C.t35: with one dimension or none, `0` is a chunk key.
        assert_eq!(CoreKeyEncoding::v2_with('/').decode("0", 1).as_deref(), Some(&[0][..]));
        assert_eq!(CoreKeyEncoding::v2_with('/').decode("0", 0).as_deref(), Some(&[][..]));
        assert_eq!(CoreKeyEncoding::v2_with('/').decode("zarr.json", 1), None);
    }
}
