//! Values are read one selection after the other, and written as they arrive.

use std::time::Duration;

use futures_util::StreamExt;
use zarr_array::blocking::Array;
use zarr_array::{ArrayMeta, Cpu, DataType, NdVec, Storage, block_on, standard};
use zarr_conformance::instruments::Counting;
use zarr_store::MemoryStore;

use crate::common::{Odd, chains, counted, meta, numbers};

#[test]
fn selections_are_read_in_order_whatever_is_ahead() {
    let (array, counting) = counted(&[40, 6], &[4, 6], &chains()[4]);
    array.write(.., &numbers(&[40, 6])).unwrap();
    for cpu in [Cpu::inline(), Cpu::threads(1), Cpu::threads(2)] {
        for ahead in [0, 1, 3, 100] {
            let array = array.clone().with_cpu(cpu.clone());
            let before = counting.counts();
            let read: Vec<NdVec<u16>> =
                array.read_each(array.chunks(..).unwrap(), ahead).collect::<Result<_, _>>().unwrap();
            assert_eq!((counting.counts() - before).requests(), 10);
            assert!(read.iter().all(|values| values.shape() == [4, 6]));
            assert_eq!(read.into_iter().flatten().collect::<Vec<_>>(), numbers(&[40, 6]));
            let rows = (0..40).rev().map(|row| (row, 2));
            let stream = array.clone().into_async().read_each::<u16, _, _>(rows, ahead);
            let read: Vec<u16> = block_on(stream.map(|values| values.unwrap()[[] as [u64; 0]]).collect());
            assert_eq!(read, (0..40).rev().map(|row| row * 6 + 2).collect::<Vec<_>>());
        }
    }
}

#[test]
fn no_more_is_read_than_is_ahead() {
    let (array, counting) = counted(&[100, 6], &[1, 6], &chains()[4]);
    array.write(.., &numbers(&[100, 6])).unwrap();
    let mut rows = array.clone().with_cpu(Cpu::threads(2)).read_each::<u16, _, _>(0.., 3);
    let before = counting.counts();
    for row in 0..5_u16 {
        assert_eq!(rows.next().unwrap().unwrap()[[0]], row * 6);
        let read = (counting.counts() - before).requests();
        assert!((u64::from(row) + 1..=u64::from(row) + 4).contains(&read), "{read} after row {row}");
    }
    drop(rows);
    let mut beyond = array.read_each::<u16, _, _>(98.., 1);
    assert!(beyond.next().unwrap().is_ok() && beyond.next().unwrap().is_ok());
    assert!(beyond.next().unwrap().is_err() && beyond.next().unwrap().is_err());
}

#[test]
fn reads_ahead_end_although_all_workers_wait_for_them() {
    let memory = Storage::from(MemoryStore::new());
    let array = Array::create(memory.clone(), "/", meta(&[64], &[2], &chains()[4]), &standard()).unwrap();
    array.write(.., &numbers(&[64])).unwrap();
    let slow = Array::open(Odd::slow(&memory, Duration::from_millis(1), 4), "/", &standard()).unwrap();
    for array in [array, slow] {
        let pool = Cpu::threads(1);
        let outer = array.clone().with_cpu(pool.clone()).read_each::<u16, _, _>([0..64, 0..64], 2);
        for values in outer {
            assert_eq!(values.unwrap().as_slice(), numbers(&[64]));
            let inner = array
                .clone()
                .with_cpu(pool.clone())
                .read_each::<u16, _, _>((0..8).map(|i| 8 * i..8 * i + 8), 4);
            let read: Vec<_> = inner.map(|values| values.unwrap()).collect();
            assert_eq!(read.into_iter().flatten().collect::<Vec<_>>(), numbers(&[64]));
        }
    }
}

#[test]
fn a_writer_in_order_stores_each_chunk_once_whatever_the_pieces() {
    for pieces in [vec![1; 30], vec![30], vec![7, 0, 8, 15], vec![9, 9, 12], vec![4, 4, 22]] {
        let (array, counting) = counted(&[30, 6], &[8, 3], &chains()[4]);
        let (mut writer, mut row, all) = (array.block_writer(0), 0, numbers(&[30, 6]));
        let before = counting.counts();
        for n in pieces.clone() {
            let piece = all[row * 6..(row + n) * 6].to_vec();
            writer.push(NdVec::new([n as u64, 6], piece).unwrap()).unwrap();
            row += n;
        }
        assert_eq!(writer.finish().unwrap(), 30);
        assert_eq!((counting.counts() - before).requests(), 8, "{pieces:?}");
        assert_eq!(array.read::<u16>(..).unwrap().as_slice(), all, "{pieces:?}");
    }
}

#[test]
fn a_writer_in_order_begins_anywhere_and_ends_early() {
    let (array, _) = counted(&[30, 2], &[8, 2], &chains()[4]);
    let mut writer = array.block_writer(5);
    for n in 0..12_u16 {
        writer.push(NdVec::new([1, 2], vec![n, n]).unwrap()).unwrap();
    }
    assert!(writer.push(NdVec::new([2, 1], vec![0, 0]).unwrap()).is_err());
    assert!(writer.push(NdVec::new([2], vec![0, 0]).unwrap()).is_err());
    assert_eq!(writer.finish().unwrap(), 17);
    let expected: Vec<u16> = (0..30).map(|i| if (5..17).contains(&i) { i - 5 } else { 7 }).collect();
    assert_eq!(array.read::<u16>((.., 0)).unwrap().as_slice(), expected);
    let mut beyond = array.block_writer(29);
    assert!(beyond.push(NdVec::new([4, 2], vec![0_u16; 8]).unwrap()).is_err());
}

#[test]
fn an_appender_grows_the_array_by_whole_rows_of_chunks() {
    let (storage, counting) = Counting::over(&Storage::from(MemoryStore::new()));
    let meta = ArrayMeta::builder([3, 2], DataType::String).chunks([4, 2]).build().unwrap();
    let mut array = Array::create(storage.clone(), "/a", meta, &standard()).unwrap();
    array.write(.., &["x"; 6].map(String::from)).unwrap();
    let mut appender = array.appender();
    let before = counting.counts();
    for n in 0..14 {
        appender.push(NdVec::new([1, 2], vec![n.to_string(), "same".to_owned()]).unwrap()).unwrap();
    }
    assert_eq!(appender.finish().unwrap(), 17);
    let chunks = (counting.counts() - before).puts;
    assert!(chunks <= 2 * 5, "{chunks} puts for 5 rows of chunks and as many shapes");
    array = Array::open(storage, "/a", &standard()).unwrap();
    let first: Vec<String> = array.read((3.., 0)).unwrap().into_vec();
    assert_eq!((array.shape(), first), (&[17, 2][..], (0..14).map(|n| n.to_string()).collect()));
}
