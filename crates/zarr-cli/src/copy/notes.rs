//! The notes that are printed before a copy.

/// Notes. A note may be about several arrays.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    lines: Vec<String>,
    /// Notes about arrays, with the paths of the arrays.
    about: Vec<(String, Vec<String>)>,
}

impl Notes {
    /// Adds a note.
    pub(super) fn say(&mut self, note: String) {
        self.lines.push(note);
    }

    /// Adds a note about an array. Equal notes about several arrays become one line.
    pub(super) fn say_of(&mut self, path: &str, note: String) {
        match self.about.iter_mut().find(|(known, _)| *known == note) {
            Some((_, paths)) => paths.push(path.to_owned()),
            None => self.about.push((note, vec![path.to_owned()])),
        }
    }

    /// Returns the lines to print.
    pub(crate) fn lines(&self) -> impl Iterator<Item = String> {
        let about = self.about.iter().map(|(note, paths)| match &paths[..] {
            [first, _, ..] => format!("array {first:?} and {} more: {note}", paths.len() - 1),
            paths => format!("array {:?}: {note}", paths.first().map_or("", String::as_str)),
        });
        self.lines.iter().cloned().chain(about)
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
