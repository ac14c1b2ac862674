//! UmaDB from the Python Package Index: appends one event without a condition over gRPC, one connection per client.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Command;

use anyhow::Context;

use super::Peer;
use crate::load::{self, Plan};
use crate::measure::setting::Setting;
use crate::running::Running;
use crate::starting::{free_address, output_of, wait_until_open};

const UMADB_VERSION: &str = "0.7.8";

pub(crate) struct Umadb<'a> {
    setting: &'a Setting,
    _running: Running,
    address: SocketAddr,
}

impl<'a> Umadb<'a> {
    pub(crate) fn start(setting: &'a Setting) -> anyhow::Result<Self> {
        let umadb = installed(setting)?;
        let address = free_address()?;
        let mut command = Command::new(umadb);
        command.args(["--listen", &address.to_string(), "--db-path"]).arg(setting.empty_folder("umadb")?);
        let running = Running::start(&mut command, setting.cores.measured, &setting.folder.join("umadb.log"))?;
        wait_until_open(address)?;
        Ok(Self { setting, _running: running, address })
    }
}

impl Peer for Umadb<'_> {
    fn rate(&self, clients: usize) -> anyhow::Result<f64> {
        Ok(load::send(self.setting, self.address, &[], Plan::UmadbAppend, clients, self.setting.measure_time)?.rate())
    }
}

/// Returns the server in the Python package, which is installed once into a separate folder.
fn installed(setting: &Setting) -> anyhow::Result<PathBuf> {
    let folder = setting.folder.join(format!("umadb-{UMADB_VERSION}"));
    let umadb = folder.join("bin/umadb");
    if !umadb.exists() {
        eprintln!("UmaDB is missing; version {UMADB_VERSION} is installed now, once");
        output_of(Command::new("python3").args(["-m", "venv"]).arg(&folder))
            .context("UmaDB comes as a Python package, and needs python3 with venv")?;
        let package = format!("umadb=={UMADB_VERSION}");
        output_of(Command::new(folder.join("bin/pip")).args(["install", "--quiet", &package]))?;
    }
    Ok(umadb)
}
