//! The programs of the table, and how each is started.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::ticks::ARGUMENTS;
use crate::programs::has_mounts;
use crate::recipes::postgres;

/// A scheduler or a cache.
#[derive(Clone)]
pub(super) struct Row {
    pub(super) name: &'static str,
    /// `None` if it is not installed.
    pub(super) command: Option<Vec<String>>,
    pub(super) variables: Vec<(&'static str, String)>,
}

impl Row {
    /// Returns the name of its folder.
    pub(super) fn folder(&self) -> String {
        self.name.chars().map(|sign| if sign.is_alphanumeric() { sign } else { '-' }).collect()
    }
}

/// Debian's Python, which has Debian's packages.
const PYTHON: &str = "/usr/bin/python3";
const PYTHON_PACKAGES: &str = "/usr/lib/python3/dist-packages";
const RUFUS: &str = "/usr/bin/ruby";
const JARS: [&str; 3] = ["quartz2", "slf4j-api", "slf4j-nop"];
/// Small, single-threaded virtual machines start sooner.
const JAVA: [&str; 4] = ["java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp"];
const GO_PACKAGES: &str = "/usr/share/gocode";

fn row(name: &'static str, needs: &[&str], words: &[&str]) -> Row {
    let missing = needs.iter().find(|path| !Path::new(path).exists());
    if let Some(missing) = missing {
        eprintln!("skipped for {name}: there is no {missing}");
    }
    let command = missing.is_none().then(|| words.iter().map(|word| (*word).to_owned()).collect());
    Row { name, command, variables: Vec::new() }
}

/// Returns whether to run programs that are compiled first, or whose runtime is busy at a high rate.
#[expect(clippy::disallowed_methods, reason = "whoever runs the test decides how long it may take")]
fn is_long() -> bool {
    super::is_update() || std::env::var_os("TIMENAV_TEST_SCHEDULERS").is_some()
}

/// Returns a row that only the long test runs.
fn long(name: &'static str, needs: &[&str], words: &[&str]) -> Row {
    prepared(is_long, row(name, needs, words))
}

/// Returns a row without a command if the program could not be prepared.
fn prepared(is_prepared: impl FnOnce() -> bool, row: Row) -> Row {
    let command = row.command.filter(|_| is_prepared());
    Row { command, ..row }
}

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/schedulers")
}

/// The folder of `npm install --prefix target/tools/schedulers node-cron bullmq ioredis`.
fn node_packages() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools/schedulers/node_modules")
}

