//! A real PostgreSQL for the tests: one server per run, one database per test.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, OnceLock};

use parking_lot::Mutex;
use timenav_engine::StoreError;
use timenav_store::{PostgresOptions, PostgresStore};
use tokio::runtime::Runtime;
use tokio_postgres::{Client, NoTls};

/// Environment variable with a server to use instead of starting one: an address with permission to create databases.
const NAMED: &str = "TIMENAV_TEST_POSTGRES";

/// The workers of a Citus cluster, as `host:port`, separated by commas. The server named above is its coordinator.
const WORKERS: &str = "TIMENAV_TEST_CITUS_WORKERS";

/// Number of workers if the tests start their server as the coordinator of a Citus cluster.
const OWN_WORKERS: &str = "PG_CITUS_WORKERS";

/// The store for the engine tests: `sqlite`, the default, or `postgres`.
const STORE: &str = "TIMENAV_TEST_STORE";

/// A server that stops with this process.
pub(crate) struct Cluster {
    pub(crate) url: String,
    own_server: Option<Mutex<OwnServer>>,
}

/// The server process. It stops once the other end of its stdin is closed, however this process ends.
struct OwnServer {
    _process: Child,
    orders: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl OwnServer {
    fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        line.trim().to_owned()
    }
}

static CLUSTER: OnceLock<Cluster> = OnceLock::new();
static DATABASES: AtomicUsize = AtomicUsize::new(0);

/// Returns an environment variable that configures the tests.
#[expect(clippy::disallowed_methods, reason = "the test command says here what the tests run on")]
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Returns whether the engine tests run on PostgreSQL instead of SQLite.
pub(crate) fn is_for_engine() -> bool {
    variable(STORE).is_some_and(|store| store == "postgres")
}

/// Returns whether databases are in a Citus cluster.
pub(crate) fn is_spread() -> bool {
    variable(WORKERS).is_some() || variable(OWN_WORKERS).is_some_and(|workers| workers != "0")
}

impl Cluster {
    fn new() -> Self {
        variable(NAMED).map_or_else(Self::start, |url| Self { url, own_server: None })
    }

    pub(crate) fn start() -> Self {
        Self::start_with(&[])
    }

    /// Starts a server, with additional environment variables for its script.
    pub(crate) fn start_with(more: &[(&str, &str)]) -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/postgres.sh");
        let mut command = Command::new(script);
        command.envs(more.iter().copied()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().expect("the script that starts PostgreSQL");
        let (orders, output) = (process.stdin.take().unwrap(), BufReader::new(process.stdout.take().unwrap()));
        let mut own_server = OwnServer { _process: process, orders, output };
        let url = own_server.line();
        assert!(url.starts_with("postgres:"), "{url}");
        Self { url, own_server: Some(Mutex::new(own_server)) }
    }

    /// Kills or restarts the server.
    pub(crate) fn order(&self, order: &str) {
        let mut own_server = self.own_server.as_ref().expect("a server of its own").lock();
        writeln!(own_server.orders, "{order}").unwrap();
        assert_eq!(own_server.line(), format!("{}: done", order.split(' ').next().unwrap_or_default()));
    }
}

/// Threads for all connections, which outlive the test that opens the first one.
static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap());

/// Runs a future on the connection threads and waits for it.
pub(crate) fn wait_for<T: Send>(future: impl Future<Output = T> + Send) -> T {
    // A thread that drives a test must not block on another runtime.
    std::thread::scope(|scope| scope.spawn(|| RUNTIME.block_on(future)).join().unwrap())
}

pub(crate) fn open(url: &str) -> Result<PostgresStore, StoreError> {
    wait_for(PostgresStore::open(&PostgresOptions { url: url.to_owned(), is_alone: false }))
}

/// Returns whether a server responds at an address.
pub(crate) fn try_connect(url: &str) -> bool {
    wait_for(async { tokio_postgres::connect(url, NoTls).await.is_ok() })
}

/// Creates an empty database and returns its address.
pub(crate) fn database() -> String {
    wait_for(make_database())
}

/// Runs statements in a database, bypassing the service.
pub(crate) fn execute(url: &str, statements: &str) {
    wait_for(execute_there(url, statements));
}

/// Runs a statement in a database, and returns whether it succeeded.
pub(crate) fn try_execute(url: &str, statement: &str) -> bool {
    wait_for(async {
        let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
        let connection = tokio::spawn(connection);
        let done = client.batch_execute(statement).await.is_ok();
        drop(client);
        connection.await.unwrap().unwrap();
        done
    })
}

/// A foreign transaction that holds its locks until it is dropped.
pub(crate) struct Holding(#[expect(dead_code, reason = "the server ends the transaction with its connection")] Client);

impl Holding {
    /// Begins one with a statement.
    pub(crate) fn start(url: &str, statement: &str) -> Self {
        Self(wait_for(async {
            let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
            tokio::spawn(connection);
            client.batch_execute(&format!("BEGIN; {statement}")).await.unwrap();
            client
        }))
    }
}

async fn execute_there(url: &str, statements: &str) {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    let connection = tokio::spawn(connection);
    client.batch_execute(statements).await.unwrap();
    drop(client);
    connection.await.unwrap().unwrap();
}

async fn make_database() -> String {
    let cluster = CLUSTER.get_or_init(Cluster::new);
    let number = DATABASES.fetch_add(1, Ordering::Relaxed);
    let name = format!("test_{}_{number}", std::process::id());
    let make = format!("CREATE DATABASE {name} TEMPLATE template0");
    let named = |url: &str| url.replacen("/postgres?", &format!("/{name}?"), 1);
    if cluster.own_server.is_some() && is_spread() {
        cluster.order(&format!("join {name}"));
        return named(&cluster.url);
    }
    execute_there(&cluster.url, &make).await;
    let url = named(&cluster.url);
    let Some(workers) = variable(WORKERS) else { return url };
    // Each server has a database with this name, and the coordinator's knows the others.
    execute_there(&url, "CREATE EXTENSION citus").await;
    let coordinator = address(&url);
    let mut join = vec![format!("SELECT citus_set_coordinator_host({})", quoted(coordinator))];
    for worker in workers.split(',') {
        let there = cluster.url.replacen(coordinator, worker, 1);
        execute_there(&there, &make).await;
        execute_there(&named(&there), "CREATE EXTENSION citus").await;
        join.push(format!("SELECT citus_add_node({})", quoted(worker)));
    }
    execute_there(&url, &join.join("; ")).await;
    url
}

/// Returns host and port of an address.
fn address(url: &str) -> &str {
    let place = url.split("//").nth(1).and_then(|rest| rest.split('/').next()).unwrap_or_default();
    place.rsplit('@').next().unwrap_or_default()
}

/// Returns host and port as two SQL parameters.
fn quoted(address: &str) -> String {
    let (host, port) = address.rsplit_once(':').expect("a host and a port");
    format!("'{host}', {port}")
}
