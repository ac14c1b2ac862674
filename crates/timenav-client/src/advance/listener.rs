use std::collections::{BTreeSet, HashSet};
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde::Deserialize;
use serde::de::IgnoredAny;
use tokio::sync::{mpsc, watch};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::timeout;

use crate::advance::firing::{ClaimedFiringBody, Firing};
use crate::client::Client;
use crate::error::Error;
use crate::transport::call::Call;
use crate::transport::host::{jitter, monotonic_micros};
use crate::transport::request::seconds_text;
use crate::transport::retry::delay;

/// The maximum wait of a claim for a firing.
const CLAIM_WAIT: Duration = Duration::from_secs(20);
/// The service considers a listener active for ten seconds after a claim. If a handler finishes this long after the
/// last claim, another claim is sent before the acknowledgment. Otherwise an advance could leave the instant before the
/// remaining firings are handled.
const IDLE_CLAIM_MICROS: i64 = 5_000_000;
const ACK_TIMEOUT_DEFAULT: Duration = Duration::from_secs(30);
const ACK_TIMEOUT_MIN: Duration = Duration::from_secs(1);
const ACK_TIMEOUT_MAX: Duration = Duration::from_mins(10);
const CONCURRENCY_MAX: usize = 1_000;
const FIRINGS_MAX: usize = 1_000;
const REASON_BYTES_MAX: usize = 1_024;

/// The error of a handler.
pub type HandlerError = Box<dyn std::error::Error + Send + Sync>;

/// Options of a listener.
#[derive(Clone, Copy, Debug)]
pub struct ListenOptions {
    /// The number of concurrent handlers, 1 to 1000. Defaults to 1.
    pub concurrency: usize,
    /// The duration of a lease in host time, 1 second to 10 minutes. If this program crashes, other workers get its
    /// firings after it. Defaults to 30 seconds.
    pub ack_timeout: Duration,
}

impl Default for ListenOptions {
    fn default() -> Self {
        Self { concurrency: 1, ack_timeout: ACK_TIMEOUT_DEFAULT }
    }
}

impl ListenOptions {
    fn check(self) -> Result<Self, Error> {
        if !(ACK_TIMEOUT_MIN..=ACK_TIMEOUT_MAX).contains(&self.ack_timeout) {
            let message = format!("ack_timeout must be 1 s to 10 min, not {:?}", self.ack_timeout);
            return Err(Error::Invalid(message));
        }
        if !(1..=CONCURRENCY_MAX).contains(&self.concurrency) {
            let message = format!("concurrency must be 1 to {CONCURRENCY_MAX}, not {}", self.concurrency);
            return Err(Error::Invalid(message));
        }
        Ok(self)
    }
}

#[derive(Deserialize)]
struct ClaimedBody {
    firings: Vec<ClaimedFiringBody>,
}

impl ClaimedFiringBody {
    fn lease(&self) -> Lease {
        Lease { firing_id: self.firing_id.clone(), lease_id: self.lease_id.clone() }
    }
}

/// Claims firings of a queue and passes them to a handler, until it is closed. If it is dropped, it stops claiming, and
/// its current firings are still handled.
#[derive(Debug)]
pub struct Listener {
    stopping: watch::Sender<bool>,
    task: JoinHandle<Result<(), Error>>,
}

impl Client {
    /// Passes each firing of a queue to a handler, until the listener is closed.
    ///
    /// A firing is acknowledged when the handler succeeds. If the handler fails or panics, the firing fails and is
    /// retried. Its lease is extended while the handler runs. When this returns, the queue has an active listener, and
    /// an advance waits for its handlers.
    ///
    /// # Errors
    /// The service does not respond, or does not allow claims.
    pub async fn on<H, F>(&self, queue: &str, handler: H) -> Result<Listener, Error>
    where
        H: Fn(Firing) -> F + Send + Sync + 'static,
        F: Future<Output = Result<(), HandlerError>> + Send + 'static,
    {
        self.on_with(queue, handler, ListenOptions::default()).await
    }

