//! A simulated network: the cost of reads and writes over it.

mod clock;

use std::time::Duration;

use futures_timer::Delay;
use zarr_engine::Gate;
use zarr_traits::{
    BoxFuture, Storage, StoreResult,
    store::{Answer, Capabilities, Drive, Op, Store},
};

use clock::Clock;

/// The properties of a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Network {
    /// The time of a request without its bytes; half of it passes before the request reaches the store. Default: 20 ms.
    pub round_trip: Duration,
    /// The bytes per second of each request; `None`, the default, is unlimited.
    pub bandwidth: Option<u64>,
    /// The most requests in flight; further requests wait. Default: 64.
    pub in_flight: usize,
    /// The gap of merged ranges in [`Drive::Remote`]. Default: 1 MiB.
    pub merge_gap: u64,
}

impl Default for Network {
    fn default() -> Self {
        let round_trip = Duration::from_millis(20);
        Self { round_trip, bandwidth: None, in_flight: 64, merge_gap: 1 << 20 }
    }
}

impl Network {
    /// Sets the time of a request without its bytes.
    #[must_use]
    pub fn round_trip(self, round_trip: Duration) -> Self {
        Self { round_trip, ..self }
    }

    /// Sets the bytes per second of each request; `None` is unlimited.
    #[must_use]
    pub fn bandwidth(self, bandwidth: impl Into<Option<u64>>) -> Self {
        Self { bandwidth: bandwidth.into(), ..self }
    }

    /// Sets the most requests in flight.
    #[must_use]
    pub fn in_flight(self, in_flight: usize) -> Self {
        Self { in_flight, ..self }
    }

    /// Sets the gap of merged ranges.
    #[must_use]
    pub fn merge_gap(self, merge_gap: u64) -> Self {
        Self { merge_gap, ..self }
    }

    fn transfer(&self, bytes: u64) -> Duration {
        let seconds = self.bandwidth.map_or(0.0, |rate| bytes as f64 / rate.max(1) as f64);
        Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
    }
}

/// A layer that makes a store as slow as a network store, and lets the engine treat it as remote. Each call is one
/// request. Its clones share the network.
///
/// Time is real ([`over`](Self::over)) or virtual ([`virtually`](Self::virtually)). With virtual time nothing waits,
/// and the results are the same on every machine.
///
/// ```
/// # mod plain { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/plain/mod.rs")); }
/// # use plain::Plain;
/// # use zarr_conformance::instruments::{Network, Simulated};
/// # use zarr_traits::{Key, Storage};
/// # use std::time::Duration;
/// let network = Network::default().round_trip(Duration::from_secs(3600));
/// let (storage, simulated) = Simulated::virtually(&Storage::from(Plain::default()), network);
/// let key = Key::new("k")?;
/// simulated.run(async {
///     storage.put(&key, "value").await?;
///     storage.get(&key, 100).await
/// })?;
/// assert_eq!((simulated.elapsed(), simulated.round_trips()), (Duration::from_secs(7200), 2));
/// # Ok::<(), zarr_traits::StoreError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Simulated {
    storage: Storage,
    network: Network,
    /// The virtual clock; `None` for real time.
    clock: Option<Clock>,
    gate: Gate,
}

impl Simulated {
    /// Returns `storage` behind `network`, in real time, and the layer itself.
    pub fn over(storage: &Storage, network: Network) -> (Storage, Self) {
        Self::with(storage, network, None)
    }

    /// Like [`over`](Self::over), with a virtual clock that advances only when all futures wait for it. The user of the
    /// storage must be [run](Self::run) by the layer, without other threads: `Cpu::inline().use_for(&storage)` with
    /// `zarr_array::Cpu`.
    pub fn virtually(storage: &Storage, network: Network) -> (Storage, Self) {
        Self::with(storage, network, Some(Clock::default()))
    }

    fn with(storage: &Storage, network: Network, clock: Option<Clock>) -> (Storage, Self) {
        let gate = Gate::new(network.in_flight, u64::MAX);
        let layer = Self { storage: storage.clone(), network, clock, gate };
        let far = storage.overlay(layer.clone());
        (far, layer)
    }

    /// Runs a future to its end on this thread. The virtual clock advances when the future waits only for the clock.
    pub fn run<F: Future>(&self, future: F) -> F::Output {
        match &self.clock {
            Some(clock) => clock.run(future),
            None => zarr_traits::block_on(future),
        }
    }

    /// The time that has passed on the virtual clock, or 0 with real time.
    pub fn elapsed(&self) -> Duration {
        self.clock.as_ref().map_or(Duration::ZERO, Clock::now)
    }

    /// The number of round trips in the time on the virtual clock. Without a bandwidth this is the number of
    /// consecutive requests.
    pub fn round_trips(&self) -> u64 {
        let trips = self.elapsed().as_nanos() / self.network.round_trip.as_nanos().max(1);
        u64::try_from(trips).unwrap_or(u64::MAX)
    }

    async fn wait(&self, time: Duration) {
        match &self.clock {
            _ if time.is_zero() => {}
            Some(clock) => clock.wait(time).await,
            None => Delay::new(time).await,
        }
    }
}

impl Store for Simulated {
    fn capabilities(&self) -> Capabilities {
        let mut can = self.storage.capabilities();
        can.drive = Drive::remote(self.network.in_flight, self.network.merge_gap);
        // No service does this.
        can.put_ranges = false;
        can
    }

    fn call<'a>(&'a self, mut op: Op<'a>) -> BoxFuture<'a, StoreResult<Answer>> {
        Box::pin(async move {
            let _permit = self.gate.enter(0).await;
            let there = self.network.round_trip / 2;
            let sent = if let Op::Put(put) = &op { put.len() } else { 0 };
            self.wait(there.saturating_add(self.network.transfer(sent))).await;
            let answer = self.storage.call(op.reborrow()).await;
            let received = if let Op::Read(read) = &op { read.into.len() as u64 } else { 0 };
            let back = self.network.round_trip - there;
            self.wait(back.saturating_add(self.network.transfer(received))).await;
            answer
        })
    }
}
