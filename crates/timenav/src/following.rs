//! Follows a clock by the stream of the service, and keeps it by the boot clock of this host.

mod confirming;
pub(crate) mod faults;

use std::sync::{Arc, mpsc};
use std::time::Duration;

use serde_json::Value;
use timenav_core::clock::{Clock, ClockState, Rate};
use timenav_core::ids::FollowerName;
use timenav_core::time::{Instant, Virtual, Wall, parse_timestamp};

use crate::client::{Client, Sign, TimelineOptions};
use crate::doors::counted;
use crate::exit::Failure;
use crate::output;
use confirming::Applied;

/// How long the service may say nothing before it counts as lost. It says something every 15 seconds.
const SILENCE_MAX: Duration = Duration::from_secs(20);
/// How long to wait before the first attempt to reconnect, and before any.
const RETRY_MIN: Duration = Duration::from_millis(100);
const RETRY_MAX: Duration = Duration::from_secs(3);
/// How long to wait before a service is asked again that has denied access.
const DENIED_RETRY: Duration = Duration::from_secs(30);

/// What is known of a clock.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    pub(crate) clock: Clock,
    /// By how much the host time of the service is ahead of the boot clock here, in nanoseconds: not more than it is.
    pub(crate) offset: i128,
}

impl Known {
    /// Returns what the host clock of the service shows now, as far as it is known here.
    pub(crate) fn host_now(&self) -> Instant<Wall> {
        let micros = (boot_now() + self.offset).div_euclid(1_000);
        i64::try_from(micros).ok().and_then(Instant::from_micros).unwrap_or(Instant::MAX)
    }
}

/// Who shows a clock that is followed.
pub(crate) trait Shown: Send + Sync + 'static {
    /// The clock has changed, or what is known of it; how uncertain host time is, in nanoseconds.
    fn change(&self, known: &Known, uncertainty: u64);

    /// The service was heard of.
    fn heard(&self);

    /// The service cannot be reached, until it is heard of.
    fn lost(&self);

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
    /// How uncertain host time is, in nanoseconds.
    pub(crate) uncertainty: u64,
}

/// Asks for the clock.
///
/// # Errors
/// The service does not answer, or says no.
pub(crate) fn begin(client: &Client, timeline: &TimelineOptions) -> Result<Begun, Failure> {
    let asked = boot_now();
    let answer = client.get(&["v1", "clock"], &timeline.query())?;
    let told = Told::read(&answer.value).ok_or_else(|| anyhow::anyhow!("the service told no clock; is it timenav?"))?;
    let (known, uncertainty) = told.learned(None, asked, boot_now());
    let timeline = answer.value["timeline_id"].as_str().unwrap_or_default().to_owned();
    Ok(Begun { timeline, known, uncertainty })
}

