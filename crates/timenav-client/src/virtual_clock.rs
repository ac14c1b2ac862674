use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use self::clock_parameters::ClockParameters;
use self::clock_state::ClockState;
use self::confirmer::{Applied, confirm_all};
use self::follower::{ClockChange, Follower, Reading, StalenessBounds};
use crate::client::{Client, pause};
use crate::error::{ClockUnavailable, Error};
use crate::instant::Instant;
use crate::operations::clock::Clock;
use crate::transport::host::{jitter, monotonic_micros, process_headers};
use crate::transport::response::EventStream;
use crate::transport::retry::delay;

pub(crate) mod clock_state;
pub(crate) mod confirmer;
pub(crate) mod follower;
pub(crate) mod clock_parameters;
pub(crate) mod watch_messages;

/// The maximum wait for the initial state of the clock.
const OPEN_TIMEOUT: Duration = Duration::from_secs(10);
/// The response timeout when a stream is reopened.
pub(crate) const RESPONSE_TIMEOUT: Duration = Duration::from_secs(10);

/// State shared by readers, waiting tasks, and the task that reads the stream.
#[derive(Debug)]
struct Shared {
    clock_parameters: ClockParameters,
    follower: Mutex<Follower>,
    updates: watch::Sender<u64>,
    listeners: Mutex<Vec<mpsc::UnboundedSender<ClockChange>>>,
    failure: Mutex<Option<Error>>,
}

impl Shared {
    /// Updates the follower, and notifies waiting tasks.
    fn update<T>(&self, change: impl FnOnce(&mut Follower) -> T) -> T {
        let mut follower = self.follower.lock();
        let done = change(&mut follower);
        self.clock_parameters.set(follower.line());
        drop(follower);
        self.updates.send_modify(|count| *count = count.wrapping_add(1));
        done
    }

    /// Returns whether the state of the clock is known, or the clock has failed permanently.
    fn is_decided(&self) -> bool {
        let follower = self.follower.lock();
        follower.state().is_some() || follower.end().is_some()
    }

    fn announce(&self, change: Option<ClockChange>) {
        if let Some(change) = change {
            self.listeners.lock().retain(|listener| listener.send(change.clone()).is_ok());
        }
    }
}

/// The clock of a timeline. `now` takes no lock, request or `await`. A background task reads the stream.
///
/// Reads fail if the service has not confirmed the clock within its [`StalenessBounds`].
#[derive(Debug)]
pub struct VirtualClock {
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

impl Client {
    /// Subscribes to the clock of this client's timeline, and returns when its initial state has arrived.
    ///
    /// # Errors
    /// The service does not respond, or rejects the request.
    pub async fn virtual_clock(&self) -> Result<VirtualClock, Error> {
        self.virtual_clock_with(StalenessBounds::default()).await
    }

    /// Like [`Client::virtual_clock`], with custom bounds.
    ///
    /// # Errors
    /// The service does not respond, or rejects the request.
    pub async fn virtual_clock_with(&self, bounds: StalenessBounds) -> Result<VirtualClock, Error> {
        self.subscribe(bounds, None).await
    }

    /// Like [`Client::virtual_clock`], as a named follower: the clock confirms each change to the service once reads
    /// show it. A clock change with `followers` waits for that confirmation. `timenav followers` lists all followers.
    /// Several followers may have the same name.
    ///
    /// # Errors
    /// Like [`Client::virtual_clock`], or the name is invalid.
    pub async fn follow_clock(&self, name: &str) -> Result<VirtualClock, Error> {
        self.follow_clock_with(name, StalenessBounds::default()).await
    }

    /// Like [`Client::follow_clock`], with custom bounds.
    ///
    /// # Errors
    /// Like [`Client::follow_clock`].
    pub async fn follow_clock_with(&self, name: &str, bounds: StalenessBounds) -> Result<VirtualClock, Error> {
        self.subscribe(bounds, Some(name.to_owned())).await
    }

