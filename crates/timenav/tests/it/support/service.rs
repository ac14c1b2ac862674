//! A real service: the binary in its own process with its own folder.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader, Read as _};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::ledger::Checkpoint;
use crate::support::http::{Answer, Connection, Request, target};
use crate::support::waiting::try_until;

/// The service under test. Tests end with [`Service::audit`].
pub(crate) struct Service {
    /// Contains the data folder and the log.
    folder: TempDir,
    arguments: Vec<String>,
    process: Option<Process>,
    /// The operator's key.
    pub(crate) admin: String,
    /// The key that signs the ledgers, read from the data folder.
    pub(crate) public_key: [u8; 32],
    /// Earlier checkpoints of ledgers.
    pub(crate) remembered: BTreeMap<String, Checkpoint>,
    /// Parts of `ERROR` lines that the test provokes.
    pub(crate) errors_expected: Vec<&'static str>,
    audited: bool,
}

/// Returns whether suites run in full, as for `cargo xtask soak`.
#[expect(clippy::disallowed_methods, reason = "the test command says here how long tests may take")]
pub(crate) fn is_soak() -> bool {
    std::env::var_os("TIMENAV_TEST_SOAK").is_some()
}

/// Creates the signing key, which a service on a database does not create itself. Returns its public key.
pub(crate) fn make_signing_key(data: &Path) -> String {
    let (code, public, stderr) = run(timenav().args(["signing-key", "new"]).arg(data.join("signing.key")), "");
    assert_eq!(code, Some(0), "{stderr}");
    public
}

/// A running process.
pub(crate) struct Process {
    child: Child,
    pub(crate) address: SocketAddr,
}

impl Service {
    /// Starts a service on an empty folder.
    pub(crate) fn start() -> Self {
        Self::with(&[])
    }

    /// Starts a service on an empty folder with more arguments.
    pub(crate) fn with(arguments: &[&str]) -> Self {
        Self::prepared(arguments, |data| {
            if arguments.contains(&"--store") {
                make_signing_key(data);
            }
        })
    }

