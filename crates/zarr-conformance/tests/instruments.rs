//! Tests of the instruments, over the simplest store.

mod count {
    use zarr_traits::{
        ByteRange, Key, Prefix, block_on,
        store::{Outcome, PutMode, ReadVersion},
    };

    use crate::plain::Plain;
    use zarr_conformance::instruments::*;
    use zarr_traits::Storage;

    #[test]
    fn every_kind_of_operation_has_its_counter() {
        let (storage, counting) = Counting::over(&Storage::from(Plain::default()));
        let (key, root) = (Key::new("k").unwrap(), Prefix::root());
        let spans = [ByteRange::Span { offset: 0, len: 2 }; 3];
        block_on(async {
            let parts = ["val".into(), "ue".into()];
            assert_ne!(storage.put_if(&key, &parts, PutMode::Create).await?, Outcome::Conflict);
            assert_eq!(storage.put_if(&key, &parts, PutMode::Create).await?, Outcome::Conflict);
            storage.get_ranges(&key, &spans, ReadVersion::Any, 6).await?;
            storage.get(&key, 5).await?;
            storage.head(&key).await?;
            storage.list(&root, None).await?;
            storage.list_dir(&root).await?;
            assert_eq!(storage.delete_if(&key, None).await?, Outcome::Done(None));
            storage.delete_prefix(&root).await?;
            storage.sync().await
        })
        .unwrap();
        let mut one_each = RequestCounts::default();
        one_each.reads = 2;
        one_each.heads = 1;
        one_each.lists = 1;
        one_each.list_dirs = 1;
        one_each.puts = 2;
        one_each.deletes = 1;
        one_each.delete_prefixes = 1;
        one_each.syncs = 1;
        one_each.ranges = 4;
        one_each.bytes_read = 6 + 5;
        one_each.bytes_written = 5;
        assert_eq!(counting.counts(), one_each);
        assert_eq!(one_each.requests(), 10);
        assert_eq!(counting.counts() - one_each, RequestCounts::default());
    }
}

mod fault {
    use std::task::{Context, Waker};
    use std::time::Duration;

    use zarr_traits::{Key, StoreErrorKind};

    use zarr_traits::{ByteRange, block_on, store::ReadVersion};

    use crate::plain::Plain;
    use zarr_conformance::instruments::*;
    use zarr_traits::Storage;

    const UNCERTAIN: StoreErrorKind = StoreErrorKind::Uncertain;

