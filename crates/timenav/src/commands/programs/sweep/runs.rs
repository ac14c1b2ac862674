//! Runs a command at many dates concurrently, each on its own timeline.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use serde_json::{Map, Value, json};
use timenav_core::time::{Instant, Virtual};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::outcome::{Outcome, Run};
use crate::client::{Client, Interrupt};
use crate::exit::Failure;
use crate::output;
use crate::wiring::ports::counted;

const GRACE: Duration = Duration::from_secs(5);
/// How much longer than its command a timeline lives if it is not ended explicitly.
const TIMELINE_LIVES_ON: Duration = Duration::from_mins(10);
/// The number of the timeline for the trial run.
const TRIAL: usize = 0;

pub(super) struct Plan {
    pub(super) command: Vec<OsString>,
    /// This executable, which runs the command.
    pub(super) program: PathBuf,
    pub(super) connection: Vec<OsString>,
    /// The prefix of timeline ids; a number follows.
    pub(super) name: String,
    /// The timeline to fork for each date.
    pub(super) fork_of: Option<String>,
    pub(super) is_paused: bool,
    /// The timeout, in host time.
    pub(super) timeout: Duration,
    pub(super) at_once: usize,
    pub(super) folder: PathBuf,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Runs,
    ApiRequest,
    Killed,
}

struct RunningJob {
    child: Child,
    date: Instant<Virtual>,
    timeline: String,
    output: PathBuf,
    begun: Duration,
    deadline: Duration,
    stage: Stage,
    is_late: bool,
}

pub(super) struct Runner<'a> {
    client: &'a Client,
    interrupt: Interrupt,
    plan: Plan,
    going: BTreeMap<usize, RunningJob>,
    sender: UnboundedSender<usize>,
    finished: UnboundedReceiver<usize>,
}

impl<'a> Runner<'a> {
    /// From now on the runner handles Ctrl-C.
    pub(super) fn new(client: &'a Client, plan: Plan) -> Result<Self, Failure> {
        let (sender, finished) = unbounded_channel();
        Ok(Self { client, interrupt: client.interrupt()?, plan, going: BTreeMap::new(), sender, finished })
    }

    /// Checks that programs can be put on a clock; otherwise the command would appear to fail at every date.
    pub(super) fn try_out(&self, date: Instant<Virtual>) -> Result<(), Failure> {
        let timeline = self.create(TRIAL, date)?;
        let tried = self.exec(&timeline).arg(&self.plan.program).arg("--version").stdin(Stdio::null()).output();
        self.end(&timeline);
        let tried = tried.context("timenav exec cannot be started")?;
        if tried.status.success() {
            return Ok(());
        }
        let stderr = String::from_utf8_lossy(&tried.stderr);
        let stderr = stderr.trim().trim_start_matches("error: ");
        Err(anyhow!("this system cannot put programs on a virtual clock: {stderr}").into())
    }

    /// Runs the command at numbered dates and passes on each result. Returns whether it finished. Ctrl-C and errors end
    /// the running commands.
    pub(super) fn run(
        &mut self,
        dates: &[(usize, Instant<Virtual>)],
        each: &mut dyn FnMut(usize, Run),
    ) -> Result<bool, Failure> {
        let mut waiting = dates.iter();
        let (mut failure, mut is_interrupted) = (None, false);
        loop {
            while failure.is_none() && !is_interrupted && self.going.len() < self.plan.at_once {
                let Some((number, date)) = waiting.next() else { break };
                match self.start(*number, *date) {
                    Ok(going) => drop(self.going.insert(*number, going)),
                    Err(error) => {
                        failure = Some(error);
                        self.press_all();
                    }
                }
            }
            if self.going.is_empty() {
                return failure.map_or(Ok(!is_interrupted), Err);
            }
            let now = counted();
            let patience = self.going.values().map(|going| going.deadline.saturating_sub(now)).min().unwrap_or(GRACE);
            let finished = &mut self.finished;
            let next = async { tokio::time::timeout(patience, finished.recv()).await };
            match self.client.unless(&mut self.interrupt, next) {
                None => {
                    is_interrupted = true;
                    output::note("interrupted; stopping the running commands (press Ctrl-C again to kill them)");
                    self.press_all();
                }
                Some(Ok(number)) => {
                    let ended = number.and_then(|number| self.going.remove(&number).map(|going| (number, going)));
                    let Some((number, going)) = ended else { continue };
                    let is_needed = failure.is_none() && !is_interrupted;
                    let run = self.finish(going, is_needed)?;
                    if is_needed {
                        each(number, run);
                    }
                }
                Some(Err(_)) => {
                    let now = counted();
                    for going in self.going.values_mut().filter(|going| going.deadline <= now) {
                        going.is_late = going.is_late || going.stage == Stage::Runs;
                        going.press();
                    }
                }
            }
        }
    }

    fn press_all(&mut self) {
        self.going.values_mut().for_each(RunningJob::press);
    }

