//! `timenav demo programs`: clocks in several languages, all moved by one travel.

use std::time::Duration;

use anyhow::{Context as _, anyhow};
use timenav_core::time::parse_duration;
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::timeout;

use super::picture::Picture;
use super::running::Running;
use super::tellers;
use crate::client::INTERRUPTED_EXIT;
use crate::exit::Failure;
use crate::output;
use crate::wiring::surroundings::Surroundings;

/// How long programs may take to start: some are compiled first or create a database.
const START_MAX: Duration = Duration::from_mins(1);
const STORY: &[(&str, &str)] = &[
    ("clock now", "all programs show one timeline's clock, which started at host time"),
    ("clock travel 2031-05-06T07:08:09Z", "one command moves them all"),
    ("clock pause", "they stop"),
    ("clock travel 1969-07-20T20:17:40Z", "back to before 1970, while the clock is paused"),
    ("clock rate 3600", "an hour per second, once the clock runs again"),
    ("clock resume", "they run again"),
    ("clock rate 1", "at the rate of the host clock"),
    ("clock travel 2038-01-19T03:14:06Z", "two seconds before 32-bit counters overflow"),
];

/// Shows programs in several languages on one virtual clock.
///
/// It runs bash, Python, Node, Perl, Ruby, Go and PostgreSQL, if installed, under `timenav exec`, while the commands
/// shown move the clock. It takes half a minute; Ctrl-C ends it.
#[derive(Debug, clap::Args)]
pub(crate) struct ProgramsCommand {
    /// How long to show each step.
    #[arg(long, value_name = "DURATION", default_value = "4s", value_parser = step)]
    step: Duration,
}

fn step(text: &str) -> Result<Duration, String> {
    let duration = parse_duration(text).map_err(|error| error.to_string())?;
    let micros = u64::try_from(duration.exact().micros()).unwrap_or_default();
    if duration.months() > 0 || micros == 0 {
        return Err("write host time, such as 4s, without months".to_owned());
    }
    Ok(Duration::from_micros(micros))
}

pub(super) fn run(command: &ProgramsCommand, surroundings: &Surroundings) -> Result<(), Failure> {
    let folder = tempfile::tempdir().context("temporary files cannot be created")?;
    let tellers = tellers::installed(&surroundings.program_folders, folder.path())?;
    if tellers.is_empty() {
        return Err(anyhow!("none of bash, Python, Node, Perl, Ruby, Go and PostgreSQL is installed").into());
    }
    let runtime = Builder::new_current_thread().enable_all().build().context("the async runtime cannot be started")?;
    // Before any child process is started, which would otherwise be left running.
    let signals = |kind| runtime.block_on(async { signal(kind) }).context("signals cannot be received");
    let ends = [signals(SignalKind::interrupt())?, signals(SignalKind::terminate())?];
    let mut running = Running::start(folder.path())?;
    let notice = running.try_out()?;
    if !notice.is_empty() {
        output::note(notice);
    }
    let (sender, lines) = unbounded_channel();
    for (number, teller) in tellers.iter().enumerate() {
        running.send_lines(number, &teller.command, &sender)?;
    }
    let picture = Picture::new(tellers.iter().map(|teller| teller.name).collect());
    let mut audience = Audience { runtime, ends, lines, picture };
    audience.picture.begin("starting the programs; Ctrl-C ends them");
    let mut is_watched = audience.look(START_MAX, Picture::is_complete);
    for (words, why) in STORY {
        if !is_watched {
            break;
        }
        let step = format!("$ timenav {words:34} # {why}");
        audience.picture.begin(&step);
        running.command(words)?;
        is_watched = audience.look(command.step, |_| false);
        if is_watched {
            audience.picture.end(&step)?;
        }
    }
    audience.picture.leave();
    drop(running);
    if !is_watched {
        drop(folder);
        std::process::exit(INTERRUPTED_EXIT);
    }
    output::write("That was one clock. Put your own program on one: timenav serve, and timenav exec -- COMMAND\n")
}

struct Audience {
    runtime: Runtime,
    ends: [Signal; 2],
    lines: UnboundedReceiver<(usize, String)>,
    picture: Picture,
}

impl Audience {
    /// Collects output until `is_enough` or for at most `most`. Returns false on Ctrl-C.
    fn look(&mut self, most: Duration, is_enough: impl Fn(&Picture) -> bool) -> bool {
        let Self { runtime, ends: [interrupt, terminate], lines, picture } = self;
        let looking = async {
            while !is_enough(picture) {
                let Some((number, line)) = lines.recv().await else { std::future::pending().await };
                picture.take(number, &line);
            }
        };
        runtime.block_on(async {
            tokio::select! {
                // The result is the same after a timeout.
                _ = timeout(most, looking) => true,
                _ = interrupt.recv() => false,
                _ = terminate.recv() => false,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polling_interval_is_a_host_duration() {
        assert_eq!(step("0.5s"), Ok(Duration::from_millis(500)));
        for wrong in ["P1M", "0s", "soon"] {
            assert!(step(wrong).is_err(), "{wrong}");
        }
    }
}
