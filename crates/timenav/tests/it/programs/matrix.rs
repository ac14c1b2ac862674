//! `tests/programs/matrix.txt`: each program at each clock change, and what it sees.

mod dates;
mod many;

use std::fmt::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use timenav_core::time::{Virtual, parse_timestamp};

use super::databases::{make_data, server, single};
use super::{PATH, Service, Teller, children, is_installed, service, travel, under};
use crate::cli::command;
use crate::support::service::run;
use crate::support::waiting::until;

const C: &str = include_str!("../../programs/teller.c");
const JAVA: &str = include_str!("../../programs/Teller.java");
const RUST: &str = include_str!("../../programs/teller.rs.txt");
const GO: &str = include_str!("../../programs/teller.go");
const BASH: &str = "while read -r word; do printf '%(%s)T\\n' -1; done; exit 5";
const PYTHON: &str = "import sys, time\nfor line in sys.stdin: print(int(time.time() // 1), flush=True)\nsys.exit(5)";
const DATETIME: &str = "import sys, datetime\nfor line in sys.stdin:\n  \
                        now = datetime.datetime.now(datetime.timezone.utc)\n  \
                        print(int(now.timestamp() // 1), flush=True)\nsys.exit(5)";
const PERL: &str = "use Time::HiRes qw(time); $| = 1; while (<STDIN>) { print int(time), qq(\\n) } exit 5";
const NODE: &str = "require('readline').createInterface({ input: process.stdin })\
                    .on('line', () => console.log(Math.floor(Date.now() / 1000))).on('close', () => process.exit(5))";
/// Shells that start a program for each reading and print 0 on failure.
const DATE: &str = "while read -r word; do date +%s 2>/dev/null || echo 0; done; exit 5";
const SQLITE: &str = "while read -r word; do sqlite3 :memory: \"SELECT strftime('%s', CURRENT_TIMESTAMP)\" 2>/dev/null \
                      || echo 0; done; exit 5";
/// Queries a database for the time, and extracts it from the output without a server.
const SQL: &str = "while read -r word; do echo 'SELECT floor(extract(epoch FROM now()))::bigint;'; done";
const VALUES: &str = "2>/dev/null | sed -un 's/.* = \"\\([-0-9]*\\)\".*/\\1/p'";
/// Shells that wait until a debugger is attached.
const WATCHED: &str = "for i in $(seq 6000); do grep -q '^TracerPid:.[1-9]' /proc/$$/status && break; sleep 0.02; done";
const STRACE: &str = "strace -qq -o /dev/null -p $$ </dev/null >/dev/null 2>&1 &";
const GDB: &str = "gdb -nx -q -batch -p $$ -ex continue </dev/null >/dev/null 2>&1 &";
const DENY: &str = include_str!("../../programs/deny.c");
/// Denied to `timenav exec`, so that it traces programs without a filter.
const UNFILTERED: &str = "trace, no filter";
const PRELOAD: &str = "preload";
const VSYSCALL: &str = "the vsyscall page";
const ASAN: &str = "C, AddressSanitizer";
const HEAD: &str = "| program | asks by | way | ahead of the host | before 1970 | after 2038 | clock stands | rate 3600 \
                    | rate 0.5 | service lost | service back | supervisor killed | nested |\n\
                    | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n";
const COLUMNS: usize = 10;

/// A program and how it is queried.
#[derive(Clone)]
struct Row {
    program: &'static str,
    asks_by: &'static str,
    /// The method that puts it on the clock.
    way: &'static str,
    /// The command; `None` if it is not available on this machine.
    command: Option<Vec<String>>,
    /// Whether it starts another program for each reading.
    is_starter: bool,
}

impl Row {
    /// Returns whether a debugger is attached to it.
    fn is_watched(&self) -> bool {
        self.program.contains("attached")
    }
}

fn row(program: &'static str, asks_by: &'static str, command: Option<Vec<String>>) -> Row {
    Row { program, asks_by, way: "exec", command, is_starter: false }
}

fn starter(program: &'static str, asks_by: &'static str, needs: &str, script: &str) -> Row {
    Row { is_starter: true, ..row(program, asks_by, script_of(needs, &["sh", "-c", script])) }
}

/// Returns a command if a program is installed.
fn script_of(needs: &str, words: &[&str]) -> Option<Vec<String>> {
    is_installed(needs).then(|| owned(words))
}

