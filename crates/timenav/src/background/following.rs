//! Follows a clock through the stream of the service, and maintains it with the boot clock of this host.

mod confirming;
pub(crate) mod faults;
mod opening;
mod clock_report;

use std::sync::{Arc, mpsc};
use std::time::Duration;

use timenav_core::clock::Clock;
use timenav_core::fault::Fault;
use timenav_core::followers::FollowerHost;
use timenav_core::ids::FollowerName;
use timenav_core::time::{Instant, Wall};

use crate::boot::Kernel;
use crate::client::{BlockingEventStream, Client, Sign, TimelineOptions};
use crate::exit::Failure;
use crate::output;
use crate::wiring::ports::counted;
use clock_report::{ClockReport, HostClock};
use confirming::Applied;
pub(crate) use opening::Opening;

/// Silence after which the service counts as lost. It sends a heartbeat every 15 seconds.
const SILENCE_MAX: Duration = Duration::from_secs(20);
/// Wait before the first reconnect, and the maximum.
const RETRY_MIN: Duration = Duration::from_millis(100);
const RETRY_MAX: Duration = Duration::from_secs(3);
/// Wait before a retry after access was denied.
const DENIED_RETRY: Duration = Duration::from_secs(30);

/// Requests to measure the service's time if its boot clock cannot be read here. The fastest response counts most. Each
/// request is a read and so a ledger entry.
const EXCHANGES: usize = 4;

#[derive(Clone, Debug)]
pub(crate) struct Known {
    pub(crate) clock: Clock,
    /// How far the host time of the service is at least ahead of the local boot clock, in nanoseconds.
    pub(crate) offset: i128,
    /// How much further it may be ahead, in nanoseconds: 0 if both use the same boot clock, `None` if unbounded.
    pub(crate) uncertainty: Option<u64>,
    host_clock: Option<HostClock>,
}

impl Known {
    /// Returns a clock whose host time is ahead by exactly `offset` nanoseconds.
    #[cfg(test)]
    pub(crate) const fn certain(clock: Clock, offset: i128) -> Self {
        Self { clock, offset, uncertainty: Some(0), host_clock: None }
    }

    const fn is_to_be_measured(&self) -> bool {
        self.clock.is_running() && self.uncertainty.is_none()
    }

    /// Returns the current host time of the service, as far as known.
    pub(crate) fn host_now(&self) -> Instant<Wall> {
        let micros = (boot_now() + self.offset).div_euclid(1_000);
        i64::try_from(micros).ok().and_then(Instant::from_micros).unwrap_or(Instant::MAX)
    }
}

pub(crate) trait ClockObserver: Send + Sync + 'static {
    fn change(&self, known: &Known);

    fn shows_faults(&self) -> bool {
        false
    }

    /// The service has set a clock fault, or removed it with `None`.
    fn fault(&self, _fault: Option<Fault>) {}

    fn reachable(&self);

    /// The service is unreachable, until the next `reachable`.
    fn lost(&self);

    /// The service denies reading the clock, until the next `reachable`.
    fn refused(&self) {}

    /// Waits until every reader of the clock has seen the last change. Returns false on timeout.
    fn settle(&self) -> bool {
        true
    }
}

/// Under which name a clock is followed, if changes are confirmed.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct FollowOption {
    /// Follow the clock under this name and confirm each change, for `--followers`. Several followers can share a name.
    #[arg(long, value_name = "NAME", value_parser = follower_name)]
    follow: Option<String>,
}

impl FollowOption {
    pub(crate) const fn is_named(&self) -> bool {
        self.follow.is_some()
    }
}

fn follower_name(text: &str) -> Result<String, String> {
    let name = FollowerName::new(text).map_err(|error| error.to_string())?;
    if name.is_all() { Err("`all` means all followers; choose another name".to_owned()) } else { Ok(text.to_owned()) }
}

pub(crate) struct Words {
    pub(crate) lost: &'static str,
    /// The reason is appended.
    pub(crate) denied: &'static str,
    pub(crate) back: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Reported {
    /// Reachable, or nothing was reported yet.
    There,
    Lost,
    Denied(String),
}

impl Reported {
    fn of(failure: &Failure) -> Self {
        let Failure::Problem(problem) = failure else { return Self::Lost };
        problem.denial().map_or(Self::Lost, Self::Denied)
    }

