use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, bail};

use crate::measure::wall_clock::{Stopwatch, pause};

const READY_TIME_MAX: Duration = Duration::from_secs(30);
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Returns a local address that nothing listens on.
pub(crate) fn free_address() -> anyhow::Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").context("no port is free")?;
    Ok(listener.local_addr()?)
}

pub(crate) fn wait_until_open(address: SocketAddr) -> anyhow::Result<()> {
    wait_until(|| TcpStream::connect(address).is_ok())
}

pub(crate) fn wait_until(is_ready: impl Fn() -> bool) -> anyhow::Result<()> {
    let watch = Stopwatch::start();
    while watch.elapsed() < READY_TIME_MAX {
        if is_ready() {
            return Ok(());
        }
        pause(LOOK_EVERY);
    }
    bail!("a server is not ready after {} s", READY_TIME_MAX.as_secs())
}

pub(crate) fn output_of(command: &mut Command) -> anyhow::Result<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().with_context(|| format!("{name} cannot be started"))?;
    if !output.status.success() {
        bail!("{name} ended with {}: {}", output.status, String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Returns the path of a program. If it is missing, tries to install Debian's package.
pub(crate) fn program(package: &str, find: impl Fn() -> Option<PathBuf>) -> anyhow::Result<PathBuf> {
    if let Some(path) = find() {
        return Ok(path);
    }
    eprintln!("{package} is missing; Debian's package is installed now");
    // A fresh machine has no package lists yet. If installing is not permitted, the next line reports it.
    for arguments in [&["update", "--quiet"][..], &["install", "--yes", "--quiet", "--no-install-recommends", package]]
    {
        let _ = Command::new("apt-get").args(arguments).output();
    }
    find().with_context(|| format!("{package} is missing; install it, for example with `apt-get install {package}`"))
}

/// Returns a program in the search path if it can be run.
pub(crate) fn in_path(name: &str) -> Option<PathBuf> {
    Command::new(name).arg("--version").output().ok().filter(|output| output.status.success())?;
    Some(PathBuf::from(name))
}
