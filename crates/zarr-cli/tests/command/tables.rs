//! Elements as tables and pictures.

use serde_json::json;

use crate::harness::{Done, Folder, array, le, with, zarr_in};

fn run(folder: &Folder, line: &str) -> Done {
    zarr_in(folder.path(), line.split(' '))
}

/// Makes `h.zarr/a`, 2 × 3 numbers from 1 to 6 in chunks of 2 × 2, with one name of a dimension, and `h.zarr/r`, a struct.
fn store(folder: &Folder) {
    folder.group("h.zarr");
    let codecs = json!([{ "name": "bytes", "configuration": { "endian": "little" } }]);
    let names = json!({ "dimension_names": ["y", null] });
    folder.node("h.zarr/a", &with(array(&[2, 3], "int32", &[2, 2], &json!(0), &codecs), &names));
    folder.write("h.zarr/a/c/0/0", le(&[1, 2, 4, 5]));
    folder.write("h.zarr/a/c/0/1", le(&[3, 0, 6, 0]));
    run(folder, "create h.zarr/r --shape 2 --dtype [[\"dim_0\",\"<i2\"],[\"t\",\"<M8[s]\"]] --chunks 2")
        .exits(0);
    folder.write(
        "h.zarr/t.raw",
        [&[1, 0][..], &i64::MIN.to_le_bytes(), &[2, 0], &5_i64.to_le_bytes()].concat(),
    );
    run(folder, "write h.zarr/r --from h.zarr/t.raw").ok();
}

#[cfg(feature = "arrow")]
mod arrow {
    use std::io::Cursor;

    use arrow_ipc::reader::{FileReader, StreamReader};
    use zarr_arrow::arrow_60::arrow_array::Array;
    use zarr_arrow::arrow_60::arrow_array::RecordBatch;
    use zarr_arrow::arrow_60::arrow_array::cast::AsArray;
    use zarr_arrow::arrow_60::arrow_array::types::{Int16Type, Int32Type, TimestampSecondType, UInt64Type};

    use super::*;

    fn names(batch: &RecordBatch) -> Vec<String> {
        batch.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    fn check(batch: &RecordBatch) {
        assert_eq!(names(batch), ["y", "dim_1", "a"]);
        let position = |column: usize| batch.column(column).as_primitive::<UInt64Type>().values().to_vec();
        assert_eq!([position(0), position(1)], [[0, 0, 0, 1, 1, 1], [2, 1, 0, 2, 1, 0]]);
        assert_eq!(batch.column(2).as_primitive::<Int32Type>().values(), &[3, 2, 1, 6, 5, 4]);
    }

    #[test]
    fn a_row_has_the_position_and_the_element() {
        let folder = Folder::new();
        store(&folder);
        run(&folder, "cat h.zarr/a -s :,::-1 -o out.arrow").ok();
        let file = std::fs::File::open(folder.join("out.arrow")).unwrap();
        let batches: Vec<_> = FileReader::try_new(file, None).unwrap().map(Result::unwrap).collect();
        check(&batches[0]);
        let stream = run(&folder, "cat h.zarr/a -s :,::-1 -f arrows").ok().out;
        let batches: Vec<_> =
            StreamReader::try_new(Cursor::new(stream), None).unwrap().map(Result::unwrap).collect();
        check(&batches[0]);
    }

    #[test]
    fn a_struct_has_a_column_for_each_field_and_no_element_no_row() {
        let folder = Folder::new();
        store(&folder);
        let read = |line: &str| {
            let out = run(&folder, line).ok().out;
            StreamReader::try_new(Cursor::new(out), None).unwrap().next().unwrap().unwrap()
        };
        let batch = read("cat h.zarr/r -f arrows");
        assert_eq!(names(&batch), ["dim_0", "dim_0_", "t"]);
        assert_eq!(batch.column(1).as_primitive::<Int16Type>().values(), &[1, 2]);
        let times = batch.column(2).as_primitive::<TimestampSecondType>();
        assert_eq!((times.is_null(0), times.value(1)), (true, 5));
        // An index drops its column.
        assert_eq!(names(&read("cat h.zarr/a -s 0 -f arrows")), ["dim_1", "a"]);
        let empty = read("cat h.zarr/a -s 2: -f arrows");
        assert_eq!((names(&empty).len(), empty.num_rows()), (3, 0));
        run(&folder, "create c.zarr --shape 2 --dtype c8").ok();
        run(&folder, "cat c.zarr -f arrows").fails(6, &["complex64"]);
    }

    #[test]
    fn decoded_elements_are_null_where_they_are_missing() {
        use zarr_arrow::arrow_60::arrow_array::types::Float64Type;

        let folder = Folder::new();
        let attrs = r#"{"scale_factor":0.5,"_FillValue":-1}"#;
        run(&folder, &format!("create p.zarr --shape 3 --dtype i2 --attrs {attrs}")).ok();
        run(&folder, "write p.zarr -s 0 --value 1.5").ok();
        run(&folder, "write p.zarr -s 1 --value missing").ok();
        let stream = run(&folder, "cat p.zarr -s ::-1 -f arrows --decode").ok().out;
        let mut batches = StreamReader::try_new(Cursor::new(stream), None).unwrap();
        let batch = batches.next().unwrap().unwrap();
        let column = batch.column(1).as_primitive::<Float64Type>();
        assert_eq!(column.iter().collect::<Vec<_>>(), [Some(0.0), None, Some(1.5)]);
        let stream = run(&folder, "cat p.zarr -f arrows").ok().out;
        let batch = StreamReader::try_new(Cursor::new(stream), None).unwrap().next().unwrap().unwrap();
        assert_eq!(batch.column(1).as_primitive::<Int16Type>().values(), &[3, -1, 0]);
    }

    #[cfg(feature = "parquet")]
    #[test]
    fn parquet_has_the_same_rows() {
        use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
        let folder = Folder::new();
        store(&folder);
        run(&folder, "cat h.zarr/a -s :,::-1 -o out.parquet").ok();
        let file = std::fs::File::open(folder.join("out.parquet")).unwrap();
        let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
        let batches: Vec<_> = reader.map(Result::unwrap).collect();
        check(&batches[0]);
        // A failure leaves no file.
        folder.write("h.zarr/a/c/0/1", "bad");
        run(&folder, "cat h.zarr/a -o bad.parquet").fails(5, &["\"/a\"", "chunk [0, 1]"]);
        assert!(
            !folder.join("bad.parquet").exists()
                && folder.files("").iter().all(|file| !file.contains("partial"))
        );
    }
}

#[cfg(feature = "image")]
mod picture {
    use std::io::Read;