    /// Reports a state unless it is the last reported one.
    fn say(self, last: &mut Self, words: &Words) {
        if self == *last {
            return;
        }
        match &self {
            Self::There => output::note(words.back),
            Self::Lost => output::note(words.lost),
            Self::Denied(reasons) => output::note(&format!("{}: {reasons}", words.denied)),
        }
        *last = self;
    }
}

pub(crate) struct Begun {
    pub(crate) timeline: String,
    pub(crate) known: Known,
}

pub(crate) fn begin(client: &Client, timeline: &TimelineOptions) -> Result<Begun, Failure> {
    let (kernel, sent_at) = (Kernel::here(), boot_now());
    let answer = client.get(&["v1", "clock"], &timeline.query())?;
    let received_at = boot_now();
    let report = ClockReport::read(&answer.value)
        .ok_or_else(|| anyhow::anyhow!("the service returned no clock; is it timenav?"))?;
    let mut known = report.learned(None, (Some(sent_at), received_at), kernel.as_ref());
    if known.clock.is_running() && known.uncertainty != Some(0) {
        measure(client, timeline, kernel.as_ref(), &mut known);
    }
    let name = answer.value["timeline_id"].as_str().unwrap_or_default().to_owned();
    Ok(Begun { timeline: name, known })
}

/// Requests the service's time several times to narrow the uncertainty.
fn measure(client: &Client, timeline: &TimelineOptions, kernel: Option<&Kernel>, known: &mut Known) {
    for _ in 1..EXCHANGES {
        let sent_at = boot_now();
        // Without a response the known value stays.
        let Ok(answer) = client.get(&["v1", "clock"], &timeline.query()) else { return };
        let received_at = boot_now();
        // A load balancer may have sent the request to another replica with a different clock.
        let same = ClockReport::read(&answer.value).filter(|report| report.host_clock == known.host_clock);
        if let Some(report) = same {
            let Known { offset, uncertainty, .. } = report.learned(Some(known), (Some(sent_at), received_at), kernel);
            (known.offset, known.uncertainty) = (offset, uncertainty);
        }
    }
}

/// Follows the clock until the process ends. Loss, denial and return of the service are each reported once.
///
/// An ended stream says nothing about the cause: a revoked key ends it too. It is reopened before anything is reported.
/// The opening is over once the first update is shown, or the service could not be reached.
pub(crate) fn follow(
    client: &Client,
    (timeline, name, opening): (&TimelineOptions, &FollowOption, &Opening),
    view: &Arc<impl ClockObserver>,
    words: &Words,
    mut known: Known,
) -> std::io::Result<std::convert::Infallible> {
    let (_sender, nothing) = mpsc::channel::<()>();
    let (mut query, mut place) = (timeline.query(), Vec::new());
    if let Some(name) = &name.follow {
        query.extend([("follow", name.clone()), ("steps", "true".to_owned())]);
        if view.shows_faults() {
            query.push(("faults", "true".to_owned()));
        }
        place = own_place();
    }
    let confirming = name.follow.as_ref().map(|_| confirming::begin(client.caller(), Arc::clone(view))).transpose()?;
    let mut state = Reported::There;
    let mut retry = RETRY_MIN;
    loop {
        // After a container migration it may be a different kernel.
        let kernel = Kernel::here();
        let sent_at = boot_now();
        let (mut reported, mut is_refused) = (Reported::Lost, false);
        match open(client, &query, &place) {
            Err(failure) => {
                is_refused = matches!(&failure, Failure::Problem(problem) if problem.is_refusal());
                reported = Reported::of(&failure);
            }
            Ok(mut stream) => {
                let mut first = Some(sent_at);
                loop {
                    match stream.next_within(SILENCE_MAX) {
                        Sign::Event(event) => {
                            let Ok(data) = serde_json::from_str(&event.data) else { continue };
                            let Some(report) = ClockReport::read(&data) else { continue };
                            if first.is_none() {
                                // Limits reconnects to a stream that ends right after it starts.
                                retry = RETRY_MIN;
                            }
                            let mut learned = report.learned(Some(&known), (first.take(), boot_now()), kernel.as_ref());
                            take(learned.clone(), &**view, &mut known);
                            if learned.is_to_be_measured() {
                                measure(client, timeline, kernel.as_ref(), &mut learned);
                                take(learned, &**view, &mut known);
                            }
                            if name.is_named() {
                                view.fault(faults::fault_in(&data));
                            }
                            let applied = Applied::of(&data, &known, timeline);
                            if let (Some(confirming), Some(applied)) = (&confirming, applied) {
                                // The receiver lives until the process ends.
                                let _ = confirming.send(applied);
                            }
                            reported = Reported::There;
                            Reported::There.say(&mut state, words);
                            view.reachable();
                            opening.is_over();
                        }
                        Sign::Alive => {
                            retry = RETRY_MIN;
                            view.reachable();
                        }
                        Sign::Lost => break,
                    }
                }
            }
        }
        view.lost();
        if is_refused {
            view.refused();
        }
        opening.is_over();
        let wait = if matches!(reported, Reported::Denied(_)) { DENIED_RETRY } else { retry };
        if reported != Reported::There {
            reported.say(&mut state, words);
        }
        // Sleeps: nothing is ever sent on this channel.
        let _ = nothing.recv_timeout(wait);
        retry = (retry * 2).min(RETRY_MAX);
    }
}

/// Opens the stream. Earlier versions of the service do not know clock faults; from them only the clock is requested.
fn open<'c>(
    client: &'c Client,
    query: &[(&'static str, String)],
    place: &[(&'static str, String)],
) -> Result<BlockingEventStream<'c>, Failure> {
    let path = ["v1", "clock", "stream"];
    match client.stream(&path, query, place, None) {
        Err(Failure::Problem(problem)) if problem.is_about("faults") => {
            let known: Vec<_> = query.iter().filter(|(name, _)| *name != "faults").cloned().collect();
            client.stream(&path, &known, place, None)
        }
        opened => opened,
    }
}

/// Returns the boot clock of this host, in nanoseconds.
fn boot_now() -> i128 {
    counted().as_nanos().try_into().unwrap_or(i128::MAX)
}

/// Returns headers with the host and process of this follower. Older services ignore them.
fn own_place() -> Vec<(&'static str, String)> {
    let mut place = vec![("timenav-process", std::process::id().to_string())];
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    place.extend(FollowerHost::new(host.trim()).map(|host| ("timenav-host", host.as_str().to_owned())));
    place
}

fn take(learned: Known, view: &impl ClockObserver, known: &mut Known) {
    let is_new = learned.clock != known.clock || learned.offset != known.offset;
    if is_new || learned.uncertainty != known.uncertainty {
        view.change(&learned);
    }
    *known = learned;
}
