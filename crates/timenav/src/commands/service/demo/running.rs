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

const GRACE: Duration = Duration::from_secs(3);

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

/// A service and programs on its clock. All are stopped on drop.
pub(super) struct Running {
    own: Own,
    children: Vec<Child>,
    /// The notice that `timenav exec` prints if the best method is not available.
    notice: String,
}

impl Running {
    /// Starts a service on a free local port with its data in a folder.
    pub(super) fn start(folder: &Path) -> anyhow::Result<Self> {
        let program = std::env::current_exe().context("this program cannot be found")?;
        let data = folder.join("data");
        let mut service = Command::new(&program);
        service.args(["serve", "--listen", "127.0.0.1:0", "--data"]).arg(&data).stdin(Stdio::null());
        let spawned = service.stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0).spawn();
        let mut child = spawned.context("the service cannot be started")?;
        let (stdout, errors) = (child.stdout.take(), child.stderr.take());
        let own = Own { program, url: String::new(), key: String::new() };
        let mut running = Self { own, children: vec![child], notice: String::new() };
        let mut line = String::new();
        let mut stdout = BufReader::new(stdout.context("the service has no output")?);
        stdout.read_line(&mut line).context("the service printed nothing")?;
        let Some(url) = line.strip_prefix("listening on ") else {
            let mut stderr_text = String::new();
            // It has exited or is being stopped.
            running.end();
            let _ = errors.map(|mut errors| errors.read_to_string(&mut stderr_text));
            bail!("the service did not start: {}", stderr_text.trim());
        };
        url.trim_end().clone_into(&mut running.own.url);
        running.own.key = read_api_key(&data.join("admin.key")).context("the service has no key")?.to_string();
        // Later output is discarded, so that a full pipe cannot block it.
        thread::spawn(move || std::io::copy(&mut stdout, &mut std::io::sink()));
        thread::spawn(move || errors.map(|mut errors| std::io::copy(&mut errors, &mut std::io::sink())));
        Ok(running)
    }

    /// Runs a command of this program to completion, such as `clock pause`.
    pub(super) fn command(&self, words: &str) -> anyhow::Result<()> {
        let arguments: Vec<&str> = words.split(' ').collect();
        let done = self.own.command(&arguments).output().context("this program cannot be started")?;
        if done.status.success() {
            return Ok(());
        }
        let stderr = String::from_utf8_lossy(&done.stderr);
        Err(anyhow!("timenav {words}: {}", stderr.trim().trim_start_matches("error: ")))
    }

    /// Checks that programs can be put on the clock on this system; otherwise every demo program would appear broken.
    /// Returns a notice about the method, usually empty.
    pub(super) fn try_out(&mut self) -> anyhow::Result<&str> {
        let program = self.own.program.to_string_lossy();
        let tried = self.own.command(&["exec", "--strict", "--", &program, "--version"]).output();
        let tried = tried.context("timenav exec cannot be started")?;
        let stderr = String::from_utf8_lossy(&tried.stderr);
        if tried.status.success() {
            stderr.trim().clone_into(&mut self.notice);
            return Ok(&self.notice);
        }
        bail!("this system cannot put programs on a virtual clock: {}", stderr.trim().trim_start_matches("error: "))
    }

    /// Starts a program on the clock and sends each of its lines with its number.
    pub(super) fn send_lines(
        &mut self,
        number: usize,
        program: &[OsString],
        sender: &UnboundedSender<(usize, String)>,
    ) -> anyhow::Result<()> {
        let mut command = self.own.command(&["exec", "--strict", "--"]);
        command.args(program).stdout(Stdio::piped()).stderr(Stdio::piped());
        // In its own process group, so that it can be ended with its children.
        let mut child = command.process_group(0).spawn().context("timenav exec cannot be started")?;
        let (stdout, errors) = (child.stdout.take(), child.stderr.take());
        self.children.push(child);
        let stdout = stdout.map(|stdout| Box::new(stdout) as Box<dyn Read + Send>);
        let errors = errors.map(|errors| Box::new(errors) as Box<dyn Read + Send>);
        for lines in [stdout, errors].into_iter().flatten() {
            let (sender, notice) = (sender.clone(), self.notice.clone());
            thread::spawn(move || {
                // The notice is not output of the program.
                for line in BufReader::new(lines).lines().map_while(Result::ok).filter(|line| *line != notice) {
                    if sender.send((number, line)).is_err() {
                        return;
                    }
                }
            });
        }
        Ok(())
    }

    /// Ends all processes, first with SIGTERM, then with SIGKILL. The service is last.
    fn end(&mut self) {
        for signal in [Signal::TERM, Signal::KILL] {
            for child in self.children.iter().skip(1).rev() {
                // The process has exited already.
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

    /// Waits until all programs have exited or the grace period is over.
    fn wait_for_programs(&mut self) {
        let (ended, mut all) = unbounded_channel::<()>();
        let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_time().build() else { return };
        for child in self.children.iter().skip(1) {
            let (pid, ended) = (Pid::from_child(child), ended.clone());
            thread::spawn(move || {
                use rustix::process::{WaitId, WaitIdOptions, waitid};

                // Not reaped here: the owner of the child does that.
                let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
                while waitid(WaitId::Pid(pid), options).is_err_and(|error| error == rustix::io::Errno::INTR) {}
                drop(ended);
            });
        }
        drop(ended);
        // Nothing is ever sent: the channel closes when the last sender is dropped.
        let _ = runtime.block_on(async { tokio::time::timeout(GRACE, all.recv()).await });
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end();
    }
}