    #[test]
    fn each_fault_has_its_effect() {
        let key = Key::new("k").unwrap();
        // A put of "new" over "old": whether it succeeds, and what is stored.
        let table = [
            (Fault::ErrorBefore(UNCERTAIN), Some(false), "old"),
            (Fault::System(28), Some(false), "old"),
            (Fault::ErrorAfter(UNCERTAIN), Some(false), "new"),
            (Fault::Delay(Duration::from_millis(1)), Some(true), "new"),
            (Fault::HangBefore, None, "old"),
            (Fault::HangAfter, None, "new"),
        ];
        for (fault, ends, stored) in table {
            let memory = Storage::from(Plain::default());
            let (storage, layer) = Faulty::nth(&memory, 2, fault);
            block_on(storage.put(&key, "old")).unwrap();
            match ends {
                Some(well) => assert_eq!(block_on(storage.put(&key, "new")).is_ok(), well, "{fault:?}"),
                None => {
                    let mut put = Box::pin(storage.put(&key, "new"));
                    assert!(put.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
                }
            }
            assert_eq!(block_on(memory.get(&key, 100)).unwrap().unwrap(), stored, "{fault:?}");
            assert_eq!((layer.calls(), layer.faults()), (2, 1));
        }
    }

    #[test]
    fn a_stale_read_is_of_the_version_before() {
        let (storage, _) =
            Faulty::over(&Storage::from(Plain::default()), |_, op| (!op.writes()).then_some(Fault::Stale));
        let (key, all) = (Key::new("k").unwrap(), [ByteRange::All]);
        let reported = || block_on(storage.get_ranges(&key, &all, ReadVersion::Report, 100)).unwrap();
        block_on(storage.put(&key, "one")).unwrap();
        let first = reported().unwrap();
        assert_eq!(first.bytes, ["one"], "the value before is not known");
        block_on(storage.put(&key, "three")).unwrap();
        let stale = reported().unwrap();
        assert_eq!((&stale.bytes, &stale.version), (&first.bytes, &first.version));
        assert_eq!(block_on(storage.size(&key)).unwrap(), Some(3));
        block_on(storage.delete(&key)).unwrap();
        assert_eq!(reported().unwrap().bytes, ["three"]);
        block_on(storage.put(&key, "four")).unwrap();
        assert!(reported().is_none());
    }

    #[test]
    fn short_reads_and_random_faults_are_reproducible() {
        let run = |seed| {
            let faults = [Fault::Short, Fault::ErrorBefore(UNCERTAIN)];
            let (storage, _) = Faulty::random(&Storage::from(Plain::default()), seed, 0.5, &faults);
            let key = Key::new("k").unwrap();
            while block_on(storage.put(&key, "12345")).is_err() {}
            let read = |_| block_on(storage.get(&key, 100)).ok().map(|value| value.unwrap().len());
            Vec::from_iter((0..100).map(read))
        };
        let first = run(7);
        assert_eq!(first, run(7));
        assert_ne!(first, run(8));
        for outcome in [None, Some(4), Some(5)] {
            assert!(first.contains(&outcome), "{outcome:?}");
        }
    }
}

mod latency {
    use std::future::poll_fn;
    use std::task::Poll;
    use std::time::Duration;

    use zarr_traits::{Bytes, Key};

    use crate::plain::Plain;
    use zarr_conformance::instruments::*;
    use zarr_traits::Storage;

    /// Reads the same object several times at once.
    async fn together(storage: &Storage, key: &Key, times: usize) -> Vec<Option<Bytes>> {
        let mut reads = Vec::from_iter((0..times).map(|_| (Box::pin(storage.get(key, 10)), None)));
        poll_fn(|context| {
            for (read, answer) in reads.iter_mut().filter(|(_, answer)| answer.is_none()) {
                if let Poll::Ready(value) = read.as_mut().poll(context) {
                    *answer = Some(value.unwrap());
                }
            }
            if reads.iter().all(|(_, answer)| answer.is_some()) { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
        reads.into_iter().map(|(_, answer)| answer.flatten()).collect()
    }

    #[test]
    fn requests_run_together_up_to_the_limit() {
        let key = Key::new("k").unwrap();
        for (times, in_flight, waves) in [(1, 8, 1), (8, 8, 1), (9, 8, 2), (10, 1, 10), (64, 16, 4)] {
            let memory = Storage::from(Plain::default());
            zarr_traits::block_on(memory.put(&key, "value")).unwrap();
            let network = Network::default().in_flight(in_flight);
            let (storage, simulated) = Simulated::virtually(&memory, network);
            assert_eq!(zarr_engine::gate(&storage).width(), in_flight);
            let answers = simulated.run(together(&storage, &key, times));
            assert!(answers.iter().all(|answer| answer.as_deref() == Some(b"value")));
            assert_eq!(simulated.round_trips(), waves);
        }
    }

    #[test]
    fn bytes_take_time_in_both_directions() {
        let network = Network::default().bandwidth(1000);
        let (storage, simulated) = Simulated::virtually(&Storage::from(Plain::default()), network);
        let key = Key::new("k").unwrap();
        simulated.run(storage.put(&key, vec![0; 500])).unwrap();
        assert_eq!(simulated.elapsed(), Duration::from_millis(520));
        simulated.run(storage.get(&key, 500)).unwrap();
        assert_eq!(simulated.elapsed(), Duration::from_millis(1040));
    }
}
