//! Digests of what a run depends on.

use sha2::{Digest, Sha256};

/// Adds a text. Its length separates it from the others unambiguously.
pub(crate) fn add(hash: &mut Sha256, text: &str) {
    hash.update((text.len() as u64).to_le_bytes());
    hash.update(text);
}

/// Returns bytes in hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