    use super::*;

    const GRAY: u8 = 0;
    const RGB: u8 = 2;
    const GRAY_ALPHA: u8 = 4;
    const RGBA: u8 = 6;

    /// Returns the width, the colour type and the pixels of a picture.
    fn read(bytes: &[u8]) -> (u32, u8, Vec<u8>) {
        let (mut rest, mut header, mut data) =
            (bytes.strip_prefix(b"\x89PNG\r\n\x1a\n").unwrap(), vec![], vec![]);
        while let Some((length, behind)) = rest.split_first_chunk::<4>() {
            let (chunk, behind) = behind.split_at(4 + usize::try_from(u32::from_be_bytes(*length)).unwrap());
            let (checksum, behind) = behind.split_at(4);
            assert_eq!(crc32fast::hash(chunk).to_be_bytes(), checksum);
            match chunk.split_at(4) {
                (b"IHDR", bytes) => header = bytes.to_vec(),
                (b"IDAT", bytes) => data.extend_from_slice(bytes),
                (name, _) => assert_eq!((name, behind.len()), (&b"IEND"[..], 0)),
            }
            rest = behind;
        }
        let width = u32::from_be_bytes(header[..4].try_into().unwrap());
        let mut rows = Vec::new();
        flate2::read::ZlibDecoder::new(&data[..]).read_to_end(&mut rows).unwrap();
        let height = u32::from_be_bytes(header[4..8].try_into().unwrap());
        let row = rows.len() / usize::try_from(height).unwrap();
        let pixels = rows.chunks(row).flat_map(|row| {
            assert_eq!(row[0], 0);
            row[1..].to_vec()
        });
        (width, header[9], pixels.collect())
    }

    #[test]
    fn a_plane_becomes_a_picture() {
        let folder = Folder::new();
        store(&folder);
        let gray = |line: &str| read(&run(&folder, line).ok().out);
        let wanted = (3, GRAY, vec![0, 51, 102, 153, 204, 255]);
        assert_eq!(gray("cat h.zarr/a -f png"), wanted);
        assert_eq!(gray("cat h.zarr/a -f png --range 2,4").2, [0, 0, 128, 255, 255, 255]);
        let (_, kind, pixels) = gray("cat h.zarr/a -f png --colormap viridis -s ::-1");
        assert_eq!((kind, pixels.len(), &pixels[6..12]), (RGB, 18, &[253, 231, 37, 68, 1, 84][..]));
        run(&folder, "cat h.zarr/a -o out.png").ok();
        assert_eq!(read(&std::fs::read(folder.join("out.png")).unwrap()), wanted);
        folder.write("nan.csv", "0,nan\n1,inf\n");
        run(&folder, "create f.zarr --from nan.csv").ok();
        let (_, kind, pixels) = gray("cat f.zarr -f png");
        assert_eq!((kind, &pixels[..]), (GRAY_ALPHA, &[0, 255, 0, 0, 255, 255, 255, 255][..]));
        assert_eq!(gray("cat f.zarr -f png --colormap turbo").1, RGBA);
        // Stored 2 and 4 mean 0 and 1, and 9 is missing.
        folder.group("d.zarr");
        let packed = json!({
            "dimension_names": ["y", "x"],
            "attributes": { "_FillValue": 9, "scale_factor": 0.5, "add_offset": -1.0 },
        });
        let codecs = json!([{ "name": "bytes", "configuration": { "endian": "little" } }]);
        folder.node("d.zarr/p", &with(array(&[1, 3], "int32", &[1, 3], &json!(0), &codecs), &packed));
        folder.write("d.zarr/p/c/0/0", le(&[2, 9, 4]));
        let decoded = gray("cat d.zarr/p -f png");
        assert_eq!(decoded, (3, GRAY_ALPHA, vec![0, 255, 0, 0, 255, 255]));
        assert_eq!(gray("cat d.zarr/p -f png --range 0,2").2, [0, 255, 0, 0, 128, 255]);
        run(&folder, "cat h.zarr/a -f png -s 0").fails(2, &["two dimensions", "has 1"]);
        run(&folder, "cat h.zarr/a -f png -s 2:").fails(2, &["0 × 3"]);
        run(&folder, "cat h.zarr/r -f png").fails(6, &["no colour"]);
        run(&folder, "cat h.zarr/a -f png --range 4,2").exits(2).says(&["MIN below MAX"]);
    }
}