/// Returns a shell with a debugger attached, if that is installed and allowed.
fn watched(debugger: &str, attach: &str) -> Option<Vec<String>> {
    let script = format!("{attach} {WATCHED}; {BASH}");
    script_of(debugger, &["bash", "-c", &script]).filter(|_| rustix::process::geteuid().is_root())
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// Compiles a program if the compiler is installed, and checks that the result exits with this code.
fn compiled(folder: &Path, name: &str, source: (&str, &str), compiler: &[&str], code: i32) -> Option<String> {
    let (file, program) = (folder.join(source.0), folder.join(name));
    std::fs::write(&file, source.1).unwrap();
    let mut command = Command::new(compiler[0]);
    command.args(&compiler[1..]).arg("-o").arg(&program).arg(&file).current_dir(folder);
    command.env("GOCACHE", folder.join("go-cache")).env("GOFLAGS", "-mod=mod").stdout(Stdio::null());
    let is_made = command.stderr(Stdio::null()).status().is_ok_and(|status| status.success());
    let mut trial = Command::new(&program);
    let mut is_run =
        || trial.stdin(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|it| it.code() == Some(code));
    let is_available = is_made && is_run();
    if !is_available {
        eprintln!("skipped for {compiler:?}");
    }
    is_available.then(|| program.to_str().unwrap().to_owned())
}

fn rows(folder: &Path) -> Vec<Row> {
    let c = |name: &str, compiler: &[&str]| compiled(folder, name, ("teller.c", C), compiler, 5);
    let with = |program: Option<&String>, word: &str| Some(vec![program?.clone(), word.to_owned()]);
    let (dynamic, fixed) = (c("dynamic", &["gcc", "-O1"]), c("static", &["gcc", "-O1", "-static"]));
    let sanitized = |name: &'static str, flag: &str| c(name, &["gcc", "-O1", flag]).map(|program| vec![program]);
    let rust = |name: &str, flags: &[&str]| {
        compiled(folder, name, ("teller.rs", RUST), &[&["rustc", "--edition=2021"], flags].concat(), 5)
    };
    let go = |name: &str, mode: &str| {
        compiled(folder, name, ("teller.go", GO), &["go", "build", "-ldflags", mode], 5).map(|program| vec![program])
    };
    std::fs::write(folder.join("Teller.java"), JAVA).unwrap();
    let java = Command::new("javac").args(["-d", "."]).arg("Teller.java").current_dir(folder).status();
    let java = java.is_ok_and(|status| status.success());
    let java = java.then(|| owned(&["java", "-cp", folder.to_str().unwrap(), "Teller"]));
    let is_root = rustix::process::geteuid().is_root();
    let as_root = |words: &[&str]| script_of(words[0], words).filter(|_| is_root);
    let has_data = make_data(folder);
    let database = |script: String| has_data.then(|| owned(&["bash", "-c", &script, folder.to_str().unwrap()]));
    let in_chroot = fixed.as_ref().and_then(|_| as_root(&["/usr/sbin/chroot", folder.to_str().unwrap(), "/static"]));
    vec![
        starter("date, started each time", "`clock_gettime`", "date", DATE),
        row("bash", "`printf '%(%s)T'`", script_of("bash", &["bash", "-c", BASH])),
        row("Python", "`time.time()`", script_of("python3", &["python3", "-c", PYTHON])),
        row("Python", "`datetime.now()`", script_of("python3", &["python3", "-c", DATETIME])),
        row("Perl", "`Time::HiRes::time`", script_of("perl", &["perl", "-e", PERL])),
        row("Node", "`Date.now()`", script_of("node", &["node", "-e", NODE])),
        row("Java", "`System.currentTimeMillis()`", java),
        row("Go, static", "`time.Now()`", go("go-static", "")),
        row("Go, linked with the C library", "`time.Now()`", go("go-dynamic", "-linkmode=external")),
        row("Rust", "`SystemTime::now()`", rust("rust", &[]).map(|program| vec![program])),
        row("C, glibc", "`clock_gettime`", with(dynamic.as_ref(), "clock_gettime")),
        row("C, glibc", "`clock_gettime`, coarse", with(dynamic.as_ref(), "coarse")),
        row("C, glibc", "`gettimeofday`", with(dynamic.as_ref(), "gettimeofday")),
        row("C, glibc", "`time`", with(dynamic.as_ref(), "time")),
        Row { is_starter: true, ..row("C, glibc", "a plain system call", with(dynamic.as_ref(), "syscall")) },
        row("C, glibc, static", "`clock_gettime`", with(fixed.as_ref(), "clock_gettime")),
        vsyscall(fixed.clone()),
        row("C, musl", "`clock_gettime`", c("musl", &["musl-gcc"]).map(|program| vec![program])),
        row("C, musl, static", "`clock_gettime`", c("musl-static", &["musl-gcc", "-static"]).map(|it| vec![it])),
        row(ASAN, "`clock_gettime`", sanitized("asan", "-fsanitize=address")),
        row("C, ThreadSanitizer", "`clock_gettime`", sanitized("tsan", "-fsanitize=thread")),
        row("C, UndefinedBehaviorSanitizer", "`clock_gettime`", sanitized("ubsan", "-fsanitize=undefined")),
        starter("SQLite, started each time", "`CURRENT_TIMESTAMP`", "sqlite3", SQLITE),
        row("PostgreSQL, a server", "`now()`", database(server(SQL))),
        row("PostgreSQL, `--single`", "`now()`", database(single(SQL, VALUES))),
        row("bash, with strace attached", "`printf '%(%s)T'`", watched("strace", STRACE)),
        row("bash, with gdb attached", "`printf '%(%s)T'`", watched("gdb", GDB)),
        row("bash as another user", "`su`", as_root(&["su", "-s", "/bin/bash", "nobody", "-c", BASH])),
        row("bash as another user", "`setpriv --reuid`", as_root(&["setpriv", "--reuid=65534", "bash", "-c", BASH])),
        row("bash in another time namespace", "`unshare --time`", {
            as_root(&["unshare", "--time", "--boottime", "1000000", "bash", "-c", BASH])
        }),
        row("C, glibc, static, in a `chroot`", "`clock_gettime`", in_chroot),
    ]
}

/// Returns the row of a program that uses the vsyscall page, if the kernel has it.
fn vsyscall(program: Option<String>) -> Row {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let is_there = maps.lines().any(|line| line.ends_with("[vsyscall]") && line.contains("xp "));
    let command = program.filter(|_| is_there).map(|program| vec![program, "vsyscall".to_owned()]);
    Row { is_starter: true, ..row("C, glibc, static", VSYSCALL, command) }
}

/// Returns a program that denies system calls to another.
fn denier(folder: &Path) -> Option<String> {
    let deny = folder.join("deny");
    let is_made = || compiled(folder, "deny", ("deny.c", DENY), &["gcc", "-O1"], 2);
    if deny.exists() { Some(deny.to_str()?.to_owned()) } else { is_made() }
}

/// Returns the rows of traced programs, if the necessary calls can be denied: all but those that are traced already.
fn traced_rows(folder: &Path, rows: &[Row]) -> Vec<Row> {
    let is_denied = denier(folder).is_some();
    let by = |way: &'static str| {
        let is_reached = move |row: &&Row| {
            // Without a filter, reads of the vsyscall page are not seen.
            let is_seen = way != UNFILTERED || row.asks_by != VSYSCALL;
            row.way == "exec" && !row.is_watched() && is_seen
        };
        let traced = move |row: &Row| {
            let command = row.command.clone().filter(|_| way != UNFILTERED || is_denied);
            // Its leak check would trace itself at exit.
            let quiet = row.program.contains(ASAN).then(|| owned(&["env", "ASAN_OPTIONS=detect_leaks=0"]));
            let command = command.map(|words| [quiet.unwrap_or_default(), words].concat());
            Row { way, command, ..row.clone() }
        };
        rows.iter().filter(is_reached).map(traced)
    };
    by("trace").chain(by(UNFILTERED)).collect()
}

