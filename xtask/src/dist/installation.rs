//! Installs packages into empty folders, as users do, and starts the service.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use rustix::process::{Pid, Signal};
use tempfile::TempDir;

use crate::{process, tools};

/// Time limit from the installation command to the first response.
const TIME_MAX: Duration = Duration::from_mins(1);
/// Environment variables that change what pip, Python, npm or the service does.
const SETTINGS: [&str; 4] = ["NPM_CONFIG_", "PIP_", "PYTHON", "TIMENAV_"];
/// Printed by the service before its address, once it accepts requests.
const LISTENING: &str = "listening on http://";
const SERVE: [&str; 4] = ["serve", "--demo", "--listen", "127.0.0.1:0"];
const KEY: &str = "timenav-data/admin.key";

/// Installs a wheel into a new virtual environment, without network access.
pub(super) fn check_wheel(wheel: &Path, version: &str) -> anyhow::Result<()> {
    let folder = TempDir::new()?;
    let venv = folder.path().join("venv");
    tools::make_venv(&venv)?;
    let call = |program: &str, arguments: &[&str]| {
        let mut command = clean(&venv.join("bin").join(program), folder.path());
        command.args(arguments);
        command
    };
    let mut install = call("python", &["-m", "pip", "install", "--quiet", "--no-index", "--disable-pip-version-check"]);
    check(wheel, &mut install, &mut call("timenav", &SERVE), folder.path())?;
    expect_version(&mut call("timenav", &["--version"]), version)?;
    expect_version(&mut call("python", &["-m", "timenav_server", "--version"]), version)
}

/// Installs an npm package into an empty folder, without network access.
pub(super) fn check_npm(package: &Path, version: &str) -> anyhow::Result<()> {
    let folder = TempDir::new()?;
    // Without its own package.json, npm would install into a parent folder that has one.
    fs::write(folder.path().join("package.json"), "{}\n")?;
    let call = |program: &str, arguments: &[&str]| {
        let mut command = clean(Path::new(program), folder.path());
        command.args(arguments).env("npm_config_cache", folder.path().join("cache"));
        command.env("npm_config_update_notifier", "false");
        command
    };
    let program = folder.path().join("node_modules/.bin/timenav");
    let program = program.to_str().context("the temporary folder has a name that is not text")?;
    let mut install = call("npm", &["install", "--offline", "--no-audit", "--no-fund", "--loglevel=error"]);
    check(package, &mut install, &mut call(program, &SERVE), folder.path())?;
    expect_version(&mut call(program, &["--version"]), version)?;
    expect_version(&mut call("npx", &["--offline", "timenav", "--version"]), version)
}

fn clean(program: &Path, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder);
    for (name, _) in std::env::vars_os() {
        let upper = name.to_string_lossy().to_uppercase();
        if SETTINGS.iter().any(|setting| upper.starts_with(setting)) {
            command.env_remove(name);
        }
    }
    command
}

/// Installs a package, starts the service, and prints the time until the service responds.
fn check(package: &Path, install: &mut Command, serve: &mut Command, folder: &Path) -> anyhow::Result<()> {
    let start = Instant::now();
    process::run(install.arg(package).stdout(Stdio::null()))?;
    let service = Service::start(serve)?;
    let key = fs::read_to_string(folder.join(KEY)).context("the service did not write a key")?;
    let response = get(&service.address, "/v1/clock", key.trim())?;
    let time = start.elapsed();
    ensure!(response.starts_with("HTTP/1.1 200 "), "GET /v1/clock returned {response}");
    service.stop()?;
    let name = package.file_name().unwrap_or_default().display();
    println!("{name}: first response {:.1} s after the installation began", time.as_secs_f64());
    ensure!(time <= TIME_MAX, "that is more than {} s", TIME_MAX.as_secs());
    Ok(())
}

/// A running service. It is killed on drop.
struct Service {
    child: Child,
    address: String,
}

impl Service {
    fn start(serve: &mut Command) -> anyhow::Result<Self> {
        let quiet = serve.env("TIMENAV_LOG_FILTER", "warn").stdout(Stdio::piped());
        let child = quiet.spawn().context("the service cannot be started")?;
        let mut service = Self { child, address: String::new() };
        let stdout = service.child.stdout.take().context("the service has no stdout")?;
        let (sender, receiver) = mpsc::channel();
        // Ends with the service, which closes its stdout.
        thread::spawn(move || {
            let mut line = String::new();
            let read = BufReader::new(stdout).read_line(&mut line);
            // After a timeout the receiver is gone.
            let _ = sender.send(read.map(|_| line));
        });
        let line = receiver.recv_timeout(TIME_MAX).context("the service does not report its address")??;
        let address = line.trim_end().strip_prefix(LISTENING);
        service.address.push_str(address.with_context(|| format!("the service printed {line:?}"))?);
        Ok(service)
    }

    fn stop(mut self) -> anyhow::Result<()> {
        rustix::process::kill_process(Pid::from_child(&self.child), Signal::TERM)?;
        let status = process::wait(&mut self.child, TIME_MAX).context("the service does not stop")?;
        ensure!(status.success(), "the service ended with {status}");
        Ok(())
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // Both fail if it has already exited.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn get(address: &str, path: &str, key: &str) -> anyhow::Result<String> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(TIME_MAX))?;
    let fields = format!("host: {address}\r\nauthorization: Bearer {key}\r\nconnection: close");
    write!(stream, "GET {path} HTTP/1.1\r\n{fields}\r\n\r\n")?;
    let mut response = String::new();
    stream.read_to_string(&mut response)?;
    Ok(response)
}

fn expect_version(command: &mut Command, version: &str) -> anyhow::Result<()> {
    let printed = String::from_utf8(process::output(command)?)?;
    ensure!(printed.split_whitespace().take(2).eq(["timenav", version]), "{command:?} printed {printed:?}");
    Ok(())
}
