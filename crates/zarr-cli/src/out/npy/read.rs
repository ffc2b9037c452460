//! Reads the header of a NumPy file.

use std::io::Read;
use std::iter::Peekable;
use std::str::Chars;

use zarr_array::meta::json::Value;

use crate::exit::Failure;

/// The first bytes of a NumPy file.
pub(crate) const MAGIC: &[u8] = b"\x93NUMPY";

/// The largest header that is read.
const MOST: u32 = 1 << 20;

/// The deepest nesting of lists that is read.
const DEPTH: usize = 32;

/// The content of a header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Header {
    /// The type, in the form of format 2: a type string, or a list of fields.
    pub(crate) dtype: String,
    pub(crate) is_fortran: bool,
    pub(crate) shape: Vec<u64>,
    /// The number of bytes before the elements.
    pub(crate) length: u64,
}

/// Reads the header, with its first bytes.
///
/// # Errors
/// If it is not the header of a NumPy file.
pub(crate) fn header(file: &mut impl Read) -> Result<Header, Failure> {
    let mut take = |length: usize| {
        let mut bytes = vec![0; length];
        file.read_exact(&mut bytes).map_err(|e| Failure::io(&e, "the header of the NumPy file"))?;
        Ok::<_, Failure>(bytes)
    };
    let front = take(8)?;
    if !front.starts_with(MAGIC) {
        return Err(Failure::usage("it is not a NumPy file"));
    }
    let (length, front) = match front[6] {
        1 => (u32::from(u16::from_le_bytes(array(&take(2)?))), 10),
        2 | 3 => (u32::from_le_bytes(array(&take(4)?)), 12),
        other => return Err(Failure::unsupported(format!("version {other} of NumPy files is unknown"))),
    };
    if length > MOST {
        return Err(Failure::unsupported(format!("a header of {length} bytes, at most {MOST} are read")));
    }
    let text = take(length as usize)?;
    // Versions before 3 are in Latin-1.
    let text = match std::str::from_utf8(&text) {
        Ok(text) => text.to_owned(),
        Err(_) => text.iter().copied().map(char::from).collect(),
    };
    let wrong =
        || Failure::usage(format!("the header of the NumPy file cannot be read: {:?}", text.trim_end()));
    let mut literal = Literal(text.chars().peekable());
    let members = literal.value(0).filter(|_| literal.is_at_end()).ok_or_else(wrong)?;
    parsed(&members, u64::from(length) + front).ok_or_else(wrong)
}

fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.try_into().unwrap_or([0; N])
}

fn parsed(members: &Python, length: u64) -> Option<Header> {
    let Python::Dict(members) = members else { return None };
    let member = |name: &str| {
        let found = members.iter().find(|(key, _)| matches!(key, Python::Text(key) if key == name));
        found.map(|(_, value)| value)
    };
    let Python::Bool(is_fortran) = member("fortran_order")? else { return None };
    let dtype = member("descr")?.dtype()?;
    let dtype = dtype.to_text().map_or_else(|_| dtype.to_compact(), std::borrow::Cow::into_owned);
    Some(Header { dtype, is_fortran: *is_fortran, shape: member("shape")?.lengths()?, length })
}

/// A literal of Python.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Python {
    Text(String),
    Number(u64),
    Bool(bool),
    /// A list or a tuple.
    List(Vec<Python>),
    Dict(Vec<(Python, Python)>),
}

impl Python {
    fn lengths(&self) -> Option<Vec<u64>> {
        let Self::List(items) = self else { return None };
        items.iter().map(|item| if let Self::Number(n) = item { Some(*n) } else { None }).collect()
    }

    /// Returns a type as JSON: a type string, or a list of fields.
    fn dtype(&self) -> Option<Value> {
        match self {
            Self::Text(text) => Some(text.as_str().into()),
            Self::List(fields) => fields.iter().map(Self::field).collect(),
            _ => None,
        }
    }

    fn field(&self) -> Option<Value> {
        let Self::List(parts) = self else { return None };
        let [Self::Text(name), data_type, shape @ ..] = &parts[..] else { return None };
        let shape = match shape {
            [] => None,
            [Self::Number(n)] => Some(vec![*n]),
            [shape] => Some(shape.lengths()?),
            _ => return None,
        };
        let both = [name.as_str().into(), data_type.dtype()?];
        Some(both.into_iter().chain(shape.map(Value::from)).collect())
    }
}

/// Reads a literal from text.
struct Literal<'a>(Peekable<Chars<'a>>);