    fn create(&self, number: usize, date: Instant<Virtual>) -> Result<String, Failure> {
        let name = format!("{}-{number}", self.plan.name);
        let lives = self.plan.timeout.saturating_add(TIMELINE_LIVES_ON).as_secs();
        let mut body = object(json!({ "timeline_id": name, "expires_in": format!("{lives}s") }));
        if let Some(timeline) = &self.plan.fork_of {
            body.insert("fork_of".to_owned(), timeline.as_str().into());
        }
        self.client.post(&["timelines"], body)?;
        self.set(&name, date).inspect_err(|_| self.end(&name))?;
        Ok(name)
    }

    fn set(&self, timeline: &str, date: Instant<Virtual>) -> Result<(), Failure> {
        let of_timeline = || object(json!({ "timeline_id": timeline }));
        if self.plan.is_paused {
            self.client.post(&["v1", "pause-time"], of_timeline())?;
        }
        // Timers that are due on the way are outside the scope of this test.
        let travel = json!({ "timeline_id": timeline, "destination_time": date.to_string(), "wait_for_timers": false });
        let answer = self.client.post(&["v1", "travel"], object(travel))?;
        if !self.plan.is_paused && answer.value["state"] == "paused" {
            self.client.post(&["v1", "resume-time"], of_timeline())?;
        }
        Ok(())
    }

    /// Ends a timeline. If that fails, it expires later.
    fn end(&self, timeline: &str) {
        let _ = self.client.delete(&["timeline", timeline], &[]);
    }

    fn exec(&self, timeline: &str) -> Command {
        let mut command = Command::new(&self.plan.program);
        // A program on host time would pass at every date, so `--strict` is not optional.
        command.args(["exec", "--strict", "--timeline", timeline]).args(&self.plan.connection).arg("--");
        command.env("TIMENAV_TIMELINE", timeline);
        command
    }

    fn start(&self, number: usize, date: Instant<Virtual>) -> Result<RunningJob, Failure> {
        let timeline = self.create(number + 1, date)?;
        let output = self.plan.folder.join(format!("{}.log", date.to_string().replace(':', "-")));
        let spawned = self.spawn(number, &timeline, &output);
        let child = spawned.inspect_err(|_| self.end(&timeline))?;
        let begun = counted();
        let deadline = begun.saturating_add(self.plan.timeout);
        Ok(RunningJob { child, date, timeline, output, begun, deadline, stage: Stage::Runs, is_late: false })
    }

    fn spawn(&self, number: usize, timeline: &str, output: &PathBuf) -> anyhow::Result<Child> {
        let file = File::create(output).with_context(|| format!("{} cannot be written", output.display()))?;
        let mut command = self.exec(timeline);
        command.args(&self.plan.command).stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file);
        // In its own process group, so that it can be ended with its children.
        let child = command.process_group(0).spawn().context("timenav exec cannot be started")?;
        let (sender, pid) = (self.sender.clone(), Pid::from_child(&child));
        thread::spawn(move || {
            // Not reaped until the group has ended: until then its process id is not reused.
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            while waitid(WaitId::Pid(pid), options).is_err_and(|error| error == Errno::INTR) {}
            // The receiver outlives all commands.
            let _ = sender.send(number);
        });
        Ok(child)
    }

    fn finish(&self, mut going: RunningJob, is_needed: bool) -> Result<Run, Failure> {
        going.kill(Signal::KILL);
        let status = going.child.wait().context("the exit status of the command cannot be read")?;
        let took = counted().saturating_sub(going.begun);
        self.end(&going.timeline);
        let outcome = match (going.is_late, status.code(), status.signal()) {
            (true, ..) => Outcome::TimedOut,
            (false, Some(0), _) => Outcome::Passed,
            (false, Some(code), _) => Outcome::Exited(code),
            (false, None, signal) => Outcome::Killed(signal.unwrap_or_default()),
        };
        let is_kept = is_needed && !outcome.passes();
        if !is_kept {
            std::fs::remove_file(&going.output)
                .with_context(|| format!("{} cannot be deleted", going.output.display()))?;
        }
        Ok(Run { date: going.date, outcome, took, output: is_kept.then_some(going.output) })
    }
}

impl Drop for Runner<'_> {
    fn drop(&mut self) {
        for going in self.going.values_mut() {
            going.kill(Signal::KILL);
            let _ = going.child.wait();
        }
    }
}

impl RunningJob {
    /// Ends the command, first with SIGTERM, then with SIGKILL.
    fn press(&mut self) {
        let (stage, signal) = match self.stage {
            Stage::Runs => (Stage::ApiRequest, Signal::TERM),
            Stage::ApiRequest | Stage::Killed => (Stage::Killed, Signal::KILL),
        };
        self.stage = stage;
        self.deadline = counted().saturating_add(GRACE);
        self.kill(signal);
    }

    /// Sends a signal to the process group of the command. Processes that have left the group are not reached.
    fn kill(&self, signal: Signal) {
        // The process has exited already.
        let _ = kill_process_group(Pid::from_child(&self.child), signal);
    }
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}
