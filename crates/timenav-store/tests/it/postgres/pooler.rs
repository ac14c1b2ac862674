//! A real pooler between the service and the server: session pooling works, transaction pooling does not.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::process::{Child, Command, Stdio};

use crate::cluster::try_connect;
use crate::postgres::*;

const PGBOUNCER: &str = "/usr/sbin/pgbouncer";
const PORT: u16 = 6_543;

/// A pooler that stops with the test.
struct Pooler(Child);

impl Drop for Pooler {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Pooler {
    /// Starts a pooler for a server, and returns the address of a database through it.
    fn start(server: &Cluster, mode: &str, folder: &Path) -> (Self, String) {
        let (_, after) = server.url.split_once("host=").unwrap();
        let socket = after.split('&').next().unwrap();
        std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o777)).unwrap();
        let is_root = std::fs::metadata(folder).unwrap().uid() == 0;
        let settings = format!(
            "[databases]\n* = host={socket} port=5432 user=timenav\n[pgbouncer]\nlisten_port = {PORT}\nauth_type = any\n\
             unix_socket_dir = {}\npool_mode = {mode}\nmax_client_conn = 100\nquery_wait_timeout = 10\n{}",
            folder.display(),
            // It does not run as root.
            if is_root { "user = nobody\n" } else { "" }
        );
        let file = folder.join("pgbouncer.ini");
        std::fs::write(&file, settings).unwrap();
        let mut command = Command::new(PGBOUNCER);
        command.arg(&file).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let pooler = Self(command.spawn().unwrap());
        let url = format!("postgres:///postgres?host={}&port={PORT}&user=timenav", folder.display());
        wait_until(|| try_connect(&url));
        (pooler, url)
    }
}

#[test]
fn pooler_without_session_mode_is_rejected() {
    if !Path::new(PGBOUNCER).exists() {
        println!("skipped: there is no {PGBOUNCER}; install the package pgbouncer to try it");
        return;
    }
    let server = Cluster::start();
    let folder = tempfile::tempdir().unwrap();
    let (pooler, url) = Pooler::start(&server, "session", folder.path());
    let (store, mut ledger) = (open(&url).unwrap(), Ledger::new(1, "main"));
    commit(&store, ledger.grow(2)).unwrap();
    assert_eq!(size(&store), 2);
    drop(store);
    drop(pooler);
    for mode in ["transaction", "statement"] {
        let folder = tempfile::tempdir().unwrap();
        let (_pooler, url) = Pooler::start(&server, mode, folder.path());
        let refused = open(&url).err().unwrap_or_else(|| panic!("it is let in with {mode}")).to_string();
        // Statement pooling allows no transaction for the check.
        let expected = if mode == "transaction" { "connect to the server itself" } else { "PostgreSQL" };
        assert!(refused.contains(expected), "{mode}: {refused}");
    }
}
