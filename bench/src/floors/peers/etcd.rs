//! Debian's etcd: a put of a new key over gRPC, with one connection per client.

use std::net::SocketAddr;
use std::process::Command;

use super::Peer;
use crate::load::{self, Plan};
use crate::measure::setting::Setting;
use crate::running::Running;
use crate::starting::{free_address, in_path, program, wait_until_open};

pub(crate) struct Etcd<'a> {
    setting: &'a Setting,
    _running: Running,
    address: SocketAddr,
}

impl<'a> Etcd<'a> {
    pub(crate) fn start(setting: &'a Setting) -> anyhow::Result<Self> {
        let etcd = program("etcd-server", || in_path("etcd"))?;
        let (address, peers) = (free_address()?, free_address()?);
        let (client, peer) = (format!("http://{address}"), format!("http://{peers}"));
        let mut command = Command::new(etcd);
        command.arg("--data-dir").arg(setting.empty_folder("etcd")?).args(["--log-level", "error", "--name", "bench"]);
        command.args(["--listen-client-urls", &client, "--advertise-client-urls", &client]);
        command.args(["--listen-peer-urls", &peer, "--initial-advertise-peer-urls", &peer]);
        command.args(["--initial-cluster", &format!("bench={peer}")]);
        let running = Running::start(&mut command, setting.cores.measured, &setting.folder.join("etcd.log"))?;
        wait_until_open(address)?;
        Ok(Self { setting, _running: running, address })
    }
}

impl Peer for Etcd<'_> {
    fn rate(&self, clients: usize) -> anyhow::Result<f64> {
        Ok(load::send(self.setting, self.address, &[], Plan::EtcdPut, clients, self.setting.measure_time)?.rate())
    }
}