/// Returns the rows of programs with the preloaded library, if it works for them.
fn preloaded_rows(rows: &[Row]) -> Vec<Row> {
    let is_reached = |row: &&Row| {
        let is_out = ["static", "Go", ASAN].iter().any(|word| row.program.contains(word));
        !is_out && row.way == "exec"
    };
    rows.iter().filter(is_reached).map(|row| Row { way: PRELOAD, ..row.clone() }).collect()
}

/// The expected and the observed behavior of a program.
struct Seen {
    row: Row,
    teller: Option<Teller>,
    cells: Vec<String>,
}

impl Seen {
    fn line(&self) -> String {
        let Row { program, asks_by, way, .. } = self.row;
        let cells = if self.cells.is_empty() { vec!["not tried".to_owned(); COLUMNS] } else { self.cells.clone() };
        format!("| {program} | {asks_by} | {way} | {} |\n", cells.join(" | "))
    }
}

/// Queries each program until it shows a time.
fn all_show(all: &mut [Seen], what: &str, seconds: i64) {
    each(all, |row, teller| {
        teller.ask_until(&format!("{what} in {}", row.program), |answer| answer == seconds);
        what.to_owned()
    });
}

fn each(all: &mut [Seen], mut look: impl FnMut(&Row, &mut Teller) -> String) {
    for Seen { row, teller, cells } in all {
        if let Some(teller) = teller {
            let ended = teller.child.try_wait().unwrap();
            assert!(ended.is_none(), "{} {} has ended: {ended:?}", row.program, row.asks_by);
            cells.push(look(row, teller));
        }
    }
}

