//! Parquet files that are written byte by byte, so that anything in them can be wrong.

/// The fields of a structure in the compact protocol of Thrift.
#[derive(Debug, Clone, Default)]
pub struct Fields {
    bytes: Vec<u8>,
    last: i64,
}

pub fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    bytes.push(value.to_le_bytes()[0]);
    bytes
}

pub fn zigzag(value: i64) -> Vec<u8> {
    varint(((value << 1) ^ (value >> 63)).cast_unsigned())
}

fn binary(bytes: &[u8]) -> Vec<u8> {
    [varint(bytes.len() as u64), bytes.to_vec()].concat()
}

impl Fields {
    fn field(mut self, number: i64, kind: u8, value: &[u8]) -> Self {
        self.bytes.push(u8::try_from(number - self.last).unwrap() << 4 | kind);
        self.bytes.extend_from_slice(value);
        self.last = number;
        self
    }

    pub fn integer(self, number: i64, value: i64) -> Self {
        self.field(number, 6, &zigzag(value))
    }

    pub fn text(self, number: i64, value: &str) -> Self {
        self.field(number, 8, &binary(value.as_bytes()))
    }

    pub fn structure(self, number: i64, fields: Self) -> Self {
        self.field(number, 12, &fields.end())
    }

    pub fn list(self, number: i64, kind: u8, elements: &[Vec<u8>]) -> Self {
        let head = [vec![0xf0 | kind], varint(elements.len() as u64)].concat();
        self.field(number, 9, &[head, elements.concat()].concat())
    }

    pub fn end(mut self) -> Vec<u8> {
        self.bytes.push(0);
        self.bytes
    }
}

/// A page as it is stored, and what its header says.
#[derive(Debug, Clone)]
pub struct Page {
    pub kind: i64,
    pub encoding: i64,
    pub values: i64,
    pub inflated: i64,
    pub stored: i64,
    pub body: Vec<u8>,
}

impl Page {
    pub fn new(kind: i64, encoding: i64, values: usize, body: Vec<u8>) -> Self {
        let len = i64::try_from(body.len()).unwrap();
        Self { kind, encoding, values: i64::try_from(values).unwrap(), inflated: len, stored: len, body }
    }

    fn bytes(&self) -> Vec<u8> {
        let inner = Fields::default().integer(1, self.values);
        let (number, inner) = match self.kind {
            2 => (7, inner.integer(2, self.encoding)),
            3 => (8, inner.integer(2, 0).integer(3, self.values).integer(4, self.encoding)),
            _ => (5, inner.integer(2, self.encoding).integer(3, 3).integer(4, 3)),
        };
        let header =
            Fields::default().integer(1, self.kind).integer(2, self.inflated).integer(3, self.stored);
        [header.structure(number, inner).end(), self.body.clone()].concat()
    }
}

#[derive(Debug, Clone)]
pub struct Column {
    pub name: &'static str,
    pub kind: i64,
    pub repetition: i64,
    pub codec: i64,
    pub values: i64,
    pub pages: Vec<Page>,
}

/// Returns the plain values of a column of bytes.
pub fn plain(values: &[&[u8]]) -> Vec<u8> {
    let each = |value: &&[u8]| [&u32::try_from(value.len()).unwrap().to_le_bytes()[..], value].concat();
    values.iter().flat_map(each).collect()
}

/// Puts levels before the values of a page.
pub fn leveled(there: &[bool], values: &[u8]) -> Vec<u8> {
    let runs = there.chunk_by(|a, b| a == b);
    let runs: Vec<u8> =
        runs.flat_map(|run| [varint(run.len() as u64 * 2), vec![u8::from(run[0])]].concat()).collect();
    [&u32::try_from(runs.len()).unwrap().to_le_bytes()[..], &runs, values].concat()
}

pub fn texts(name: &'static str, values: &[Option<&[u8]>]) -> Column {
    let there: Vec<bool> = values.iter().map(Option::is_some).collect();
    let body = leveled(&there, &plain(&values.iter().flatten().copied().collect::<Vec<_>>()));
    let values = i64::try_from(values.len()).unwrap();
    Column { name, kind: 6, repetition: 1, codec: 0, values, pages: vec![Page::new(0, 0, there.len(), body)] }
}

pub fn integers(name: &'static str, values: &[i64]) -> Column {
    let body = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let pages = vec![Page::new(0, 0, values.len(), body)];
    let values = i64::try_from(values.len()).unwrap();
    Column { name, kind: 2, repetition: 0, codec: 0, values, pages }
}

/// Returns a file with row groups, which the footer says have `rows` together.
pub fn file(groups: &[(i64, Vec<Column>)], rows: i64) -> Vec<u8> {
    let mut bytes = b"PAR1".to_vec();
    let mut written = Vec::new();
    for (rows, columns) in groups {
        let mut chunks = Vec::new();
        for column in columns {
            let start = i64::try_from(bytes.len()).unwrap();
            bytes.extend(column.pages.iter().flat_map(Page::bytes));
            let len = i64::try_from(bytes.len()).unwrap() - start;
            let meta = Fields::default()
                .integer(1, column.kind)
                .list(3, 8, &[binary(column.name.as_bytes())])
                .integer(4, column.codec)
                .integer(5, column.values)
                .integer(7, len)
                .integer(9, start);
            chunks.push(Fields::default().integer(2, 0).structure(3, meta).end());
        }
        written.push(Fields::default().list(1, 12, &chunks).integer(3, *rows).end());
    }
    let columns = groups.first().map(|(_, columns)| &columns[..]).unwrap_or_default();
    let mut schema =
        vec![Fields::default().text(4, "schema").integer(5, i64::try_from(columns.len()).unwrap()).end()];
    for column in columns {
        schema.push(
            Fields::default()
                .integer(1, column.kind)
                .integer(3, column.repetition)
                .text(4, column.name)
                .end(),
        );
    }
    let footer =
        Fields::default().integer(1, 2).list(2, 12, &schema).integer(3, rows).list(4, 12, &written).end();
    bytes.extend_from_slice(&footer);
    bytes.extend_from_slice(&u32::try_from(footer.len()).unwrap().to_le_bytes());
    bytes.extend_from_slice(b"PAR1");
    bytes
}

/// A path, an offset, a size, and bytes in the file.
pub type Row<'a> = (Option<&'a str>, i64, i64, Option<&'a [u8]>);

/// Returns the columns of references.
pub fn columns(rows: &[Row<'_>]) -> Vec<Column> {
    vec![
        texts("path", &rows.iter().map(|row| row.0.map(str::as_bytes)).collect::<Vec<_>>()),
        integers("offset", &rows.iter().map(|row| row.1).collect::<Vec<_>>()),
        integers("size", &rows.iter().map(|row| row.2).collect::<Vec<_>>()),
        texts("raw", &rows.iter().map(|row| row.3).collect::<Vec<_>>()),
    ]
}

/// Returns a file of references in one row group.
pub fn references(rows: &[Row<'_>]) -> Vec<u8> {
    let len = i64::try_from(rows.len()).unwrap();
    file(&[(len, columns(rows))], len)
}
