//! Witnesses: the server, and services that use some.

mod log;
mod named;
mod required;
mod server;
mod service;
pub(crate) mod stub_witness;

use std::fs::OpenOptions;
use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Stdio};

use tempfile::TempDir;

use crate::support::http::{Answer, Connection, Request};
use crate::support::service::timenav;

/// A witness in its own process and folder.
pub(crate) struct Witness {
    folder: TempDir,
    arguments: Vec<String>,
    process: Option<Child>,
    pub(crate) address: SocketAddr,
    /// The printed key.
    pub(crate) key: String,
}

impl Witness {
    /// Starts a witness of logs with these keys.
    pub(crate) fn start(logs: &[&str]) -> Self {
        Self::with_options(&logs.iter().flat_map(|log| ["--log", *log]).collect::<Vec<_>>())
    }

    /// Starts a witness with these options.
    pub(crate) fn with_options(options: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let mut arguments = vec!["--name".to_owned(), "witness.test/w1".to_owned()];
        arguments.extend(options.iter().map(|option| (*option).to_owned()));
        let address = "127.0.0.1:0".parse().unwrap();
        let mut witness = Self { folder, arguments, process: None, address, key: String::new() };
        witness.start_again();
        witness
    }

    /// Starts it again on the same folder and address.
    pub(crate) fn start_again(&mut self) {
        assert!(self.process.is_none(), "the process runs");
        let log = OpenOptions::new().create(true).append(true).open(self.folder.path().join("log")).unwrap();
        let mut command = timenav();
        command.args(["witness", "--listen", &self.address.to_string(), "--data"]).arg(self.data());
        command.args(&self.arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log);
        let mut child = command.spawn().expect("the binary can be run");
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut line = |start: &str| {
            let line = lines.next().unwrap_or_else(|| panic!("no line {start}: {}", self.log_text())).unwrap();
            line.strip_prefix(start).unwrap_or_else(|| panic!("{line}: {}", self.log_text())).to_owned()
        };
        let key = line("witness key ");
        assert!(self.key.is_empty() || self.key == key, "the key stays");
        let address = line("listening on http://").parse().unwrap();
        (self.key, self.address) = (key, address);
        self.process = Some(child);
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.folder.path().join("witness")
    }

    pub(crate) fn log_text(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).expect("the log can be read")
    }

    /// Kills the process, as in a crash.
    pub(crate) fn kill(&mut self) {
        let mut child = self.process.take().expect("the process runs");
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// Returns the value for `timenav serve --witness`.
    pub(crate) fn option(&self) -> String {
        format!("{}=http://{}", self.key, self.address)
    }

    pub(crate) fn send(&self, request: &Request) -> Answer {
        let mut connection = Connection::open(self.address).expect("the witness accepts connections");
        connection.exchange(request).unwrap_or_else(|error| panic!("{error}: {}", self.log_text()))
    }

    /// Requests a cosignature.
    pub(crate) fn add_checkpoint(&self, body: &str) -> Answer {
        self.send(&Request::post("/add-checkpoint").body("text/plain", body.as_bytes()).anonymous())
    }
}

impl Drop for Witness {
    fn drop(&mut self) {
        if self.process.is_some() {
            self.kill();
        }
    }
}
