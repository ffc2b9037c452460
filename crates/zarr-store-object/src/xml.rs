//! The elements of an answer in XML.

use std::ops::Range;

use quick_xml::Reader;
use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::{BytesRef, Event};

/// An element of a text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Element<'a> {
    /// The name without the prefix of a namespace.
    pub(crate) name: &'a str,
    /// The name of the element around it; empty for the root.
    pub(crate) parent: &'a str,
    /// The text directly inside, with references replaced.
    pub(crate) text: &'a str,
    /// Its place, with both tags.
    pub(crate) place: Range<usize>,
}

/// An element whose end was not read yet.
struct Open {
    name: String,
    text: String,
    start: usize,
}

/// Calls `each` for the elements of a text, inner ones first. What is not XML ends the text.
pub(crate) fn elements(text: &str, mut each: impl FnMut(Element<'_>)) {
    // The reader skips a byte order mark, and does not count it.
    let marked = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mark = text.len() - marked.len();
    let mut reader = Reader::from_str(marked);
    reader.config_mut().expand_empty_elements = true;
    let mut open: Vec<Open> = Vec::new();
    loop {
        let start = mark + position(&reader);
        let Ok(event) = reader.read_event() else { return };
        let more = match event {
            Event::Start(tag) => {
                let name = String::from_utf8_lossy(tag.local_name().as_ref()).into_owned();
                open.push(Open { name, text: String::new(), start });
                continue;
            }
            Event::End(_) => {
                let Some(Open { name, text, start }) = open.pop() else { return };
                let parent = open.last().map_or("", |parent| &parent.name);
                let place = start..mark + position(&reader);
                each(Element { name: &name, parent, text: &text, place });
                continue;
            }
            Event::Text(text) => text.decode().ok(),
            Event::CData(text) => text.decode().ok(),
            Event::GeneralRef(reference) => referred(&reference).map(Into::into),
            Event::Eof => return,
            _ => continue,
        };
        let Some(more) = more else { return };
        if let Some(open) = open.last_mut() {
            open.text += &more;
        }
    }
}

/// Returns the text of the first element of this name.
pub(crate) fn text_of(text: &str, name: &str) -> Option<String> {
    let mut found = None;
    elements(text, |element| {
        if element.name == name && found.is_none() {
            found = Some(element.text.to_owned());
        }
    });
    found
}

/// Returns what a reference stands for.
fn referred(reference: &BytesRef<'_>) -> Option<String> {
    match reference.resolve_char_ref() {
        Ok(Some(character)) => Some(character.into()),
        Ok(None) => resolve_xml_entity(&reference.decode().ok()?).map(str::to_owned),
        Err(_) => None,
    }
}

/// The number of bytes that were read; they are in memory.
fn position(reader: &Reader<&[u8]>) -> usize {
    usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_have_their_text_and_their_place() {
        let text = "<?xml version=\"1.0\"?><!-- <a>0</a> --><x:r a=\"<b>\"><a>1&lt;<![CDATA[<b>&]]>&#x2e;</a>\n<b/></x:r>";
        let mut found = Vec::new();
        elements(text, |e| {
            found.push((e.parent.to_owned(), e.name.to_owned(), e.text.to_owned(), text[e.place].to_owned()));
        });
        let [a, b] = ["<a>1&lt;<![CDATA[<b>&]]>&#x2e;</a>", "<b/>"];
        let root = &text[text.find("<x:r").unwrap()..];
        let expected = [("r", "a", "1<<b>&.", a), ("r", "b", "", b), ("", "r", "\n", root)];
        let expected =
            expected.map(|(p, n, t, all)| (p.to_owned(), n.to_owned(), t.to_owned(), all.to_owned()));
        assert_eq!(found, expected);
        assert_eq!(text_of(text, "a").as_deref(), Some("1<<b>&."));
        assert_eq!(text_of(text, "c"), None);
    }

    #[test]
    fn what_is_not_xml_ends_the_text() {
        for text in
            ["", "a", "<", "<a>", "<a>&unknown;</a><b>", "<a></b>", "</a>", "<a", "<a>&#xFFFFFFFF;</a>"]
        {
            elements(text, |element| panic!("{text}: {element:?}"));
        }
        assert_eq!(text_of("<r><a>1</a><b></c></r>", "a").as_deref(), Some("1"));
    }
}