    async fn subscribe(&self, bounds: StalenessBounds, name: Option<String>) -> Result<VirtualClock, Error> {
        let shared = Arc::new(Shared {
            clock_parameters: ClockParameters::new(),
            follower: Mutex::new(Follower::new(bounds)),
            updates: watch::Sender::new(0),
            listeners: Mutex::default(),
            failure: Mutex::default(),
        });
        let client = self.without_retries();
        let listening = Arc::clone(&shared);
        let task = tokio::spawn(async move {
            let (applied, newest) = watch::channel(None);
            let stream_reader = StreamReader { client: &client, shared: &listening, bounds, name, applied };
            tokio::select! {
                () = stream_reader.run() => {}
                () = confirm_all(&client, newest) => {}
            }
        });
        let clock = VirtualClock { shared, task };
        let mut updates = clock.shared.updates.subscribe();
        let known = async {
            loop {
                updates.borrow_and_update();
                if clock.shared.is_decided() || updates.changed().await.is_err() {
                    return;
                }
            }
        };
        let _ = timeout(OPEN_TIMEOUT, known).await;
        let (is_known, end) = {
            let follower = clock.shared.follower.lock();
            (follower.state().is_some(), follower.end().cloned())
        };
        if is_known {
            return Ok(clock);
        }
        Err(match (end, clock.shared.failure.lock().take()) {
            (Some(ClockUnavailable::Rejected(problem)), _) => Error::Problem(problem),
            (_, Some(failure)) => failure,
            (end, None) => Error::Clock(end.unwrap_or(ClockUnavailable::Unknown)),
        })
    }
}

impl VirtualClock {
    /// Returns the current reading, to the microsecond, in the range −9999 to 9999.
    ///
    /// # Errors
    /// The clock cannot be read reliably.
    pub fn now(&self) -> Result<Instant, ClockUnavailable> {
        let now = monotonic_micros();
        match self.shared.clock_parameters.at(now) {
            Some(instant) => Ok(instant),
            None => self.shared.follower.lock().read(now).map(|reading| reading.now),
        }
    }

    /// Returns the current reading and the state from which it was computed.
    ///
    /// # Errors
    /// The clock cannot be read reliably.
    pub fn reading(&self) -> Result<Reading, ClockUnavailable> {
        self.shared.follower.lock().read(monotonic_micros())
    }

    /// Returns the last known state of the clock.
    ///
    /// # Errors
    /// The clock cannot be read reliably.
    pub fn state(&self) -> Result<ClockState, ClockUnavailable> {
        self.reading().map(|reading| reading.state)
    }

    /// Returns whether the stream is open and up to date.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        self.shared.follower.lock().is_connected()
    }

    /// Returns all later changes of the clock, in order and without gaps.
    #[must_use]
    pub fn changes(&self) -> mpsc::UnboundedReceiver<ClockChange> {
        let (sender, receiver) = mpsc::unbounded_channel();
        self.shared.listeners.lock().push(sender);
        receiver
    }

    /// Waits until the clock shows an instant or a later one, regardless of how it moves, and returns the reading.
    ///
    /// A jump past the instant ends the wait, a rewind extends it, and a pause suspends it. Limit it with
    /// `tokio::time::timeout`.
    ///
    /// # Errors
    /// The clock can no longer be read reliably.
    pub async fn until(&self, moment: Instant) -> Result<Reading, ClockUnavailable> {
        let target = moment.micros();
        self.wait(|reading| reading.now >= moment, |follower, now| follower.micros_until(target, now)).await
    }

    /// Waits for a duration of virtual time.
    ///
    /// # Errors
    /// The clock can no longer be read reliably.
    pub async fn sleep(&self, duration: Duration) -> Result<Reading, ClockUnavailable> {
        let moment = self.now()?.checked_add(duration).unwrap_or(Instant::MAX);
        self.until(moment).await
    }

    /// Waits until this clock shows a change, given the generation in the response to that change.
    ///
    /// # Errors
    /// The clock can no longer be read reliably.
    pub async fn until_generation(&self, generation: u64) -> Result<Reading, ClockUnavailable> {
        self.wait(|reading| reading.state.generation >= generation, |_, _| None).await
    }

    /// Ends the subscription. Pending waits return [`ClockUnavailable::Closed`].
    pub fn close(&self) {
        self.shared.update(Follower::closed);
        self.task.abort();
    }

    async fn wait(
        &self,
        is_done: impl Fn(&Reading) -> bool,
        left: impl Fn(&Follower, i64) -> Option<i64>,
    ) -> Result<Reading, ClockUnavailable> {
        let mut updates = self.shared.updates.subscribe();
        loop {
            updates.borrow_and_update();
            let now = monotonic_micros();
            let wait = {
                let follower = self.shared.follower.lock();
                let reading = follower.read(now)?;
                if is_done(&reading) {
                    return Ok(reading);
                }
                let valid = follower.micros_valid(now).saturating_add(1_000);
                left(&follower, now).map_or(valid, |left| left.min(valid)).max(1)
            };
            // Timers have a resolution of milliseconds and may fire slightly early, so the loop checks again.
            let _ = timeout(Duration::from_micros(wait.unsigned_abs()), updates.changed()).await;
        }
    }
}

