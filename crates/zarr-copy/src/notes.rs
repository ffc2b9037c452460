//! The notes and errors of a plan.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::error::CopyError;

/// Notes. A note may be about several arrays.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    lines: Vec<String>,
    /// Notes about arrays, with the paths of the arrays.
    about: Vec<(String, Vec<String>)>,
}

impl Notes {
    /// Adds a note.
    pub(crate) fn say(&mut self, note: String) {
        self.lines.push(note);
    }

    /// Adds a note about an array. Equal notes about several arrays become one line.
    pub(crate) fn say_of(&mut self, path: &str, note: String) {
        match self.about.iter_mut().find(|(known, _)| *known == note) {
            Some((_, paths)) => paths.push(path.to_owned()),
            None => self.about.push((note, vec![path.to_owned()])),
        }
    }

    /// Returns a line for each note.
    pub(crate) fn lines(&self) -> impl Iterator<Item = String> {
        let about = self.about.iter().map(|(note, paths)| match &paths[..] {
            [first, _, ..] => format!("array {first:?} and {} more: {note}", paths.len() - 1),
            paths => format!("array {:?}: {note}", paths.first().map_or("", String::as_str)),
        });
        self.lines.iter().cloned().chain(about)
    }
}

/// Errors of nodes. Errors that differ only in the path of the node become one line.
#[derive(Debug, Default)]
pub(crate) struct Failures {
    /// The first error of each kind, with the number of others.
    kinds: Vec<(CopyError, u64)>,
    /// The places of the kinds in the list, by their messages without the path.
    places: HashMap<String, usize>,
}

impl Failures {
    pub(crate) fn add(&mut self, path: &str, e: CopyError) {
        let kind = e.line().replace(&format!("{path:?}"), "");
        match self.places.entry(kind) {
            Entry::Occupied(place) => self.kinds[*place.get()].1 += 1,
            Entry::Vacant(place) => {
                place.insert(self.kinds.len());
                self.kinds.push((e, 0));
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// Returns the errors as one, or `None` without errors.
    pub(crate) fn joined(self) -> Option<CopyError> {
        CopyError::joined(self.kinds.into_iter().map(|(e, more)| counted(e, more)))
    }
}

fn counted(e: CopyError, more: u64) -> CopyError {
    match more {
        0 => e,
        1 => e.edited(|text| format!("{text}; 1 more node has the same error")),
        more => e.edited(|text| format!("{text}; {more} more nodes have the same error")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_notes_about_several_arrays_are_one_line() {
        let mut notes = Notes::default();
        for path in ["/a", "/b", "/c"] {
            notes.say_of(path, "it is large".to_owned());
        }
        notes.say_of("/b", "it is odd".to_owned());
        notes.say("there is a group".to_owned());
        let lines: Vec<String> = notes.lines().collect();
        let wanted = ["there is a group", "array \"/a\" and 2 more: it is large", "array \"/b\": it is odd"];
        assert_eq!(lines, wanted);
    }
}
