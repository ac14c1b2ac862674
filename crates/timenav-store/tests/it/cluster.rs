//! A real PostgreSQL for the tests: one server a run, one database a test.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio_postgres::NoTls;

/// Names a server to take instead of one that is started: an address with the rights to make databases.
const NAMED: &str = "TIMENAV_TEST_POSTGRES";

/// A server that ends with this process.
struct Cluster {
    url: String,
    /// The server goes when nobody has the other end of this open any more, however the process ends.
    _kept: Option<(Child, ChildStdin)>,
}

static CLUSTER: OnceLock<Cluster> = OnceLock::new();
static DATABASES: AtomicUsize = AtomicUsize::new(0);

#[expect(clippy::disallowed_methods, reason = "the test command names a server here")]
fn named() -> Option<String> {
    std::env::var(NAMED).ok()
}

impl Cluster {
    fn new() -> Self {
        named().map_or_else(Self::start, |url| Self { url, _kept: None })
    }

    fn start() -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/postgres.sh");
        let command = Command::new(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut process = command.expect("the script that starts PostgreSQL");
        let (orders, told) = (process.stdin.take().unwrap(), process.stdout.take().unwrap());
        let mut url = String::new();
        BufReader::new(told).read_line(&mut url).unwrap();
        let url = url.trim().to_owned();
        assert!(url.starts_with("postgres:"), "{url}");
        Self { url, _kept: Some((process, orders)) }
    }
}

/// Makes an empty database, and returns its address.
pub(crate) async fn database() -> String {
    let cluster = tokio::task::block_in_place(|| CLUSTER.get_or_init(Cluster::new));
    let number = DATABASES.fetch_add(1, Ordering::Relaxed);
    let name = format!("test_{}_{number}", std::process::id());
    let (client, connection) = tokio_postgres::connect(&cluster.url, NoTls).await.unwrap();
    let connection = tokio::spawn(connection);
    client.batch_execute(&format!("CREATE DATABASE {name} TEMPLATE template0")).await.unwrap();
    drop(client);
    connection.await.unwrap().unwrap();
    cluster.url.replacen("/postgres?", &format!("/{name}?"), 1)
}
