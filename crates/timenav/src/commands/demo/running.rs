//! A service of the demo's own, and programs on its clock.

use std::ffi::OsString;
use std::io::{BufRead as _, BufReader, Read};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, anyhow, bail};
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::key_files::read_api_key;

/// How long programs that were asked to end may take for it.
const GRACE: Duration = Duration::from_secs(3);

/// This program, and where the service is that it asks.
struct Own {
    program: PathBuf,
    url: String,
    key: String,
}

impl Own {
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments).stdin(Stdio::null()).env("TIMENAV_URL", &self.url).env("TIMENAV_API_KEY", &self.key);
        command.env_remove("TIMENAV_TIMELINE").env_remove("TIMENAV_PROFILE").env("TZ", "UTC");
        command
    }
}

/// A service, and what runs on its clock. All of it ends with this.
pub(super) struct Running {
    own: Own,
    children: Vec<Child>,
    /// What each run says where programs cannot be put on the clock by the best way.
    notice: String,
}

impl Running {
    /// Starts a service on a free port of this machine, with its data in a folder.
    ///
    /// # Errors
    /// It does not start.
    pub(super) fn start(folder: &Path) -> anyhow::Result<Self> {
        let program = std::env::current_exe().context("this program cannot be found")?;
        let data = folder.join("data");
        let mut service = Command::new(&program);
        service.args(["serve", "--listen", "127.0.0.1:0", "--data"]).arg(&data).stdin(Stdio::null());
        let spawned = service.stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0).spawn();
        let mut child = spawned.context("the service cannot be started")?;
        let (told, errors) = (child.stdout.take(), child.stderr.take());
        let own = Own { program, url: String::new(), key: String::new() };
        let mut running = Self { own, children: vec![child], notice: String::new() };
        let mut line = String::new();
        let mut told = BufReader::new(told.context("the service has no output")?);
        told.read_line(&mut line).context("the service says nothing")?;
        let Some(url) = line.strip_prefix("listening on ") else {
            let mut said = String::new();
            // It has ended, or is ended.
            running.end();
            let _ = errors.map(|mut errors| errors.read_to_string(&mut said));
            bail!("the service does not start: {}", said.trim());
        };
        url.trim_end().clone_into(&mut running.own.url);
        running.own.key = read_api_key(&data.join("admin.key")).context("the service has no key")?.to_string();
        // What it says later is nobody's, and must not hold it up.
        thread::spawn(move || std::io::copy(&mut told, &mut std::io::sink()));
        thread::spawn(move || errors.map(|mut errors| std::io::copy(&mut errors, &mut std::io::sink())));
        Ok(running)
    }

    /// Runs a command of this program, such as `clock pause`, to its end.
    ///
    /// # Errors
    /// It fails.
    pub(super) fn command(&self, words: &str) -> anyhow::Result<()> {
        let arguments: Vec<&str> = words.split(' ').collect();
        let done = self.own.command(&arguments).output().context("this program cannot be started")?;
        if done.status.success() {
            return Ok(());
        }
        let told = String::from_utf8_lossy(&done.stderr);
        Err(anyhow!("timenav {words}: {}", told.trim().trim_start_matches("error: ")))
    }

    /// Makes sure that programs can be put on the clock here, which would otherwise look as if all of them were broken.
    /// Returns what there is to say of the way in which they are; mostly nothing.
    ///
    /// # Errors
    /// They cannot.
    pub(super) fn try_out(&mut self) -> anyhow::Result<&str> {
        let program = self.own.program.to_string_lossy();
        let tried = self.own.command(&["exec", "--strict", "--", &program, "--version"]).output();
        let tried = tried.context("timenav exec cannot be started")?;
        let told = String::from_utf8_lossy(&tried.stderr);
        if tried.status.success() {
            told.trim().clone_into(&mut self.notice);
            return Ok(&self.notice);
        }
        bail!("no program can be put on a virtual clock here: {}", told.trim().trim_start_matches("error: "))
    }

    /// Starts a program on the clock, which tells each of its lines under its number.
    ///
    /// # Errors
    /// It cannot be started.
    pub(super) fn tell(
        &mut self,
        number: usize,
        program: &[OsString],
        tell: &UnboundedSender<(usize, String)>,
    ) -> anyhow::Result<()> {
        let mut command = self.own.command(&["exec", "--strict", "--"]);
        command.args(program).stdout(Stdio::piped()).stderr(Stdio::piped());
        // In a group of its own, so that it can be ended with all that it started.
        let mut child = command.process_group(0).spawn().context("timenav exec cannot be started")?;
        let (told, errors) = (child.stdout.take(), child.stderr.take());
        self.children.push(child);
        let told = told.map(|told| Box::new(told) as Box<dyn Read + Send>);
        let errors = errors.map(|errors| Box::new(errors) as Box<dyn Read + Send>);
        for lines in [told, errors].into_iter().flatten() {
            let (tell, notice) = (tell.clone(), self.notice.clone());
            thread::spawn(move || {
                // Said before a program has begun, it is not what that shows.
                for line in BufReader::new(lines).lines().map_while(Result::ok).filter(|line| *line != notice) {
                    if tell.send((number, line)).is_err() {
                        return;
                    }
                }
            });
        }
        Ok(())
    }

    /// Ends all that runs: asks first, and then kills it. The service is the last.
    fn end(&mut self) {
        for signal in [Signal::TERM, Signal::KILL] {
            for child in self.children.iter().skip(1).rev() {
                // There is nobody left to be told.
                let _ = kill_process_group(Pid::from_child(child), signal);
            }
            if signal == Signal::TERM {
                self.wait_for_programs();
            }
        }
        for child in self.children.iter_mut().skip(1) {
            let _ = child.wait();
        }
        for mut service in self.children.drain(..).take(1) {
            let _ = kill_process_group(Pid::from_child(&service), Signal::TERM);
            let _ = service.wait();
        }
    }

    /// Waits until all programs have ended, or it takes too long.
    fn wait_for_programs(&mut self) {
        let (ended, mut all) = unbounded_channel::<()>();
        let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_time().build() else { return };
        for child in self.children.iter().skip(1) {
            let (pid, ended) = (Pid::from_child(child), ended.clone());
            thread::spawn(move || {
                use rustix::process::{WaitId, WaitIdOptions, waitid};

                // It stays where it is: whoever started it takes it away.
                let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
                while waitid(WaitId::Pid(pid), options).is_err_and(|error| error == rustix::io::Errno::INTR) {}
                drop(ended);
            });
        }
        drop(ended);
        // Nothing is ever sent: the channel ends when the last of them has.
        let _ = runtime.block_on(async { tokio::time::timeout(GRACE, all.recv()).await });
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end();
    }
}
