//! A new PostgreSQL cluster of Debian's package with its default configuration: acknowledged commits are durable.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, iter};

use anyhow::Context;

use crate::measure::cores::on_core;
use crate::measure::setting::Setting;
use crate::running::Running;
use crate::service::Service;
use crate::starting::{free_address, output_of, program, wait_until};

/// Debian's folder with one subfolder per version.
const VERSIONS: &str = "/usr/lib/postgresql";
/// The user created by Debian's package. The server does not run as root.
const SERVER_USER: &str = "postgres";
const FIRST: &str = "postgres";
pub(crate) const SERVED: &str = "served";
const SERVED_DATA: &str = "on-postgresql-data";
const SIGNING_KEY: &str = "signing.key";
/// Additional run time of pgbench for connecting, in seconds.
const CONNECT_SECS: u64 = 2;

pub(crate) struct Cluster<'a> {
    setting: &'a Setting,
    _running: Running,
    programs: PathBuf,
    address: SocketAddr,
}

impl<'a> Cluster<'a> {
    pub(crate) fn start(setting: &'a Setting, name: &str) -> anyhow::Result<Self> {
        let postgres = program("postgresql", || newest()?.join("bin/postgres").canonicalize().ok())?;
        let programs = postgres.parent().context("postgres lies in no folder")?.to_owned();
        let folder = setting.empty_folder(name)?;
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
        let cluster = Self { setting, _running: running, programs, address };
        // The server accepts connections before statements.
        wait_until(|| cluster.client("pg_isready").arg("--quiet").status().is_ok_and(|status| status.success()))?;
        Ok(cluster)
    }

    pub(crate) const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Starts the service on an empty database. `address` is that of this server or of a proxy to it.
    pub(crate) fn serve(&self, address: SocketAddr, arguments: &[&str]) -> anyhow::Result<Service<'a>> {
        let data = self.renew_with_key(SERVED, SERVED_DATA)?;
        self.serve_from(&data, (address, SERVED), arguments)
    }

    /// Starts the service of [`Cluster::serve`] again, on the database that it has filled.
    pub(crate) fn serve_again(&self, arguments: &[&str]) -> anyhow::Result<Service<'a>> {
        self.serve_from(&self.setting.folder.join(SERVED_DATA), (self.address, SERVED), arguments)
    }

    /// Starts the service on an empty database with this name, which is kept.
    pub(crate) fn serve_new(&self, database: &str) -> anyhow::Result<Service<'a>> {
        let data = self.renew_with_key(database, &cached_data(database))?;
        self.serve_from(&data, (self.address, database), &[])
    }

    pub(crate) fn serve_cached(&self, database: &str) -> anyhow::Result<Service<'a>> {
        self.serve_from(&self.setting.folder.join(cached_data(database)), (self.address, database), &[])
    }

    /// Recreates a database, and a data folder with a signing key.
    fn renew_with_key(&self, database: &str, folder: &str) -> anyhow::Result<PathBuf> {
        self.renew(database, "template1")?;
        let data = self.setting.empty_folder(folder)?;
        let key = data.join(SIGNING_KEY);
        output_of(Command::new(&self.setting.service).args(["signing-key", "new"]).arg(&key))?;
        Ok(data)
    }

    /// Starts another service on the same database, with the same signing key and its own folder.
    pub(crate) fn serve_replica(&self, first: &Service<'_>, name: &str) -> anyhow::Result<Service<'a>> {
        let data = self.setting.empty_folder(&format!("{SERVED_DATA}-{name}"))?;
        fs::copy(first.data().join(SIGNING_KEY), data.join(SIGNING_KEY)).context("the signing key cannot be copied")?;
        self.serve_from(&data, (self.address, SERVED), &["--replicas", "--join", "--replica-name", name])
    }

    fn serve_from(
        &self,
        data: &Path,
        (address, database): (SocketAddr, &str),
        arguments: &[&str],
    ) -> anyhow::Result<Service<'a>> {
        let url = format!("postgres://{SERVER_USER}@{address}/{database}?sslmode=disable");
        Service::start(self.setting, data, &[&["--store", &url][..], arguments].concat())
    }

    pub(crate) fn renew(&self, database: &str, template: &str) -> anyhow::Result<()> {
        let drop = format!("DROP DATABASE IF EXISTS {database}");
        self.query(FIRST, &[&drop, &format!("CREATE DATABASE {database} TEMPLATE {template}")]).map(|_| ())
    }

    /// Runs statements in a database, each in its own transaction, and returns the printed rows without headers.
    pub(crate) fn query(&self, database: &str, statements: &[&str]) -> anyhow::Result<String> {
        let mut psql = self.client("psql");
        psql.args(["--quiet", "--no-psqlrc", "--tuples-only", "--no-align", "--set", "ON_ERROR_STOP=1"]);
        for statement in statements {
            psql.args(["--command", statement]);
        }
        output_of(psql.args(["--dbname", database]))
    }

    /// Returns transactions per second of this many clients, each of which runs one of the scripts at a time.
    pub(crate) fn pgbench(&self, database: &str, scripts: &[PathBuf], clients: usize) -> anyhow::Result<f64> {
        // Connecting is part of this time, but not of the result.
        let seconds = self.setting.measure_time.as_secs() + CONNECT_SECS;
        let (clients, seconds) = (clients.to_string(), seconds.to_string());
        let mut pgbench = self.client("pgbench");
        pgbench.args(["--no-vacuum", "--protocol", "prepared", "--client", &clients, "--time", &seconds]);
        for (flag, script) in iter::repeat("--file").zip(scripts) {
            pgbench.arg(flag).arg(script);
        }
        let printed = on_core(self.setting.cores.load, || output_of(pgbench.arg(database)))?;
        rate_in(&printed).with_context(|| format!("pgbench printed no rate: {printed}"))
    }

    fn client(&self, name: &str) -> Command {
        let mut command = Command::new(self.programs.join(name));
        let port = self.address.port().to_string();
        command.args(["--host", &self.address.ip().to_string(), "--port", &port, "--username", SERVER_USER]);
        command
    }
}

fn cached_data(database: &str) -> String {
    format!("{SERVED_DATA}-{database}")
}

/// Parses the rate in `tps = 1234.5 (without initial connection time)`.
fn rate_in(printed: &str) -> Option<f64> {
    let line = printed.lines().find_map(|line| line.strip_prefix("tps = "))?;
    line.split(' ').next()?.parse().ok()
}

fn newest() -> Option<PathBuf> {
    let folders = fs::read_dir(VERSIONS).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    let version = |path: &Path| path.file_name()?.to_str()?.parse::<u32>().ok();
    folders.filter(|path| version(path).is_some()).max_by_key(|path| version(path))
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

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
    fn pgbench_rate_excludes_connection_time() {
        let printed = "latency average = 2.1 ms\ninitial connection time = 40 ms\n\
                       tps = 29876.54 (without initial connection time)\n";
        assert_eq!(rate_in(printed), Some(29876.54));
        assert_eq!(rate_in("pgbench: error"), None);
    }
}