/// Runs the clock at several rates, at which no program may be ahead of the service.
fn at_rates(service: &Service, all: &mut [Seen]) {
    for (rate, least) in [(3600.0, 3600), (0.5, 1)] {
        service.post("/v1/set-rate", &json!({ "rate": rate }));
        service.post("/v1/resume-time", &json!({}));
        // All are queried before any is waited for, so that their seconds pass concurrently.
        let tellers = all.iter_mut().filter_map(|seen| seen.teller.as_mut());
        let mut before = tellers.map(Teller::ask).collect::<Vec<_>>().into_iter();
        each(all, |row, teller| {
            let least = before.next().unwrap() + least;
            let awaited = format!("{least} at {rate} × in {}, {}", row.program, row.asks_by);
            let after = teller.ask_until(&awaited, |answer| answer >= least);
            let reading = seconds_of(service.get("/v1/clock", &[])["current_time"].as_str().unwrap());
            assert!(after <= reading, "{} is ahead of the service: {after} {reading}", row.program);
            format!("{rate} ×")
        });
        let paused = service.post("/v1/pause-time", &json!({}));
        let paused = seconds_of(paused["paused_at"].as_str().unwrap());
        // Until a program has applied the pause, it is ahead.
        for Seen { row, teller, .. } in all.iter_mut() {
            let Some(teller) = teller else { continue };
            teller.ask_until(&format!("the pause at {rate} × in {}", row.program), |answer| answer == paused);
        }
    }
}

/// Kills the supervisor of each program.
fn without_supervisors(all: &mut [Seen]) {
    each(all, |row, teller| {
        let supervisor = children(teller.child.id())[0];
        kill_process(Pid::from_raw(supervisor.cast_signed()).unwrap(), Signal::KILL).unwrap();
        if row.way == UNFILTERED {
            until(row.program, || teller.child.try_wait().unwrap());
            return "ends".to_owned();
        }
        // Preloading needs no supervisor.
        let is_lost = row.is_starter && row.way != PRELOAD;
        let expected = if is_lost { 0 } else { 951_825_600 };
        teller.ask_until(row.program, |answer| answer == expected);
        (if is_lost { "fails" } else { "keeps" }).to_owned()
    });
}

fn page() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/matrix.txt")
}

#[test]
fn programs_see_clock_changes_as_documented() {
    let Some(mut service) = service() else { return };
    let folder = tempfile::tempdir().unwrap();
    // For programs that switch users.
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut rows = rows(folder.path());
    let preloaded = preloaded_rows(&rows);
    rows.extend(traced_rows(folder.path(), &rows));
    rows.extend(preloaded);
    let mut all: Vec<Seen> = rows.into_iter().map(|row| started(&service, folder.path(), row)).collect();
    for (to, seconds) in [
        ("2031-05-06T07:08:09Z", 1_935_817_689),
        ("1966-03-04T05:06:07Z", -120_855_233),
        ("2041-01-01T00:00:00Z", 2_240_611_200),
    ] {
        travel(&service, to);
        all_show(&mut all, &to[..10], seconds);
    }
    each(&mut all, |row, teller| {
        let (first, second) = (teller.ask(), teller.ask());
        assert_eq!((first, second), (2_240_611_200, 2_240_611_200), "{}", row.program);
        "stands".to_owned()
    });
    at_rates(&service, &mut all);
    travel(&service, "2031-05-06T07:08:09Z");
    each(&mut all, |row, teller| {
        teller.ask_until(row.program, |answer| answer == 1_935_817_689);
        String::new()
    });
    for seen in &mut all {
        seen.cells.pop();
    }
    // Followers reconnect to the same address.
    let address = service.address().to_string();
    service.arguments(&["--listen", &address]);
    service.kill();
    all_show(&mut all, "keeps", 1_935_817_689);
    service.start_again();
    travel(&service, "2000-02-29T12:00:00Z");
    all_show(&mut all, "2000-02-29", 951_825_600);
    without_supervisors(&mut all);
    // Further programs started by them, with any method, have one clock only.
    for Seen { row, cells, .. } in &mut all {
        if let Some(words) = &row.command {
            cells.push(nested(&service, folder.path(), row.way, words));
        }
    }
    let lines: Vec<String> = all.iter().map(Seen::line).collect();
    let was_tried: Vec<bool> = all.iter().map(|seen| seen.teller.is_some()).collect();
    for Teller { mut child, questions, answers } in all.into_iter().filter_map(|seen| seen.teller) {
        drop((questions, answers));
        child.wait().unwrap();
    }
    check_page(HEAD, &lines, &was_tried);
    service.audit();
}