    /// Like [`Client::on`], with custom options.
    ///
    /// # Errors
    /// The service does not respond or does not allow claims, or the options are invalid.
    pub async fn on_with<H, F>(&self, queue: &str, handler: H, options: ListenOptions) -> Result<Listener, Error>
    where
        H: Fn(Firing) -> F + Send + Sync + 'static,
        F: Future<Output = Result<(), HandlerError>> + Send + 'static,
    {
        let options = options.check()?;
        let stopping = watch::Sender::new(false);
        let worker = Arc::new(FiringWorker {
            client: self.clone(),
            queue: queue.to_owned(),
            options,
            stopping: stopping.subscribe(),
            leases: Mutex::default(),
            claimed_at: Mutex::default(),
        });
        let first = worker.claim(self, options.concurrency, Duration::ZERO).await?;
        let work = Work::new(worker, handler);
        let task = tokio::spawn(work.run(first, stopping.subscribe()));
        Ok(Listener { stopping, task })
    }
}

impl Listener {
    /// Returns whether the listener is still claiming firings.
    #[must_use]
    pub fn is_running(&self) -> bool {
        !self.task.is_finished() && !*self.stopping.borrow()
    }

    /// Waits until the listener has ended.
    ///
    /// # Errors
    /// The service no longer allows claims.
    pub async fn join(self) -> Result<(), Error> {
        let Self { stopping, task } = self;
        let ended = task.await;
        drop(stopping);
        ended.unwrap_or_else(|error| Err(Error::Invalid(format!("the listener task failed: {error}"))))
    }

    /// Stops claiming, and returns when all handlers are done and their outcomes are reported.
    ///
    /// # Errors
    /// The service no longer allowed claims.
    pub async fn close(self) -> Result<(), Error> {
        self.stopping.send_replace(true);
        self.join().await
    }
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Lease {
    firing_id: String,
    lease_id: Option<String>,
}

struct FiringWorker {
    client: Client,
    queue: String,
    options: ListenOptions,
    stopping: watch::Receiver<bool>,
    leases: Mutex<HashSet<Lease>>,
    claimed_at: Mutex<Option<i64>>,
}

impl FiringWorker {
    async fn claim(&self, client: &Client, max: usize, wait: Duration) -> Result<Vec<ClaimedFiringBody>, Error> {
        let call: Call<'_, ClaimedBody> = client.post(&["v1", "queues", &self.queue, "claim"]).on_default_timeline();
        // Less than the response timeout, so that the service responds before it.
        let call = call.set("wait", seconds_text(wait.min(client.timeout() / 2))).set("max", max);
        let claimed = call.set("ack_timeout", seconds_text(self.options.ack_timeout)).await?.firings;
        *self.claimed_at.lock() = Some(monotonic_micros());
        self.leases.lock().extend(claimed.iter().map(ClaimedFiringBody::lease));
        Ok(claimed)
    }

    /// Claims another firing if the last claim was some time ago, so that the queue keeps its active listener. A
    /// listener that is closed or dropped claims nothing more.
    async fn claim_if_idle(&self) -> Vec<ClaimedFiringBody> {
        let is_stopping = *self.stopping.borrow() || self.stopping.has_changed().is_err();
        let at = *self.claimed_at.lock();
        if is_stopping || at.is_none_or(|at| monotonic_micros().saturating_sub(at) < IDLE_CLAIM_MICROS) {
            return Vec::new();
        }
        self.claim(&self.client, 1, Duration::ZERO).await.unwrap_or_else(|error| {
            tracing::warn!(queue = self.queue, %error, "claiming from the queue failed; will retry");
            Vec::new()
        })
    }

    async fn report(&self, action: &str, leases: &[Lease], parameter: Option<(&str, String)>) -> Result<(), Error> {
        let firing_ids: Vec<&str> = leases.iter().map(|lease| lease.firing_id.as_str()).collect();
        let lease_ids: Option<BTreeSet<&str>> = leases.iter().map(|lease| lease.lease_id.as_deref()).collect();
        let mut call: Call<'_, IgnoredAny> = self.client.post(&["v1", "firings", action]).on_default_timeline();
        call = call.set("firing_ids", firing_ids);
        if let Some(lease_ids) = lease_ids {
            call = call.set("lease_ids", lease_ids);
        }
        if let Some((name, value)) = parameter {
            call = call.set(name, value);
        }
        call.await.map(drop)
    }