fn is_done(command: &mut Command) -> bool {
    command.stdin(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// Compiles a Java program into a folder.
fn is_java_compiled(source: &str, classes: &str) -> bool {
    let folder = classes.split(':').next().unwrap();
    is_done(Command::new("javac").args(["-cp", classes, "-d", folder]).arg(sources().join(source)))
}

/// Compiles a Go program into a folder. The compiled standard library is kept for the next test.
fn is_go_compiled(source: &str, program: &str) -> bool {
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("go-cache");
    let mut build = Command::new("go");
    build.env("GOPATH", GO_PACKAGES).env("GO111MODULE", "off").env("GOCACHE", cache).env("CGO_ENABLED", "0");
    is_done(build.args(["build", "-o", program]).arg(sources().join(source)))
}

pub(super) fn rows(folder: &Path) -> Vec<Row> {
    let mut all = daemons();
    all.extend(languages(folder));
    all.extend(servers());
    all
}

fn daemons() -> Vec<Row> {
    let source = |name: &str| sources().join(name).display().to_string();
    let has_mounts = has_mounts();
    let mounted = |name, program, script: &str| {
        prepared(|| has_mounts, row(name, &[program], &["unshare", "--mount", "bash", &source(script)]))
    };
    vec![
        mounted("cron", "/usr/sbin/cron", "cron.sh"),
        row("anacron", &["/usr/sbin/anacron"], &["bash", &source("anacron.sh")]),
        mounted("atd", "/usr/sbin/atd", "at.sh"),
    ]
}

fn languages(folder: &Path) -> Vec<Row> {
    let source = |name: &str| sources().join(name).display().to_string();
    let at = |path: &str, name: &str| format!("{path}/{name}");
    let jars = JARS.map(|jar| format!("/usr/share/java/{jar}.jar"));
    let classes = folder.to_str().unwrap();
    let all_classes = format!("{classes}:{}", jars.join(":"));
    let needed: Vec<&str> = jars.iter().map(String::as_str).chain(["/usr/bin/javac"]).collect();
    let (ticker, robfig) = (at(classes, "go-ticker"), at(classes, "go-robfig"));
    let celery = ["-m", "celery", "-A", "beat", "beat", "-s", "schedule", "--pidfile="];
    let mut beat = row("Celery beat", &[&at(PYTHON_PACKAGES, "celery")], &[&[PYTHON], &celery[..]].concat());
    beat.variables.push(("PYTHONPATH", sources().display().to_string()));
    let node_cron = node_packages().join("node-cron").display().to_string();
    let mut node = row("node-cron", &[&node_cron], &["node", &source("node-cron.cjs")]);
    node.variables.push(("NODE_PATH", node_packages().display().to_string()));
    let tokio = std::env::current_exe().unwrap().display().to_string();
    vec![
        beat,
        row("APScheduler", &[&at(PYTHON_PACKAGES, "apscheduler")], &[PYTHON, &source("aps.py")]),
        node,
        long("rufus-scheduler", &[RUFUS], &["ruby", &source("rufus.rb")]),
        prepared(
            || is_java_compiled("Quartz.java", &all_classes),
            long("Quartz", &needed, &[&JAVA[..], &[&all_classes, "Quartz"]].concat()),
        ),
        prepared(
            || is_java_compiled("Executor.java", classes),
            long("Java `ScheduledExecutorService`", &["/usr/bin/javac"], &[&JAVA[..], &[classes, "Executor"]].concat()),
        ),
        prepared(|| is_go_compiled("ticker.go", &ticker), long("Go `time.Ticker`", &["/usr/bin/go"], &[&ticker])),
        prepared(
            || is_go_compiled("robfig.go", &robfig),
            long("robfig/cron", &["/usr/bin/go", &at(GO_PACKAGES, "src/github.com/robfig/cron")], &[&robfig]),
        ),
        row("tokio `time::interval`", &[], &[&[tokio.as_str()], &ARGUMENTS[..]].concat()),
    ]
}

fn servers() -> Vec<Row> {
    let folder = sources().display().to_string();
    let script = |name: &str| format!("{folder}/{name}");
    let expiry = |name, program, server| row(name, &[program], &["bash", &script("expiry.sh"), &folder, server]);
    let redis = "/usr/bin/redis-server";
    let bull = node_packages().join("bullmq").display().to_string();
    let mut bull = long("BullMQ, with Redis", &[&bull, redis], &["bash", &script("bullmq.sh"), &folder]);
    bull.variables.push(("NODE_PATH", node_packages().display().to_string()));
    let bin = postgres().unwrap_or_default();
    let pg_cron = bin.join("../lib/pg_cron.so").display().to_string();
    vec![
        bull,
        long("Sidekiq, with Redis", &["/usr/bin/sidekiq", redis], &["bash", &script("sidekiq.sh"), &folder]),
        long("pg_cron", &[&pg_cron], &["bash", &script("pg_cron.sh"), bin.to_str().unwrap()]),
        expiry("Redis `EX`", redis, "redis"),
        expiry("memcached", "/usr/bin/memcached", "memcached"),
        prepared(is_long, expiry("etcd lease", "/usr/bin/etcd", "etcd")),
        expiry("nginx cache", "/usr/sbin/nginx", "nginx"),
    ]
}
