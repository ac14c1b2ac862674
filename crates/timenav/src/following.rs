//! Follows a clock by the stream of the service, and keeps it by the boot clock of this host.

mod confirming;
pub(crate) mod faults;
mod opening;
mod told;

use std::sync::{Arc, mpsc};
use std::time::Duration;

use timenav_core::clock::Clock;
use timenav_core::fault::Fault;
use timenav_core::followers::FollowerHost;
use timenav_core::ids::FollowerName;
use timenav_core::time::{Instant, Wall};

use crate::boot::Kernel;
use crate::client::{Client, EventStream, Sign, TimelineOptions};
use crate::doors::counted;
use crate::exit::Failure;
use crate::output;
use confirming::Applied;
pub(crate) use opening::Opening;
use told::{HostClock, Told};

/// How long the service may say nothing before it counts as lost. It says something every 15 seconds.
const SILENCE_MAX: Duration = Duration::from_secs(20);
/// How long to wait before the first attempt to reconnect, and before any.
const RETRY_MIN: Duration = Duration::from_millis(100);
const RETRY_MAX: Duration = Duration::from_secs(3);
/// How long to wait before a service is asked again that has denied access.
const DENIED_RETRY: Duration = Duration::from_secs(30);

/// How often the service is asked for its time where its boot clock cannot be read here. The quickest answer counts most.
/// Each is a read, and so an entry of the ledger.
const EXCHANGES: usize = 4;

/// What is known of a clock.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    pub(crate) clock: Clock,
    /// By how much the host time of the service is ahead of the boot clock here, in nanoseconds: not more than it is.
    pub(crate) offset: i128,
    /// By how much more it may be ahead, in nanoseconds: 0 where both go by the same boot clock, `None` where nothing that
    /// was heard bounds it.
    pub(crate) uncertainty: Option<u64>,
    /// By which clock the service goes, where it tells.
    host_clock: Option<HostClock>,
}

impl Known {
    /// Returns a clock whose host time is ahead by so many nanoseconds.
    #[cfg(test)]
    pub(crate) const fn certain(clock: Clock, offset: i128) -> Self {
        Self { clock, offset, uncertainty: Some(0), host_clock: None }
    }

    /// Returns whether asking the service for its time would tell more.
    const fn is_to_be_measured(&self) -> bool {
        self.clock.is_running() && self.uncertainty.is_none()
    }

    /// Returns what the host clock of the service shows now, as far as it is known here.
    pub(crate) fn host_now(&self) -> Instant<Wall> {
        let micros = (boot_now() + self.offset).div_euclid(1_000);
        i64::try_from(micros).ok().and_then(Instant::from_micros).unwrap_or(Instant::MAX)
    }
}

/// Who shows a clock that is followed.
pub(crate) trait Shown: Send + Sync + 'static {
    /// The clock has changed, or what is known of it.
    fn change(&self, known: &Known);

    /// Returns whether it shows the clock wrong where the service says so.
    fn shows_faults(&self) -> bool {
        false
    }

    /// The service says what is wrong with the clock that is shown; `None` where nothing is.
    fn fault(&self, _told: Option<Fault>) {}

    /// The service was heard of.
    fn heard(&self);

    /// The service cannot be reached, until it is heard of.
    fn lost(&self);

    /// The service is there, and does not let this one read the clock, until it is heard of.
    fn refused(&self) {}

    /// Waits until whatever goes by the clock has seen its last change. Returns whether it has, in time.
    fn settle(&self) -> bool {
        true
    }
}

/// Under which name a clock is followed, if changes are confirmed.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct FollowOption {
    /// Follow the clock under this name, and confirm each change once it is applied: `clock travel --followers` waits for
    /// that, and `timenav followers` shows it. Several may have the same name.
    #[arg(long, value_name = "NAME", value_parser = follower_name)]
    follow: Option<String>,
}

