//! What the user should know of a copy before it is made.

/// Notes, each of which may be about many arrays.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    lines: Vec<String>,
    /// What is said of arrays, and of which.
    about: Vec<(String, Vec<String>)>,
}

impl Notes {
    /// Says something once.
    pub(super) fn say(&mut self, note: String) {
        self.lines.push(note);
    }

    /// Says something of an array. What is said of several is one line.
    pub(super) fn say_of(&mut self, path: &str, note: String) {
        match self.about.iter_mut().find(|(known, _)| *known == note) {
            Some((_, paths)) => paths.push(path.to_owned()),
            None => self.about.push((note, vec![path.to_owned()])),
        }
    }

    /// The lines to print.
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
    fn what_is_said_of_several_arrays_is_one_line() {
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