    /// Like [`Service::with`], on a folder that is prepared first.
    pub(crate) fn prepared(arguments: &[&str], prepare: impl FnOnce(&Path)) -> Self {
        let folder = tempfile::tempdir().expect("a folder can be made");
        prepare(&folder.path().join("data"));
        let process = Process::start(&folder.path().join("data"), &folder.path().join("log"), arguments);
        let data = folder.path().join("data");
        let read = |name: &str| std::fs::read_to_string(data.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
        let admin = read("admin.key").trim_end().to_owned();
        let public_key = crate::ledger::public_key(&read("signing.key"));
        let arguments = arguments.iter().map(|&argument| argument.to_owned()).collect();
        let mut service = Self {
            admin,
            public_key,
            folder,
            arguments,
            process: Some(process),
            remembered: BTreeMap::new(),
            errors_expected: Vec::new(),
            audited: false,
        };
        service.remember("main");
        service.remember("system");
        service
    }

    /// Starts the process again on the same folder.
    pub(crate) fn start_again(&mut self) {
        assert!(self.process.is_none(), "the process runs");
        let arguments: Vec<&str> = self.arguments.iter().map(String::as_str).collect();
        self.process = Some(Process::start(&self.data(), &self.log(), &arguments));
    }

    /// Rotates the signing key while the process is stopped. Returns the output.
    pub(crate) fn rotate_signing_key(&mut self) -> String {
        assert!(self.process.is_none(), "the process runs");
        let mut rotate = timenav();
        rotate.arg("rotate-signing-key").arg("--data").arg(self.data());
        let (code, stdout, stderr) = run(&mut rotate, "");
        assert_eq!((code, stderr.as_str()), (Some(0), ""), "{stdout}");
        let text = std::fs::read_to_string(self.data().join("signing.key")).expect("there is a key");
        self.public_key = crate::ledger::public_key(&text);
        stdout
    }

    /// Sets the arguments of the next start.
    pub(crate) fn arguments(&mut self, arguments: &[&str]) {
        self.arguments = arguments.iter().map(|&argument| argument.to_owned()).collect();
    }

    /// Modifies the database while the process is stopped.
    pub(crate) fn tamper(&self, statement: &str, parameter: &str) {
        assert!(self.process.is_none(), "the process runs");
        let database = rusqlite::Connection::open(self.data().join("timenav.db")).expect("the database is there");
        let changed = database.execute(statement, [parameter]).expect("the statement is right");
        assert_eq!(changed, 1, "{statement}");
    }

    /// Stops the process gracefully and starts it again on the same folder.
    pub(crate) fn restart(&mut self) {
        assert!(self.stop().success());
        self.start_again();
    }

    /// Stops the process gracefully and waits for its exit.
    pub(crate) fn stop(&mut self) -> ExitStatus {
        let mut process = self.process.take().expect("the process runs");
        process.terminate();
        process.wait()
    }

    /// Kills the process, as in a crash.
    pub(crate) fn kill(&mut self) {
        self.process.take().expect("the process runs").kill();
    }

    pub(crate) fn process(&mut self) -> &mut Process {
        self.process.as_mut().expect("the process runs")
    }

    pub(crate) fn pid(&self) -> u32 {
        self.process.as_ref().expect("the process runs").pid()
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.process.as_ref().expect("the process runs").address
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address())
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn log(&self) -> PathBuf {
        self.folder.path().join("log")
    }

    /// Returns everything that the service has written to stderr.
    pub(crate) fn log_text(&self) -> String {
        std::fs::read_to_string(self.log()).expect("the log can be read")
    }

    pub(crate) fn connect(&self) -> Connection {
        Connection::open(self.address()).expect("the service accepts connections")
    }

    /// Sends a request on a new connection, with the operator's key unless it has credentials.
    pub(crate) fn send(&self, request: Request) -> Answer {
        let request = self.signed(request);
        self.connect().exchange(&request).unwrap_or_else(|error| panic!("{error}: {request:?}\n{}", self.log_text()))
    }

    /// Adds the operator's key to a request unless it has credentials.
    pub(crate) fn signed(&self, request: Request) -> Request {
        if request.as_it_is { request } else { request.key(&self.admin) }
    }

    /// Sends a GET that succeeds.
    #[track_caller]
    pub(crate) fn get(&self, path: &str, parameters: &[(&str, &str)]) -> Value {
        self.send(Request::get(&target(path, parameters))).expect(200)
    }

    /// Sends a POST that succeeds with any status.
    #[track_caller]
    pub(crate) fn post(&self, path: &str, body: &Value) -> Value {
        let answer = self.send(Request::post(path).json(body));
        assert!(answer.status == 200 || answer.status == 201, "{path} {body}: {answer}");
        answer.json()
    }

    /// Creates a user and returns an API key.
    pub(crate) fn user(&self, user_id: &str) -> String {
        self.post("/v1/users", &json!({ "user_id": user_id }));
        self.key(&json!({ "user_id": user_id }))
    }

    /// Creates an API key and returns it.
    pub(crate) fn key(&self, body: &Value) -> String {
        self.post("/v1/api-keys", body)["api_key"].as_str().expect("a key is shown once").to_owned()
    }

    /// Logs a user in. Both host and connection are local.
    pub(crate) fn try_log_in(&self, user_id: &str, password: &str) -> Answer {
        let body = json!({ "user_id": user_id, "password": password });
        self.send(Request::post("/v1/login").json(&body).header("Host", "127.0.0.1").anonymous())
    }

    /// Logs a user in and returns the cookie, as a browser sends it.
    #[track_caller]
    pub(crate) fn log_in(&self, user_id: &str, password: &str) -> String {
        let answer = self.try_log_in(user_id, password);
        let cookie = answer.header("set-cookie").unwrap_or_else(|| panic!("no cookie: {answer}")).to_owned();
        cookie.split(';').next().expect("a cookie").to_owned()
    }

    /// Sets a user's password as an operator.
    pub(crate) fn set_password(&self, user_id: &str, password: &str) {
        self.post("/v1/set-password", &json!({ "user_id": user_id, "password": password }));
    }

    /// Stores the current checkpoint of a ledger for the comparison at the end.
    pub(crate) fn remember(&mut self, timeline: &str) {
        let checkpoint = self.checkpoint(timeline);
        self.remembered.insert(timeline.to_owned(), checkpoint);
    }

    /// Returns all events that a query finds, page by page.
    pub(crate) fn find_all(&self, timeline: &str, location: &str, time_range: &str, limit: &str) -> Vec<Value> {
        let mut found = Vec::new();
        let mut cursor = String::new();
        loop {
            let mut parameters =
                vec![("timeline_id", timeline), ("location", location), ("time_range", time_range), ("limit", limit)];
            if !cursor.is_empty() {
                parameters.push(("cursor", &cursor));
            }
            let mut page = self.get("/v1/monitor-events", &parameters);
            found.append(page["events"].as_array_mut().expect("a list of events"));
            match page["next_cursor"].as_str() {
                Some(next) => next.clone_into(&mut cursor),
                None => return found,
            }
        }
    }

    /// Returns a metric.
    pub(crate) fn metric(&self, name: &str) -> u64 {
        let text = self.send(Request::get("/metrics").anonymous()).text();
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.unwrap_or_else(|| panic!("no {name} in {text}")).parse().expect("a number")
    }

    /// Waits until the service has noticed a closed connection and accepts another one from that address.
    pub(crate) fn wait_for_a_place(&self, source: Ipv4Addr) {
        let health = Request::get("/healthz").anonymous();
        let is_let_in = |mut connection: Connection| connection.exchange(&health).is_ok();
        let try_once = || Connection::open_from(source, self.address()).is_ok_and(is_let_in).then_some(());
        assert!(try_until(try_once).is_some(), "{}", self.log_text());
    }

    /// Polls a metric until it has a value.
    pub(crate) fn wait_for_metric(&self, name: &str, value: u64) {
        let mut seen = 0;
        let is_there = try_until(|| {
            seen = self.metric(name);
            (seen == value).then_some(())
        });
        assert!(is_there.is_some(), "{name} is {seen} and not {value}: {}", self.log_text());
    }

    /// Scans a timeline and asserts that nothing is found.
    #[track_caller]
    pub(crate) fn scan_is_clean(&self, timeline: &str) {
        is_clean(&self.post("/v1/detect-tampering", &json!({ "timeline_id": timeline })));
    }

    /// Verifies every ledger and the log, stops the service, and ends the test.
    pub(crate) fn audit(mut self) {
        crate::ledger::audit::check(&self);
        assert!(self.stop().success(), "{}", self.log_text());
        let log = self.log_text();
        let is_expected = |line: &str| self.errors_expected.iter().any(|piece| line.contains(piece));
        for line in log.lines().filter(|line| !is_expected(line)) {
            assert!(!line.contains("ERROR") && !line.contains("panicked"), "{line}");
        }
        self.audited = true;
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        if let Some(process) = self.process.take() {
            process.kill();
        }
        assert!(self.audited || std::thread::panicking(), "a test ends in an audit");
    }
}

impl Process {
    /// Starts the service and waits until it prints its address.
    pub(crate) fn start(data: &Path, log: &Path, arguments: &[&str]) -> Self {
        Self::start_at("http", data, log, arguments)
    }