impl Drop for VirtualClock {
    fn drop(&mut self) {
        self.close();
    }
}

struct StreamReader<'a> {
    client: &'a Client,
    shared: &'a Shared,
    bounds: StalenessBounds,
    /// The follower name, if the clock confirms changes.
    name: Option<String>,
    /// The newest change that reads show.
    applied: watch::Sender<Option<Applied>>,
}

impl StreamReader<'_> {
    /// Reconnects until the clock ends.
    async fn run(&self) {
        let mut failed = 0;
        loop {
            let mut was_open = false;
            let failure = self.follow(&mut was_open).await.err();
            // The first loss of an open stream resets the backoff.
            failed = if was_open { 1 } else { failed + 1 };
            let problem = failure.as_ref().and_then(Error::problem).cloned();
            let after = problem.as_ref().and_then(|problem| problem.retry_after);
            *self.shared.failure.lock() = failure;
            let has_ended = self.shared.update(|follower| {
                if let Some(problem) = problem.as_ref().filter(|problem| problem.is_final()) {
                    follower.rejected(problem);
                }
                follower.connection_lost(monotonic_micros());
                follower.end().is_some()
            });
            if has_ended {
                return;
            }
            pause(after.unwrap_or_else(|| jitter(delay(failed)))).await;
        }
    }

    async fn follow(&self, was_open: &mut bool) -> Result<(), Error> {
        let Self { client, shared, .. } = *self;
        let stream = client.get::<()>(&["v1", "clock", "stream"]).on_default_timeline().set("follow", &self.name);
        let stream = stream.build()?;
        let mut stream = stream.header("accept", "text/event-stream")?;
        if self.name.is_some() {
            for (name, value) in process_headers() {
                stream = stream.header(name, &value)?;
            }
        }
        let generation = shared.update(|follower| {
            follower.request_sent(monotonic_micros());
            follower.state().map(|state| state.generation)
        });
        if let Some(generation) = generation {
            let request = client.clock().into_future();
            let body = timeout(RESPONSE_TIMEOUT, request).await.map_err(|_| no_data_error(client))??;
            shared.announce(shared.update(|follower| follower.apply_response(&body, monotonic_micros())));
            stream = stream.last_event_id(&generation.to_string())?;
        }
        let opening = timeout(RESPONSE_TIMEOUT, client.send(stream.without_timeout()));
        let mut events = opening.await.map_err(|_| no_data_error(client))??.events();
        *was_open = true;
        shared.update(|follower| follower.stream_opened(monotonic_micros()));
        let mut is_first = generation.is_none();
        while read_event(client, &mut events, self.bounds).await? {
            shared.update(|follower| follower.message_received(monotonic_micros()));
            while let Some(event) = events.next_buffered() {
                let body: Clock = serde_json::from_str(&event.data).map_err(|error| Error::UnexpectedResponse {
                    service: client.base_url().to_owned(),
                    detail: error.to_string(),
                })?;
                let now = monotonic_micros();
                shared.announce(shared.update(|follower| follower.apply_message(&event.event, &body, now, is_first)));
                is_first = false;
                self.confirm(&body);
            }
        }
        Ok(())
    }

    /// Confirms a change, if the clock is a named follower.
    fn confirm(&self, body: &Clock) {
        if let Some(follower_id) = &body.follower_id {
            let (follower_id, generation) = (follower_id.clone(), body.generation);
            self.applied.send_replace(Some(Applied { follower_id, generation }));
        }
    }
}

/// Reads from a stream. Returns `false` at its end. Fails if no data arrives for `stale_after`.
pub(crate) async fn read_event(
    client: &Client,
    events: &mut EventStream,
    bounds: StalenessBounds,
) -> Result<bool, Error> {
    timeout(bounds.stale_after(), events.read_more()).await.unwrap_or_else(|_| Err(no_data_error(client)))
}

pub(crate) fn no_data_error(client: &Client) -> Error {
    let detail = "no data arrived in time".to_owned();
    Error::Unreachable { service: client.base_url().to_owned(), detail, was_sent: true }
}
