//! The marks of puts: random numbers in the user metadata of objects, which tell later what happened to a put.
//!
//! An object has the mark of its own put, and those of the puts before it that were replaced one after the other, each on the
//! condition that it was still there. So a put is found after other writers have replaced it, and if another put took the
//! place that it should have taken, it was not applied.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::Arc;

use object_store::{Attribute, Attributes};
use zarr_traits::Version;

/// The name in the user metadata of an object. Azure allows only letters and digits.
const NAME: &str = "zarrput";

/// The largest number of marks of an object. They take 17 bytes each, and S3 allows 2 KB of user metadata.
const MOST: usize = 64;

/// The number of hexadecimal digits of a mark.
const DIGITS: usize = 16;

/// The mark of no object: before the put that creates one.
const ABSENT: &str = "0000000000000000";

/// The marks of an object, or of a put, with a `-` between them: its own, then those before it, the latest first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Marks(String);

/// The outcome of a put, as the marks of its object show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// The object has the value of the put.
    Stored,
    /// The put was applied, and others have replaced it.
    Replaced,
    /// Another put has replaced the value that this one should have replaced.
    NotApplied,
    Unknown,
}

impl Marks {
    /// Returns marks for a put that replaces anything.
    pub(crate) fn new() -> Self {
        // A new hasher has a random key.
        Self(format!("{:016x}", RandomState::new().hash_one(0)))
    }

    /// Returns marks for a put that creates an object.
    pub(crate) fn first() -> Self {
        Self(format!("{}-{ABSENT}", Self::new().0))
    }

    /// Returns marks for a put that replaces `version` and no other one.
    pub(crate) fn after(version: &Version) -> Self {
        match version.pin::<Self>() {
            Some(before) => {
                Self(Self::new().iter().chain(before.iter()).take(MOST).collect::<Vec<_>>().join("-"))
            }
            None => Self::new(),
        }
    }

    /// Returns the marks of an object. They may have been written by anybody.
    pub(crate) fn of(attributes: &Attributes) -> Self {
        let text = attributes.get(&Attribute::Metadata(NAME.into())).map_or("", |text| text.as_ref());
        let is_mark = |mark: &str| mark.len() == DIGITS && mark.bytes().all(|c| c.is_ascii_hexdigit());
        let is_valid = text.len() < MOST * (DIGITS + 1) && text.split('-').all(is_mark);
        Self(if is_valid { text.to_owned() } else { String::new() })
    }

    pub(crate) fn attributes(&self) -> Attributes {
        Attributes::from_iter([(Attribute::Metadata(NAME.into()), self.0.clone())])
    }

    fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.split('-')
    }

    /// Returns the version with these marks, for the put that replaces it.
    pub(crate) fn on(self, version: Version) -> Version {
        if self.0.is_empty() { version } else { version.with_pin(Arc::new(self)) }
    }

    /// Returns what these marks of an object tell about a put with the marks `put`.
    pub(crate) fn fate(&self, put: &Self) -> Fate {
        let place =
            |at: usize| put.iter().nth(at).and_then(|mark| self.iter().position(|found| found == mark));
        match (place(0), place(1)) {
            (Some(0), _) => Fate::Stored,
            (Some(_), _) => Fate::Replaced,
            (None, Some(1..)) => Fate::NotApplied,
            (None, _) => Fate::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marks(of: &str) -> Marks {
        Marks(of.chars().map(|mark| mark.to_string().repeat(DIGITS)).collect::<Vec<_>>().join("-"))
    }

    /// `b` replaces `a`; the object may have been changed by `c`, `d`, ….
    #[test]
    fn marks_of_an_object_tell_what_happened_to_a_put() {
        for (object, fate) in [
            ("ba", Fate::Stored),
            ("b", Fate::Stored),
            ("cba", Fate::Replaced),
            ("dcb", Fate::Replaced),
            ("ca", Fate::NotApplied),
            ("dca", Fate::NotApplied),
            // The value from before, unless its tag is another one.
            ("a", Fate::Unknown),
            // A put without a condition.
            ("c", Fate::Unknown),
            ("dc", Fate::Unknown),
            ("", Fate::Unknown),
        ] {
            assert_eq!(marks(object).fate(&marks("ba")), fate, "{object}");
        }
        assert_eq!(marks("c").fate(&marks("b")), Fate::Unknown);
        // `b` and `c` create the object.
        assert_eq!(marks("c0").fate(&marks("b0")), Fate::NotApplied);
        assert_eq!(marks("dc0").fate(&marks("b0")), Fate::NotApplied);
        assert_eq!(marks("cb0").fate(&marks("b0")), Fate::Replaced);
    }

    #[test]
    fn no_two_puts_have_the_same_mark() {
        let marks: std::collections::HashSet<String> = (0..1000).map(|_| Marks::new().0).collect();
        assert_eq!(marks.len(), 1000);
    }

    #[test]
    fn marks_follow_each_other_up_to_a_number() {
        let mut version = Version::new(&b"v"[..]);
        let mut before: Vec<String> = Vec::new();
        for n in 1..100 {
            let marks = Marks::after(&version);
            let found: Vec<String> = marks.iter().map(str::to_owned).collect();
            assert_eq!(found.len(), n.min(MOST));
            assert_eq!(found[1..], before[..found.len() - 1]);
            assert_eq!(Marks::of(&marks.attributes()), marks);
            (version, before) = (marks.on(version), found);
        }
        let texts =
            ["", "0", "x123456789abcdef", "0123456789abcdef0", "-0123456789abcdef", "0123456789abcdef-"];
        for text in texts {
            let attributes = Attributes::from_iter([(Attribute::Metadata(NAME.into()), text)]);
            assert_eq!(Marks::of(&attributes), Marks::default(), "{text}");
        }
    }
}