/// Follows the clock until the process ends. A lost connection is told once, and so are a denial and the return.
///
/// A stream that has ended tells nothing: whoever revoked a key ended it too. So it is opened again first.
///
/// # Errors
/// There is no thread for confirming changes.
pub(crate) fn follow(
    client: &Client,
    (timeline, name): (&TimelineOptions, &FollowOption),
    shown: &Arc<impl Shown>,
    words: &Words,
    mut known: Known,
) -> std::io::Result<std::convert::Infallible> {
    let (_never_told, nothing) = mpsc::channel::<()>();
    let mut query = timeline.query();
    if let Some(name) = &name.follow {
        query.extend([("follow", name.clone()), ("steps", "true".to_owned())]);
    }
    let confirming = name.follow.as_ref().map(|_| confirming::begin(client.caller(), Arc::clone(shown))).transpose()?;
    let mut said = Said::There;
    let mut retry = RETRY_MIN;
    loop {
        let asked = boot_now();
        let mut news = Said::Lost;
        match client.stream(&["v1", "clock", "stream"], &query, None) {
            Err(failure) => news = Said::of(&failure),
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
                            take(&told, first.take(), &**shown, &mut known);
                            if let (Some(confirming), Some(follower_id)) = (&confirming, data["follower_id"].as_str()) {
                                let (follower_id, generation) = (follower_id.to_owned(), known.clock.generation);
                                let step = data["advance"]["step"].as_u64();
                                let timeline = timeline.timeline.clone();
                                let applied = Applied { follower_id, generation, step, timeline };
                                // It ends with the process.
                                let _ = confirming.send(applied);
                            }
                            news = Said::There;
                            Said::There.say(&mut said, words);
                            shown.heard();
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
        let wait = if matches!(news, Said::Denied(_)) { DENIED_RETRY } else { retry };
        if news != Said::There {
            news.say(&mut said, words);
        }
        // The other end of the channel is here, so this lasts as long as it says.
        let _ = nothing.recv_timeout(wait);
        retry = (retry * 2).min(RETRY_MAX);
    }
}

/// Returns what the boot clock of this host shows, in nanoseconds.
fn boot_now() -> i128 {
    counted().as_nanos().try_into().unwrap_or(i128::MAX)
}

fn take(told: &Told, asked: Option<i128>, shown: &impl Shown, known: &mut Known) {
    let (learned, uncertainty) = match asked {
        Some(asked) => told.learned(Some(known), asked, boot_now()),
        // A change: when it was written is known, and not when it was asked for.
        None => told.changed(known, boot_now()),
    };
    if learned.clock != known.clock || learned.offset != known.offset {
        shown.change(&learned, uncertainty);
    }
    *known = learned;
}

/// What the service told of a clock.
struct Told {
    clock: Clock,
    /// The host time of the service when it wrote this, at least.
    host: Instant<Wall>,
}

impl Told {
    /// Reads an answer or a message; `None` if it is not about a clock.
    fn read(value: &Value) -> Option<Self> {
        let moment = |name: &str| parse_timestamp::<Virtual>(value[name].as_str()?).ok();
        let origin_host = Instant::<Wall>::from_micros(moment("origin_host")?.micros())?;
        let (origin_virtual, shown) = (moment("origin_virtual")?, moment("current_time")?);
        let rate = Rate::from_factor(value["rate"].as_f64()?)?;
        let (state, host) = match value["state"].as_str()? {
            "running" => {
                // At a slow rate the clock shows the same for a while: this is when it began to.
                let passed = i128::from(shown.micros()) - i128::from(origin_virtual.micros());
                let rate_micros = i128::from(rate.micros());
                let passed = (passed.max(0) * 1_000_000 + rate_micros - 1) / rate_micros;
                let host = i64::try_from(i128::from(origin_host.micros()) + passed).ok()?;
                (ClockState::Running { origin_host, origin_virtual, rate }, Instant::from_micros(host)?)
            }
            "paused" => (ClockState::Paused { since: origin_host, at: origin_virtual, rate }, origin_host),
            _ => return None,
        };
        let clock = Clock { state, location: None, generation: value["generation"].as_u64()? };
        Some(Self { clock, host })
    }

    /// Returns what is known after an answer that was asked for then and has come now, and how uncertain host time is.
    ///
    /// The offset stays as it was where this does not contradict it, so that the clock does not go back by itself.
    fn learned(&self, before: Option<&Known>, asked: i128, came: i128) -> (Known, u64) {
        let host = i128::from(self.host.micros()) * 1_000;
        let (low, high) = (host - came, host - asked);
        // Of a clock that stands, or that was told by its beginning, only the lower bound is known.
        let offset = match before {
            Some(before) if self.is_paused() => before.offset.max(low),
            Some(before) => before.offset.clamp(low, high.max(low)),
            None => low,
        };
        (Known { clock: self.clock.clone(), offset }, u64::try_from(high - low).unwrap_or_default())
    }

    /// Returns what is known after a message that was sent when something changed.
    fn changed(&self, before: &Known, came: i128) -> (Known, u64) {
        let low = i128::from(self.host.micros()) * 1_000 - came;
        let offset = before.offset.max(low);
        (Known { clock: self.clock.clone(), offset }, u64::try_from(offset - low).unwrap_or_default())
    }

    const fn is_paused(&self) -> bool {
        matches!(self.clock.state, ClockState::Paused { .. })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told(state: &str, rate: f64, shown: &str) -> Told {
        let value = json!({
            "state": state, "rate": rate, "generation": 3, "current_time": shown,
            "origin_host": "2026-01-01T00:00:00Z", "origin_virtual": "2000-01-01T00:00:00Z",
        });
        Told::read(&value).unwrap()
    }

    const fn boot(millis: i128) -> i128 {
        millis * 1_000_000
    }

    #[test]
    fn an_answer_tells_host_time_between_question_and_answer() {
        let clock = told("running", 60.0, "2000-01-01T00:01:00Z");
        let host = i128::from(clock.host.micros()) * 1_000;
        assert_eq!(clock.host.micros() % 60_000_000, 1_000_000, "one second of host time has passed");
        let (known, uncertainty) = clock.learned(None, boot(100), boot(103));
        assert_eq!((known.offset, uncertainty), (host - 103_000_000, 3_000_000), "never ahead of the service");
        // Nothing contradicts it: it stays.
        let (later, _) = clock.learned(Some(&known), boot(90), boot(110));
        assert_eq!(later.offset, known.offset);
        // A quicker answer shows that it was too low, and a service whose host time was set back, that it was too high.
        let (quicker, _) = clock.learned(Some(&known), boot(99), boot(101));
        assert_eq!(quicker.offset, host - 101_000_000);
        let (back, _) = clock.learned(Some(&known), boot(5_000), boot(5_001));
        assert_eq!(back.offset, host - 5_000_000_000);
    }

    #[test]
    fn a_clock_that_stands_tells_no_upper_bound() {
        let known = Known { clock: told("paused", 1.0, "2000-01-01T00:00:00Z").clock, offset: i128::MAX };
        let (learned, _) = told("paused", 1.0, "2000-01-01T00:00:00Z").learned(Some(&known), boot(1), boot(2));
        assert_eq!(learned.offset, i128::MAX);
    }

    #[test]
    fn slow_clocks_are_told_by_when_they_began_to_show_it() {
        let clock = told("running", 0.000_001, "2000-01-01T00:00:00.000002Z");
        assert_eq!(clock.host.micros() % 60_000_000, 2_000_000);
        assert!(Told::read(&json!({})).is_none());
        assert!(Told::read(&json!({ "state": "lost" })).is_none());
    }
}
