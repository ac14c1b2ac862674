//! PostgreSQL, of Debian, as it is configured by default: one prepared `INSERT` a commit, by its own pgbench.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::Context;

use super::{Peer, free_address, output_of, program, wait_until};
use crate::cores::on_core;
use crate::history::History;
use crate::running::Running;
use crate::setting::Setting;

/// Where Debian keeps one folder for each version.
const VERSIONS: &str = "/usr/lib/postgresql";
/// The user that Debian's package makes. The server refuses to be run by root.
const SERVER_USER: &str = "postgres";
/// How much longer than it counts pgbench runs, to connect its clients.
const CONNECT_TIME: Duration = Duration::from_secs(2);
/// What is inserted into.
const TABLE: &str = "CREATE TABLE events (position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, content text)";

/// A running PostgreSQL with an empty table of events.
pub(crate) struct Postgresql<'a> {
    setting: &'a Setting,
    _running: Running,
    programs: PathBuf,
    address: SocketAddr,
    script: PathBuf,
}

impl<'a> Postgresql<'a> {
    /// Starts it on a new database cluster.
    pub(crate) fn start(setting: &'a Setting) -> anyhow::Result<Self> {
        let postgres = program("postgresql", || newest()?.join("bin/postgres").canonicalize().ok())?;
        let programs = postgres.parent().context("postgres lies in no folder")?.to_owned();
        let folder = setting.empty_folder("postgresql")?;
        if is_root() {
            output_of(Command::new("chown").args([SERVER_USER, "--"]).arg(&folder))?;
        }
        let cluster = folder.join("cluster");
        let initdb = ["--auth", "trust", "--username", SERVER_USER, "--encoding", "UTF8", "--pgdata"];
        output_of(as_server(&programs.join("initdb")).args(initdb).arg(&cluster))?;
        let address = free_address()?;
        let mut command = as_server(&postgres);
        command.arg("-D").arg(&cluster).arg("-k").arg(&folder).args(["-h", &address.ip().to_string()]);
        command.args(["-p", &address.port().to_string()]);
        let running = Running::start(&mut command, setting.cores.measured, &setting.folder.join("postgresql.log"))?;
        let script = setting.folder.join("postgresql.sql");
        let content = History { named: false }.json(0).replace('\'', "''");
        fs::write(&script, format!("INSERT INTO events (content) VALUES ('{content}');\n"))?;
        let peer = Self { setting, _running: running, programs, address, script };
        // It takes connections before it takes statements.
        wait_until(|| peer.client("pg_isready").arg("--quiet").status().is_ok_and(|status| status.success()))?;
        output_of(peer.client("psql").args(["--quiet", "--command", TABLE]))?;
        Ok(peer)
    }

    fn client(&self, name: &str) -> Command {
        let mut command = Command::new(self.programs.join(name));
        let port = self.address.port().to_string();
        command.args(["--host", &self.address.ip().to_string(), "--port", &port, "--username", SERVER_USER]);
        command
    }
}

impl Peer for Postgresql<'_> {
    fn rate(&self, clients: usize) -> anyhow::Result<f64> {
        // Connecting is not counted, and is part of this time.
        let seconds = self.setting.measure_time + CONNECT_TIME;
        let (clients, seconds) = (clients.to_string(), seconds.as_secs().to_string());
        let mut pgbench = self.client("pgbench");
        pgbench.args(["--no-vacuum", "--protocol", "prepared", "--client", &clients, "--time", &seconds, "--file"]);
        pgbench.arg(&self.script).arg(SERVER_USER);
        let printed = on_core(self.setting.cores.load, || output_of(&mut pgbench))?;
        rate_in(&printed).with_context(|| format!("pgbench printed no rate: {printed}"))
    }
}

/// Returns the rate of `tps = 1234.5 (without initial connection time)`.
fn rate_in(printed: &str) -> Option<f64> {
    let line = printed.lines().find_map(|line| line.strip_prefix("tps = "))?;
    line.split(' ').next()?.parse().ok()
}

/// Returns the folder of the newest version that is installed.
fn newest() -> Option<PathBuf> {
    let folders = fs::read_dir(VERSIONS).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    let version = |path: &Path| path.file_name()?.to_str()?.parse::<u32>().ok();
    folders.filter(|path| version(path).is_some()).max_by_key(|path| version(path))
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Returns a command that is run by a user whom the server accepts.
fn as_server(program: &Path) -> Command {
    if !is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid", SERVER_USER, "--regid", SERVER_USER, "--clear-groups", "--"]).arg(program);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_that_without_connecting() {
        let printed = "latency average = 2.1 ms\ninitial connection time = 40 ms\n\
                       tps = 29876.54 (without initial connection time)\n";
        assert_eq!(rate_in(printed), Some(29876.54));
        assert_eq!(rate_in("pgbench: error"), None);
    }
}
