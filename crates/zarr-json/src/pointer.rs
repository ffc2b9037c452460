//! JSON pointers (RFC 6901), which name places in a document.

/// The longest member name, in bytes, in a pointer. A longer one is cut, so that reports about a hostile document are
/// not many times its size.
const LONGEST: usize = 256;

/// Appends one step to `pointer`: a member name or the index of an element.
pub fn push(pointer: &mut String, step: &str) {
    pointer.push('/');
    for (i, c) in step.char_indices() {
        match c {
            _ if i >= LONGEST => {
                pointer.push('…');
                return;
            }
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            c => pointer.push(c),
        }
    }
}

/// Returns `pointer` with one more step.
pub fn join(pointer: &str, step: &str) -> String {
    let mut joined = String::with_capacity(pointer.len() + 1 + step.len().min(LONGEST));
    joined.push_str(pointer);
    push(&mut joined, step);
    joined
}

/// Returns the first steps of `pointer`, the place of a value that is nested too deep.
pub fn outermost(pointer: &str) -> &str {
    const STEPS: usize = 4;
    let next = pointer.match_indices('/').nth(STEPS);
    next.map_or(pointer, |(end, _)| &pointer[..end])
}

/// Returns the pointer to element `index` of the array at `pointer`.
pub fn element(pointer: &str, index: usize) -> String {
    format!("{pointer}/{index}")
}

#[cfg(test)]
mod tests {
    #[test]
    fn steps_are_escaped_and_cut() {
        assert_eq!(super::join("/a", "b/c~d"), "/a/b~1c~0d");
        assert!(super::join("", &"é".repeat(5000)).len() < 300);
        for (pointer, outermost) in [("", ""), ("/a/b/0/1", "/a/b/0/1"), ("/a~1b/0/1/c/d", "/a~1b/0/1/c")] {
            assert_eq!(super::outermost(pointer), outermost);
        }
    }
}