impl Literal<'_> {
    fn skip(&mut self) -> Option<char> {
        while self.0.next_if(|c| c.is_ascii_whitespace()).is_some() {}
        self.0.peek().copied()
    }

    fn is_at_end(&mut self) -> bool {
        self.skip().is_none()
    }

    /// Takes `wanted`, if it is next.
    fn take(&mut self, wanted: char) -> bool {
        self.skip();
        self.0.next_if_eq(&wanted).is_some()
    }

    fn value(&mut self, depth: usize) -> Option<Python> {
        if depth > DEPTH {
            return None;
        }
        match self.skip()? {
            quote @ ('\'' | '"') => self.text(quote).map(Python::Text),
            '(' => self.list('(', ')', |literal| literal.value(depth + 1)).map(Python::List),
            '[' => self.list('[', ']', |literal| literal.value(depth + 1)).map(Python::List),
            '{' => self
                .list('{', '}', |literal| {
                    let key = literal.value(depth + 1)?;
                    if literal.take(':') { Some((key, literal.value(depth + 1)?)) } else { None }
                })
                .map(Python::Dict),
            _ => self.word(),
        }
    }

    fn list<T>(&mut self, open: char, close: char, item: impl Fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let mut items = Vec::new();
        if !self.take(open) {
            return None;
        }
        while !self.take(close) {
            items.push(item(self)?);
            if !self.take(',') {
                return if self.take(close) { Some(items) } else { None };
            }
        }
        Some(items)
    }

    fn text(&mut self, quote: char) -> Option<String> {
        let mut text = String::new();
        self.0.next();
        loop {
            match self.0.next()? {
                c if c == quote => return Some(text),
                '\\' => text.push(self.escaped()?),
                c => text.push(c),
            }
        }
    }

    fn escaped(&mut self) -> Option<char> {
        let digits = match self.0.next()? {
            'n' => return Some('\n'),
            't' => return Some('\t'),
            'r' => return Some('\r'),
            'x' => 2,
            'u' => 4,
            'U' => 8,
            c @ ('\\' | '\'' | '"') => return Some(c),
            _ => return None,
        };
        let code: String = self.0.by_ref().take(digits).collect();
        u32::from_str_radix(&code, 16).ok().filter(|_| code.len() == digits).and_then(char::from_u32)
    }

    fn word(&mut self) -> Option<Python> {
        let mut word = String::new();
        while let Some(c) = self.0.next_if(char::is_ascii_alphanumeric) {
            word.push(c);
        }
        match word.as_str() {
            "True" => Some(Python::Bool(true)),
            "False" => Some(Python::Bool(false)),
            // Python 2 wrote an L behind long numbers.
            number => number.strip_suffix('L').unwrap_or(number).parse().ok().map(Python::Number),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(version: u8, dict: &str) -> Vec<u8> {
        let mut bytes = [MAGIC, &[version, 0]].concat();
        match version {
            1 => bytes.extend(u16::try_from(dict.len()).unwrap().to_le_bytes()),
            _ => bytes.extend(u32::try_from(dict.len()).unwrap().to_le_bytes()),
        }
        bytes.extend(dict.bytes());
        bytes
    }

    #[test]
    fn headers_of_all_versions_are_read() {
        for (version, dict, dtype, is_fortran, shape) in [
            (1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }  \n", "<f4", false, vec![2, 3]),
            (2, "{\"shape\":(5L,),'fortran_order': True,'descr':'|S3'}", "|S3", true, vec![5]),
            (1, "{'descr': '>M8[ns]', 'fortran_order': False, 'shape': ()}", ">M8[ns]", false, vec![]),
            (
                3,
                "{'descr': [('\u{e9}', '<i2'), ('b\\'\\x41', [('c', '|u1', (2, 2))]), ('', '|V1')], 'fortran_order': False, 'shape': (1,), }",
                "[[\"\u{e9}\",\"<i2\"],[\"b'A\",[[\"c\",\"|u1\",[2,2]]]],[\"\",\"|V1\"]]",
                false,
                vec![1],
            ),
        ] {
            let bytes = file(version, dict);
            let read = header(&mut &bytes[..]).unwrap_or_else(|e| panic!("{dict}: {}", e.message()));
            assert_eq!(
                read,
                Header { dtype: dtype.to_owned(), is_fortran, shape, length: bytes.len() as u64 }
            );
        }
    }

    #[test]
    fn broken_headers_are_refused() {
        let deep = "[".repeat(100_000);
        for dict in [
            "",
            "{",
            "{'descr': '<f4'}",
            "{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': 3}",
            "{'descr': 4, 'fortran_order': False, 'shape': (3,)}",
            "{'descr': [('a',)], 'fortran_order': False, 'shape': (3,)}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} more",
            "{'descr': '\\q', 'fortran_order': False, 'shape': (1,)}",
            &deep,
        ] {
            assert!(header(&mut &file(2, dict)[..]).is_err(), "{dict:.80}");
        }
        let good = file(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}");
        for end in 0..good.len() {
            assert!(header(&mut &good[..end]).is_err(), "{end}");
        }
        assert!(header(&mut &file(9, "{}")[..]).is_err());
        assert!(header(&mut &[MAGIC, &[2, 0, 255, 255, 255, 255]].concat()[..]).is_err());
    }
}