fn started(service: &Service, folder: &Path, row: Row) -> Seen {
    let teller = row.command.as_ref().map(|words| {
        let mut command = on_clock(service, folder, (row.way, &[]), words);
        Teller::of(command.stderr(Stdio::null()))
    });
    Seen { row, teller, cells: Vec::new() }
}

/// Returns the command that puts a program on the clock with a method.
fn on_clock(service: &Service, folder: &Path, (way, options): (&str, &[&str]), words: &[String]) -> Command {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let exec = |options: &[&str]| command(service, &[&["exec"], options, &["--"], &words[..]].concat());
    let mut command = match way {
        "trace" | PRELOAD => exec(&[&["--via", way], options].concat()),
        UNFILTERED => {
            let mut inner = exec(options);
            under(folder.join("deny").to_str().unwrap(), &["filters"], inner.env("PATH", PATH))
        }
        _ => exec(options),
    };
    // Leftovers of killed supervisors are removed with the test's folder.
    command.env("PATH", PATH).env("TMPDIR", folder);
    command
}

/// Starts a program by a nested run, which is rejected.
fn nested(service: &Service, folder: &Path, way: &str, words: &[String]) -> String {
    let second = [&owned(&[env!("CARGO_BIN_EXE_timenav"), "exec", "--"]), words].concat();
    let (code, stdout, stderr) = run(&mut on_clock(service, folder, (way, &[]), &second), "?\n");
    assert_eq!((code, stdout.as_str()), (Some(1), ""), "{way} {words:?}: {stderr}");
    assert!(stderr.contains("a program can be on one clock only"), "{way} {words:?}: {stderr}");
    "refused".to_owned()
}

pub(super) fn seconds_of(reading: &str) -> i64 {
    parse_timestamp::<Virtual>(reading).unwrap().micros().div_euclid(1_000_000)
}

/// Serializes the tests that write the page.
static WRITING: Mutex<()> = Mutex::new(());

/// Compares the table with the observed behavior; rows that cannot be tested on this machine are kept.
#[expect(clippy::disallowed_methods, reason = "it is how snapshots are updated")]
fn check_page(head: &str, lines: &[String], was_tried: &[bool]) {
    let _writing = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
    let text = std::fs::read_to_string(page()).unwrap();
    let start =
        text.find(head).map_or_else(|| panic!("the page has no table that begins so:\n{head}"), |at| at + head.len());
    let table_lines = text[start..].lines().take_while(|line| line.starts_with('|'));
    let end = start + table_lines.map(|line| line.len() + 1).sum::<usize>();
    if std::env::var("INSTA_UPDATE").is_ok_and(|value| value == "always") {
        std::fs::write(page(), format!("{}{}{}", &text[..start], lines.concat(), &text[end..])).unwrap();
        return;
    }
    let mut wrong = String::new();
    let table_lines: Vec<&str> = text[start..end].lines().collect();
    assert_eq!(table_lines.len(), lines.len(), "rows of the page");
    for ((line, tried), table_lines) in lines.iter().zip(was_tried).zip(table_lines) {
        let is_same = line.trim_end() == table_lines || table_lines.ends_with("not tried |") || !tried;
        if !is_same {
            let _ = write!(wrong, "{table_lines}\n  was seen as\n{line}");
        }
    }
    assert!(wrong.is_empty(), "{wrong}run this test with INSTA_UPDATE=always, then look at the difference");
}