    /// Like [`Process::start`], with a different program if one is given.
    pub(crate) fn start_of(program: Option<&Path>, data: &Path, log: &Path, arguments: &[&str]) -> Self {
        let mut command = command(data, log, arguments);
        if let Some(program) = program {
            let log = OpenOptions::new().create(true).append(true).open(log).expect("the log can be written");
            let mut other = Command::new(program);
            other.env_clear().args(command.get_args()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log);
            command = other;
        }
        Self::started(&mut command, "http", log)
    }

    /// Like [`Process::start`], for a given URL scheme.
    pub(crate) fn start_at(scheme: &str, data: &Path, log: &Path, arguments: &[&str]) -> Self {
        Self::started(&mut command(data, log, arguments), scheme, log)
    }

    /// Like [`Process::start`], with a limit of file descriptors.
    pub(crate) fn start_with_descriptors(descriptors: u32, data: &Path, log: &Path, arguments: &[&str]) -> Self {
        let inner = command(data, log, arguments);
        let mut limited = Command::new("sh");
        limited.arg("-c").arg(format!("ulimit -n {descriptors} && exec \"$0\" \"$@\""));
        limited.arg(inner.get_program()).args(inner.get_args());
        let log_file = OpenOptions::new().create(true).append(true).open(log).expect("the log can be written");
        limited.env_clear().stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log_file);
        Self::started(&mut limited, "http", log)
    }

