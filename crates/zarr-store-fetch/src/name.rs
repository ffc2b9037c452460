//! The URL of an object.

use zarr_traits::Key;

/// Returns the URL of the object at `key` below the folder `base`, with percent-encoded special characters.
pub(crate) fn url_of(base: &str, query: &str, key: &Key) -> String {
    let mut url = base.trim_end_matches('/').to_owned();
    url.push('/');
    for byte in key.as_str().bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                url.push(char::from(byte));
            }
            _ => url += &format!("%{byte:02X}"),
        }
    }
    url + query
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_characters_of_a_key_are_percent_encoded() {
        for (base, query, key, url) in [
            ("http://h/a.zarr", "", "c/0/1", "http://h/a.zarr/c/0/1"),
            ("http://h/a.zarr/", "?sig=1", "zarr.json", "http://h/a.zarr/zarr.json?sig=1"),
            ("http://h", "", "a b/?#%/é", "http://h/a%20b/%3F%23%25/%C3%A9"),
        ] {
            assert_eq!(url_of(base, query, &Key::new(key).unwrap()), url);
        }
    }
}
