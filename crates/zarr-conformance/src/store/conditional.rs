//! Rule 11: conditional puts and deletes.

use std::sync::Barrier;
use std::thread;

use zarr_traits::{
    StoreErrorKind,
    store::{Outcome, PutMode},
};

use super::subject::{Subject, fails};
use crate::report::{Check, Fault, ensure};

pub(super) fn conflict(store: &Subject) -> Check {
    create(store)?;
    if_unchanged(store)?;
    delete(store)?;
    let can = store.storage.capabilities();
    if can.put_create {
        one_creator(store)?;
    }
    if can.put_if {
        no_lost_update(store)?;
    }
    Ok(())
}

fn create(store: &Subject) -> Check {
    let name = "a/created";
    if !store.storage.capabilities().put_create {
        fails(
            store.put_if(name, "v", PutMode::Create),
            StoreErrorKind::Unsupported,
            "Create on a store without it",
        )?;
        return store.holds(name, None);
    }
    done(store.put_if(name, "first", PutMode::Create)?, "Create for an absent key")?;
    refused(store.put_if(name, "second", PutMode::Create)?, "Create for an existing key")?;
    store.holds(name, Some(b"first"))?;
    let _ = store.delete(name, None)?;
    done(store.put_if(name, "third", PutMode::Create)?, "Create after a delete")?;
    store.holds(name, Some(b"third"))
}

fn if_unchanged(store: &Subject) -> Check {
    let name = "a/updated";
    store.put(name, "first")?;
    let Some(first) = store.version(name)? else {
        return Ok(());
    };
    if !store.storage.capabilities().put_if {
        let result = store.put_if(name, "v", PutMode::IfUnchanged(&first));
        fails(result, StoreErrorKind::Unsupported, "IfUnchanged on a store without it")?;
        return store.holds(name, Some(b"first"));
    }
    let second =
        done(store.put_if(name, "second", PutMode::IfUnchanged(&first))?, "IfUnchanged with the version")?;
    store.holds(name, Some(b"second"))?;
    let read = store.version(name)?;
    ensure!(second.is_none() || second == read, "put reported the version {second:?}, a read {read:?}");
    refused(store.put_if(name, "third", PutMode::IfUnchanged(&first))?, "IfUnchanged with an old version")?;
    store.holds(name, Some(b"second"))?;
    if let Some(second) = &second {
        done(
            store.put_if(name, "third", PutMode::IfUnchanged(second))?,
            "IfUnchanged with the version of a put",
        )?;
    }
    let _ = store.delete(name, None)?;
    refused(store.put_if(name, "fourth", PutMode::IfUnchanged(&first))?, "IfUnchanged for a deleted key")?;
    store.holds(name, None)
}

fn delete(store: &Subject) -> Check {
    let name = "a/deleted";
    store.put(name, "first")?;
    let Some(first) = store.version(name)? else {
        return Ok(());
    };
    if !store.storage.capabilities().delete_if {
        let result = store.delete(name, Some(&first));
        fails(result, StoreErrorKind::Unsupported, "a conditional delete on a store without it")?;
        return store.holds(name, Some(b"first"));
    }
    store.put(name, "second")?;
    refused(store.delete(name, Some(&first))?, "a delete of an old version")?;
    store.holds(name, Some(b"second"))?;
    let second = store.version(name)?;
    done(store.delete(name, second.as_ref())?, "a delete of the version")?;
    store.holds(name, None)
}

fn one_creator(store: &Subject) -> Check {
    for round in 0..20 {
        let name = format!("a/race/{round}");
        let start = Barrier::new(4);
        let outcomes: Vec<_> = thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|_| {
                    scope.spawn(|| {
                        start.wait();
                        store.put_if(&name, "mine", PutMode::Create)
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join()).collect()
        });
        let mut winners = 0;
        for outcome in outcomes {
            let outcome = outcome.map_err(|_| Fault("a writer panicked".to_owned()))??;
            winners += usize::from(outcome != Outcome::Conflict);
        }
        ensure!(winners == 1, "{winners} of 4 threads created the same object");
    }
    Ok(())
}

/// Four threads each add one to a number fifty times.
fn no_lost_update(store: &Subject) -> Check {
    let name = "a/number";
    store.put(name, "")?;
    let add = || -> Check {
        for _ in 0..50 {
            loop {
                let key = super::subject::key(name);
                let all = [zarr_traits::ByteRange::All];
                let read = store.ranges(name, &all, zarr_traits::store::ReadVersion::Report)?;
                let reply = read.ok_or_else(|| Fault("the number is absent".to_owned()))?;
                let version = reply.version.ok_or_else(|| Fault("no version was reported".to_owned()))?;
                let parts = [reply.bytes[0].clone(), "1".into()];
                let put = store.storage.put_if(&key, &parts, PutMode::IfUnchanged(&version));
                if zarr_traits::block_on(put)? != Outcome::Conflict {
                    break;
                }
            }
        }
        Ok(())
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(add)).collect();
        threads.into_iter().try_for_each(|t| t.join().map_err(|_| Fault("a writer panicked".to_owned()))?)
    })?;
    let sum = store.value(name)?.map_or(0, |value| value.len());
    ensure!(sum == 200, "{} of 200 updates were lost", 200_usize.saturating_sub(sum));
    Ok(())
}

fn done(outcome: Outcome, what: &str) -> Result<Option<zarr_traits::Version>, Fault> {
    match outcome {
        Outcome::Done(version) => Ok(version),
        other => Err(Fault(format!("{what} gave {other:?}"))),
    }
}

fn refused(outcome: Outcome, what: &str) -> Check {
    ensure!(outcome == Outcome::Conflict, "{what} gave {outcome:?}");
    Ok(())
}
