//! Child processes, which are stopped in any case.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Duration;

use anyhow::{Context, bail};
use rustix::process::{Pid, Signal, kill_process};

use crate::load::count;
use crate::measure::cores::on_core;
use crate::measure::wall_clock::{Stopwatch, pause};

const READY_TIME_MAX: Duration = Duration::from_mins(1);
const END_TIME_MAX: Duration = Duration::from_secs(20);
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// A server process. It is stopped on drop.
pub(crate) struct Running {
    name: String,
    child: Child,
    lines: Receiver<String>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory {
    process: u32,
}

impl Running {
    /// Starts a program on one core. Its stderr goes to a file.
    pub(crate) fn start(command: &mut Command, core: Option<usize>, errors: &Path) -> anyhow::Result<Self> {
        let name = command.get_program().to_string_lossy().into_owned();
        let errors = File::create(errors).with_context(|| format!("{} cannot be made", errors.display()))?;
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(errors);
        let mut child = on_core(core, || command.spawn()).with_context(|| format!("{name} cannot be started"))?;
        let (sender, lines) = mpsc::channel();
        if let Some(output) = child.stdout.take() {
            // The pipe is always read to its end, so that it never fills up.
            std::thread::spawn(move || {
                for line in BufReader::new(output).lines().map_while(Result::ok) {
                    let _ = sender.send(line);
                }
            });
        }
        Ok(Self { name, child, lines })
    }

    /// Waits for a line with this prefix, and returns the rest of it.
    pub(crate) fn wait_for_line(&self, start: &str) -> anyhow::Result<String> {
        let watch = Stopwatch::start();
        loop {
            let left = READY_TIME_MAX.saturating_sub(watch.elapsed());
            match self.lines.recv_timeout(left) {
                Ok(line) => {
                    if let Some(rest) = line.strip_prefix(start) {
                        return Ok(rest.to_owned());
                    }
                }
                Err(RecvTimeoutError::Timeout) => bail!("{} did not say `{start}` in time", self.name),
                Err(RecvTimeoutError::Disconnected) => bail!("{} ended before it said `{start}`", self.name),
            }
        }
    }

    pub(crate) fn memory(&self) -> Memory {
        Memory { process: self.child.id() }
    }

    /// Returns the number of entries in a `/proc` folder of the process: `task` for threads, `fd` for descriptors.
    pub(crate) fn entries_of(&self, folder: &str) -> anyhow::Result<usize> {
        let path = format!("/proc/{}/{folder}", self.child.id());
        Ok(std::fs::read_dir(&path).with_context(|| format!("{path} cannot be read"))?.count())
    }

    pub(crate) fn stop(mut self) -> anyhow::Result<ExitStatus> {
        self.end()
    }

    fn end(&mut self) -> anyhow::Result<ExitStatus> {
        if let Some(status) = self.child.try_wait()? {
            return Ok(status);
        }
        // The bare server ends when its input does, the service on a signal.
        self.child.stdin.take();
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        if let Some(pid) = pid {
            kill_process(pid, Signal::TERM)?;
        }
        let watch = Stopwatch::start();
        while watch.elapsed() < END_TIME_MAX {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status);
            }
            pause(LOOK_EVERY);
        }
        self.child.kill()?;
        self.child.wait()?;
        bail!("{} did not end when it was told, and was killed", self.name);
    }
}

impl Memory {
    pub(crate) fn of_this_process() -> Self {
        Self { process: std::process::id() }
    }

    /// Returns the resident memory of the process, in millions of bytes.
    pub(crate) fn megabytes(self) -> anyhow::Result<f64> {
        let path = format!("/proc/{}/statm", self.process);
        let text = std::fs::read_to_string(&path).with_context(|| format!("{path} cannot be read"))?;
        let pages = text.split(' ').nth(1).with_context(|| format!("{path} has no second number"))?;
        let pages: usize = pages.parse().with_context(|| format!("{path} holds no number of pages"))?;
        Ok(count(pages * rustix::param::page_size()) / 1e6)
    }

    pub(crate) fn peak_megabytes(self) -> anyhow::Result<f64> {
        let path = format!("/proc/{}/status", self.process);
        let text = std::fs::read_to_string(&path).with_context(|| format!("{path} cannot be read"))?;
        let peak = text.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"));
        let kilobytes: usize = peak.with_context(|| format!("{path} tells no peak"))?.trim().parse()?;
        Ok(count(kilobytes) * 1_024.0 / 1e6)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Err(error) = self.end() {
            eprintln!("{error:#}");
        }
    }
}