impl FollowOption {
    /// Returns whether the clock is followed under a name.
    pub(crate) const fn is_named(&self) -> bool {
        self.follow.is_some()
    }
}

/// Reads the name of a follower on the command line.
fn follower_name(text: &str) -> Result<String, String> {
    let name = FollowerName::new(text).map_err(|error| error.to_string())?;
    if name.is_all() {
        Err("`all` stands for all followers; choose another name".to_owned())
    } else {
        Ok(text.to_owned())
    }
}

/// What is said when the service is lost, when it denies access, and when it is back.
pub(crate) struct Words {
    pub(crate) lost: &'static str,
    /// Reasons follow.
    pub(crate) denied: &'static str,
    pub(crate) back: &'static str,
}

/// What was said last of a service.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Said {
    /// That it is there, or nothing.
    There,
    Lost,
    Denied(String),
}

impl Said {
    /// Returns what there is to say of a service that could not be followed.
    fn of(failure: &Failure) -> Self {
        let Failure::Problem(problem) = failure else { return Self::Lost };
        problem.denial().map_or(Self::Lost, Self::Denied)
    }

    /// Says it, if it was not said last.
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

/// A clock as it was when somebody began to follow it.
pub(crate) struct Begun {
    /// The name of the timeline.
    pub(crate) timeline: String,
    pub(crate) known: Known,
}

/// Asks for the clock.
///
/// # Errors
/// The service does not answer, or says no.
pub(crate) fn begin(client: &Client, timeline: &TimelineOptions) -> Result<Begun, Failure> {
    let (kernel, asked) = (Kernel::here(), boot_now());
    let answer = client.get(&["v1", "clock"], &timeline.query())?;
    let came = boot_now();
    let told = Told::read(&answer.value).ok_or_else(|| anyhow::anyhow!("the service told no clock; is it timenav?"))?;
    let mut known = told.learned(None, (Some(asked), came), kernel.as_ref());
    if known.clock.is_running() && known.uncertainty != Some(0) {
        measure(client, timeline, kernel.as_ref(), &mut known);
    }
    let name = answer.value["timeline_id"].as_str().unwrap_or_default().to_owned();
    Ok(Begun { timeline: name, known })
}

/// Asks for the time of the service a few times, so that it is known better how far its host time is from here.
fn measure(client: &Client, timeline: &TimelineOptions, kernel: Option<&Kernel>, known: &mut Known) {
    for _ in 1..EXCHANGES {
        let asked = boot_now();
        // What is known stays where there is no answer.
        let Ok(answer) = client.get(&["v1", "clock"], &timeline.query()) else { return };
        let came = boot_now();
        // Whatever stands before services may have asked another one, which goes by another clock.
        let same = Told::read(&answer.value).filter(|told| told.host_clock == known.host_clock);
        if let Some(told) = same {
            let Known { offset, uncertainty, .. } = told.learned(Some(known), (Some(asked), came), kernel);
            (known.offset, known.uncertainty) = (offset, uncertainty);
        }
    }
}

/// Follows the clock until the process ends. A lost connection is told once, and so are a denial and the return.
///
/// A stream that has ended tells nothing: whoever revoked a key ended it too. So it is opened again first. The opening is
/// over once what the first stream told is shown, or the service could not be asked.
///
/// # Errors
/// There is no thread for confirming changes.
pub(crate) fn follow(
    client: &Client,
    (timeline, name, opening): (&TimelineOptions, &FollowOption, &Opening),
    shown: &Arc<impl Shown>,
    words: &Words,
    mut known: Known,
) -> std::io::Result<std::convert::Infallible> {
    let (_never_told, nothing) = mpsc::channel::<()>();
    let (mut query, mut place) = (timeline.query(), Vec::new());
    if let Some(name) = &name.follow {
        query.extend([("follow", name.clone()), ("steps", "true".to_owned())]);
        if shown.shows_faults() {
            query.push(("faults", "true".to_owned()));
        }
        place = own_place();
    }
    let confirming = name.follow.as_ref().map(|_| confirming::begin(client.caller(), Arc::clone(shown))).transpose()?;
    let mut said = Said::There;
    let mut retry = RETRY_MIN;
    loop {
        // In a container that was moved it may be another one.
        let kernel = Kernel::here();
        let asked = boot_now();
        let (mut news, mut is_refused) = (Said::Lost, false);
        match open(client, &query, &place) {
            Err(failure) => {
                is_refused = matches!(&failure, Failure::Problem(problem) if problem.is_refusal());
                news = Said::of(&failure);
            }
            Ok(mut stream) => {
                let mut first = Some(asked);
                loop {
                    match stream.next_within(SILENCE_MAX) {
                        Sign::Event(event) => {
                            let Ok(data) = serde_json::from_str(&event.data) else { continue };
                            let Some(told) = Told::read(&data) else { continue };
                            if first.is_none() {
                                // A stream that only begins and ends, over and over, is not asked for that often.
                                retry = RETRY_MIN;
                            }
                            let mut learned = told.learned(Some(&known), (first.take(), boot_now()), kernel.as_ref());
                            take(learned.clone(), &**shown, &mut known);
                            if learned.is_to_be_measured() {
                                measure(client, timeline, kernel.as_ref(), &mut learned);
                                take(learned, &**shown, &mut known);
                            }
                            if name.is_named() {
                                shown.fault(faults::told(&data));
                            }
                            let applied = Applied::of(&data, &known, timeline);
                            if let (Some(confirming), Some(applied)) = (&confirming, applied) {
                                // It ends with the process.
                                let _ = confirming.send(applied);
                            }
                            news = Said::There;
                            Said::There.say(&mut said, words);
                            shown.heard();
                            opening.is_over();
                        }
                        Sign::Alive => {
                            retry = RETRY_MIN;
                            shown.heard();
                        }
                        Sign::Lost => break,
                    }
                }
            }
        }
        shown.lost();
        if is_refused {
            shown.refused();
        }
        opening.is_over();
        let wait = if matches!(news, Said::Denied(_)) { DENIED_RETRY } else { retry };
        if news != Said::There {
            news.say(&mut said, words);
        }
        // The other end of the channel is here, so this lasts as long as it says.
        let _ = nothing.recv_timeout(wait);
        retry = (retry * 2).min(RETRY_MAX);
    }
}

/// Opens the stream. A service of an earlier version, which knows of no faults, is asked for the clock alone.
fn open<'c>(
    client: &'c Client,
    query: &[(&'static str, String)],
    place: &[(&'static str, String)],
) -> Result<EventStream<'c>, Failure> {
    let path = ["v1", "clock", "stream"];
    match client.stream(&path, query, place, None) {
        Err(Failure::Problem(problem)) if problem.is_about("faults") => {
            let known: Vec<_> = query.iter().filter(|(name, _)| *name != "faults").cloned().collect();
            client.stream(&path, &known, place, None)
        }
        opened => opened,
    }
}

/// Returns what the boot clock of this host shows, in nanoseconds.
fn boot_now() -> i128 {
    counted().as_nanos().try_into().unwrap_or(i128::MAX)
}

/// Returns where this process runs, as fields of a request's head that an older service passes over.
fn own_place() -> Vec<(&'static str, String)> {
    let mut place = vec![("timenav-process", std::process::id().to_string())];
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    place.extend(FollowerHost::new(host.trim()).map(|host| ("timenav-host", host.as_str().to_owned())));
    place
}

/// Shows what was learned, if it is anything new.
fn take(learned: Known, shown: &impl Shown, known: &mut Known) {
    let is_new = learned.clock != known.clock || learned.offset != known.offset;
    if is_new || learned.uncertainty != known.uncertainty {
        shown.change(&learned);
    }
    *known = learned;
}