    async fn settle(&self, lease: Lease, failed: Option<String>) {
        let leases = std::slice::from_ref(&lease);
        let outcome = match failed {
            None => self.report("ack", leases, None).await,
            Some(reason) => self.report("fail", leases, Some(("reason", reason))).await,
        };
        if let Err(error) = outcome {
            let is_lost = error.problem().is_some_and(|problem| problem.code == "lease_lost");
            let text = if is_lost {
                "the lease of a firing expired, and another worker has claimed the firing"
            } else {
                "the outcome of a firing could not be reported, so the service will deliver the firing again"
            };
            tracing::warn!(queue = self.queue, firing_id = lease.firing_id, %error, "{text}");
        }
        self.leases.lock().remove(&lease);
    }

    async fn extend_leases(&self, mut has_ended: watch::Receiver<bool>) {
        // A lease survives one failed extension.
        while timeout(self.options.ack_timeout / 3, has_ended.wait_for(|has_ended| *has_ended)).await.is_err() {
            let leases: Vec<Lease> = self.leases.lock().iter().cloned().collect();
            for chunk in leases.chunks(FIRINGS_MAX) {
                let ttl = ("ttl", seconds_text(self.options.ack_timeout));
                if let Err(error) = self.report("extend", chunk, Some(ttl)).await {
                    tracing::warn!(queue = self.queue, %error, "leases of firings could not be extended");
                }
            }
        }
    }
}

/// The load of a listener. A handler frees its slot when it finishes, before its outcome is reported, because an
/// advance waits for both the report and the next claim.
#[derive(Clone, Copy, Default)]
struct Load {
    running_handlers: usize,
    /// Unreported outcomes. If there are more of them than `concurrency`, claiming stops, so that a fast handler does
    /// not accumulate firings when the service is slow.
    unsettled: usize,
}

impl Load {
    const fn free(self, concurrency: usize) -> usize {
        if self.unsettled <= concurrency { concurrency.saturating_sub(self.running_handlers) } else { 0 }
    }
}

struct Work<H> {
    worker: Arc<FiringWorker>,
    handler: Arc<H>,
    running: JoinSet<()>,
    load: watch::Sender<Load>,
    /// Firings of claims that were sent to keep the listener active.
    extra_claims: mpsc::UnboundedReceiver<Vec<ClaimedFiringBody>>,
    extra_sender: mpsc::UnboundedSender<Vec<ClaimedFiringBody>>,
}

impl<H, F> Work<H>
where
    H: Fn(Firing) -> F + Send + Sync + 'static,
    F: Future<Output = Result<(), HandlerError>> + Send + 'static,
{
    fn new(worker: Arc<FiringWorker>, handler: H) -> Self {
        let (extra_sender, extra_claims) = mpsc::unbounded_channel();
        Self {
            worker,
            handler: Arc::new(handler),
            running: JoinSet::new(),
            load: watch::Sender::default(),
            extra_claims,
            extra_sender,
        }
    }

    async fn run(mut self, first: Vec<ClaimedFiringBody>, stopping: watch::Receiver<bool>) -> Result<(), Error> {
        let (end, has_ended) = watch::channel(false);
        let worker = Arc::clone(&self.worker);
        let extender = tokio::spawn(async move { worker.extend_leases(has_ended).await });
        self.take(first);
        let ended = self.listen(stopping).await;
        while self.running.join_next().await.is_some() {
            self.take_extra_claims();
        }
        end.send_replace(true);
        // The task ends at once, or after the request that it is sending.
        let _ = extender.await;
        ended
    }

    async fn listen(&mut self, mut stopping: watch::Receiver<bool>) -> Result<(), Error> {
        let client = self.worker.client.without_retries();
        let worker = Arc::clone(&self.worker);
        let mut load = self.load.subscribe();
        let mut failed = 0;
        loop {
            while self.running.try_join_next().is_some() {}
            tokio::select! {
                _ = stopping.wait_for(|stopping| *stopping) => return Ok(()),
                _ = load.wait_for(|load| load.free(worker.options.concurrency) > 0) => {}
            }
            self.take_extra_claims();
            let free = self.load.borrow().free(worker.options.concurrency);
            if free == 0 {
                continue;
            }
            *worker.claimed_at.lock() = None;
            // Canceling the claim closes its connection, and the service delivers its firings to other workers.
            let mut claiming = pin!(worker.claim(&client, free, CLAIM_WAIT));
            let claimed = loop {
                tokio::select! {
                    _ = stopping.wait_for(|stopping| *stopping) => return Ok(()),
                    Some(extra_claims) = self.extra_claims.recv() => self.take(extra_claims),
                    claimed = &mut claiming => break claimed,
                }
            };
            match claimed {
                Ok(firings) => {
                    failed = 0;
                    self.take(firings);
                }
                Err(Error::Problem(problem)) if problem.is_final() => return Err(Error::Problem(problem)),
                Err(error) => {
                    failed += 1;
                    tracing::warn!(queue = worker.queue, %error, "claiming from the queue failed; will retry");
                    let after = error.problem().and_then(|problem| problem.retry_after);
                    let wait = after.unwrap_or_else(|| jitter(delay(failed)));
                    if timeout(wait, stopping.wait_for(|stopping| *stopping)).await.is_ok() {
                        return Ok(());
                    }
                }
            }
        }
    }

    fn take_extra_claims(&mut self) {
        while let Ok(extra_claims) = self.extra_claims.try_recv() {
            self.take(extra_claims);
        }
    }

    fn take(&mut self, firings: Vec<ClaimedFiringBody>) {
        for body in firings {
            let lease = body.lease();
            let firing = Firing::of(body, &self.worker.client);
            let worker = Arc::clone(&self.worker);
            // A separate task, so that a panic affects only the handler.
            let handler = Arc::clone(&self.handler);
            let work = async move { handler(firing).await };
            let (load, extra_sender) = (self.load.clone(), self.extra_sender.clone());
            load.send_modify(|load| load.running_handlers += 1);
            self.running.spawn(async move {
                let failed = match tokio::spawn(work).await {
                    Ok(Ok(())) => None,
                    Ok(Err(error)) => Some(error.to_string()),
                    Err(error) => Some(format!("the handler did not finish: {error}")),
                };
                match &failed {
                    None => {
                        // The main loop takes these firings before its next claim, or at the end.
                        let _ = extra_sender.send(worker.claim_if_idle().await);
                    }
                    Some(reason) => {
                        tracing::warn!(queue = worker.queue, firing_id = lease.firing_id, reason, "a handler failed");
                    }
                }
                load.send_modify(|load| {
                    load.running_handlers -= 1;
                    load.unsettled += 1;
                });
                worker.settle(lease, failed.map(truncated)).await;
                load.send_modify(|load| load.unsettled -= 1);
            });
        }
    }
}

/// Truncates a reason to the service's limit, at a character boundary.
fn truncated(mut reason: String) -> String {
    reason.truncate(reason.floor_char_boundary(REASON_BYTES_MAX));
    reason
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    /// Returns whether a worker that last claimed ten seconds ago claims again.
    async fn claims_again(stopping: watch::Receiver<bool>) -> bool {
        let service = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", service.local_addr().unwrap());
        let worker = FiringWorker {
            client: Client::builder().base_url(url).api_key("tnk_test").build().unwrap().without_retries(),
            queue: "default".to_owned(),
            options: ListenOptions::default(),
            stopping,
            leases: Mutex::default(),
            claimed_at: Mutex::new(Some(monotonic_micros() - 2 * IDLE_CLAIM_MICROS)),
        };
        tokio::select! {
            // A connection that is closed without a response ends the claim.
            connection = service.accept() => connection.is_ok(),
            claimed = worker.claim_if_idle() => {
                assert!(claimed.is_empty());
                false
            }
        }
    }

    #[tokio::test]
    async fn idle_worker_claims_again_until_its_listener_is_closed_or_dropped() {
        let stopping = watch::Sender::new(false);
        assert!(claims_again(stopping.subscribe()).await, "the listener runs");
        stopping.send_replace(true);
        assert!(!claims_again(stopping.subscribe()).await, "the listener is closed");
        let running = watch::Sender::new(false);
        let receiver = running.subscribe();
        drop(running);
        assert!(!claims_again(receiver).await, "the listener is dropped");
    }
}