    fn started(command: &mut Command, scheme: &str, log: &Path) -> Self {
        let mut child = command.spawn().expect("the binary can be run");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("stdout is a pipe");
        BufReader::new(stdout).read_line(&mut line).expect("stdout is text");
        let Some(address) =
            line.strip_prefix(&format!("listening on {scheme}://")).and_then(|rest| rest.strip_suffix('\n'))
        else {
            let _ = child.kill();
            let _ = child.wait();
            panic!("no line about listening, but {line:?}: {}", std::fs::read_to_string(log).unwrap_or_default());
        };
        Self { address: address.parse().expect("an address"), child }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn terminate(&self) {
        self.signal(Signal::TERM);
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("the process is there");
    }

    /// Kills the process.
    pub(crate) fn kill(mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Kills the process and waits, so that its locks are released.
    pub(crate) fn end(&mut self) {
        self.signal(Signal::KILL);
        self.wait();
    }

    pub(crate) fn wait(&mut self) -> ExitStatus {
        self.child.wait().expect("the process can be waited for")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the command that serves on a free port.
fn command(data: &Path, log: &Path, arguments: &[&str]) -> Command {
    let log = OpenOptions::new().create(true).append(true).open(log).expect("the log can be written");
    let mut command = timenav();
    // There is no load balancer to wait for.
    command.env("TIMENAV_DRAIN_SECS", "0").arg("serve");
    if !arguments.contains(&"--listen") {
        command.args(["--listen", "127.0.0.1:0"]);
    }
    command.arg("--data").arg(data).args(arguments);
    // The number of entries is then the same each time: buffered reads may share one.
    command.env("TIMENAV_READ_LOG", "durable");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log);
    command
}

/// Returns the binary with a clean environment.
pub(crate) fn timenav() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_timenav"));
    command.env_clear();
    command
}

/// Runs the binary to completion.
pub(crate) fn run(command: &mut Command, input: &str) -> (Option<i32>, String, String) {
    use std::io::Write as _;
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // A process that reads no input may have closed the pipe.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("output is UTF-8");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// Asserts that a scan has found nothing.
#[track_caller]
pub(crate) fn is_clean(scan: &Value) {
    assert_eq!((&scan["tampering_detected"], &scan["findings"]), (&json!(false), &json!([])), "{scan:#}");
}

/// Runs a command that succeeds with an empty stderr. Returns its stdout.
#[track_caller]
pub(crate) fn succeeds(command: &mut Command) -> String {
    let (code, stdout, stderr) = run(command, "");
    assert_eq!((code, stderr.as_str()), (Some(0), ""), "{command:?}: {stdout}");
    stdout
}

/// Runs a command that fails with this exit code, an empty stdout and these words on stderr. Returns its stderr.
#[track_caller]
pub(crate) fn fails(command: &mut Command, expected: i32, words: &str) -> String {
    let (code, stdout, stderr) = run(command, "");
    assert_eq!((code, stdout.as_str()), (Some(expected), ""), "{command:?}: {stderr}");
    assert!(stderr.contains(words), "{command:?}: no {words:?} in {stderr}");
    stderr
}

/// Runs a command that ends with this exit code. Returns its stdout and stderr together.
#[track_caller]
pub(crate) fn ends(command: &mut Command, expected: i32) -> String {
    let (code, stdout, stderr) = run(command, "");
    let output = stdout + &stderr;
    assert_eq!(code, Some(expected), "{command:?}: {output}");
    output
}

/// Returns the number of open file descriptors of a process.
pub(crate) fn descriptors(pid: u32) -> usize {
    std::fs::read_dir(format!("/proc/{pid}/fd")).expect("the process is there").count()
}

/// Returns a memory statistic of a process, in KiB.
pub(crate) fn memory_kib(pid: u32, name: &str) -> u64 {
    let mut text = String::new();
    File::open(format!("/proc/{pid}/status")).unwrap().read_to_string(&mut text).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).expect("the line is there");
    line.trim().strip_suffix(" kB").expect("the unit is kB").parse().expect("a number")
}
