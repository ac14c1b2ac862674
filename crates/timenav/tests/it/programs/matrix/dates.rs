//! The second table of `tests/programs/matrix.txt`: programs that wait until a date while the clock is moved.

use std::process::{Command, Stdio};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::{PRELOAD, UNFILTERED, check_page, compiled, denier, nested, on_clock, owned, seconds_of};
use crate::programs::{DAY, Service, Teller, children, processes, service};
use crate::support::waiting::{until, until_so};

const C: &str = include_str!("../../../programs/waiter.c");
const JAVA: &str = include_str!("../../../programs/Waiter.java");
const HEAD: &str = "| program | waits by | way | a jump reaches the date | before 1970 | after 2038 | a jump back | clock \
                    stands | rate 3600 | rate 0.5 | service lost | service back | supervisor killed | nested |\n\
                    | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n";
const COLUMNS: usize = 11;
const HOUR: i64 = 3_600;
const STATIC: &str = "C, glibc, static";
const MUSL: &str = "C, musl";
const LENGTH: &str = "ends after its length";
const NOT_REACHED: &str = "does not";
/// Distance of the date for which the service returns in time.
const WEEKS: i64 = 1_000 * HOUR;

/// What ends a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ends {
    /// Only the date.
    Date,
    /// The date, or the host time that was left at the start of the wait.
    Sooner,
    /// The host time that was left at the start of the wait: the C library converts the date to a duration.
    Length,
    /// The host time that was left when it was set: a kernel timer, which cannot be moved, and never expires if the
    /// clock was paused.
    Armed,
}

impl Ends {
    /// Returns whether no jump ends it.
    fn is_by_length(self) -> bool {
        matches!(self, Self::Length | Self::Armed)
    }

    /// Returns a date that is reached without a jump, while others wait for one.
    fn without_a_jump(self, now: i64, until: i64) -> i64 {
        match self {
            Self::Date | Self::Sooner => until,
            // The program may start to wait after the next jump, back by a day.
            Self::Length | Self::Armed => now - WEEKS,
        }
    }

    /// Returns the text on the page where a jump ends other waits. That it does not end these is tested once.
    fn where_a_jump_comes(self) -> &'static str {
        if self == Self::Armed { NOT_REACHED } else { LENGTH }
    }
}

/// A program that waits until a date, with one method.
struct Waiter {
    program: &'static str,
    waits_by: &'static str,
    way: &'static str,
    ends: Ends,
    command: Option<Vec<String>>,
    teller: Option<Teller>,
    cells: Vec<String>,
}

impl Waiter {
    /// Starts the wait. Returns whether the program runs.
    fn begin(&mut self, until: i64) -> bool {
        let Some(teller) = &mut self.teller else { return false };
        std::io::Write::write_all(&mut teller.questions, format!("{until}\n").as_bytes()).unwrap();
        assert_eq!(teller.line(), "waiting\n", "{} {}", self.program, self.way);
        true
    }

    /// Returns the output after the wait, or how it failed.
    fn answer(&mut self) -> String {
        self.teller.as_mut().map(|teller| teller.line().trim_end().to_owned()).unwrap_or_default()
    }

    fn line(&self) -> String {
        let cells = if self.cells.is_empty() { vec!["not tried".to_owned(); COLUMNS] } else { self.cells.clone() };
        format!("| {} | {} | {} | {} |\n", self.program, self.waits_by, self.way, cells.join(" | "))
    }

    fn seconds(&mut self) -> i64 {
        let answer = self.answer();
        answer.parse().unwrap_or_else(|_| panic!("{} {} {}: {answer:?}", self.program, self.waits_by, self.way))
    }
}

/// Starts all programs with all methods.
fn waiters(service: &Service, folder: &std::path::Path) -> Vec<Waiter> {
    let c = compiled(folder, "waiter", ("waiter.c", C), &["gcc", "-O1", "-pthread"], 5);
    std::fs::write(folder.join("Waiter.java"), JAVA).unwrap();
    let java = Command::new("javac").args(["-d", "."]).arg("Waiter.java").current_dir(folder).status();
    let quiet = ["-XX:-CreateCoredumpOnCrash", "-XX:ErrorFile=/dev/null"];
    let java = java.is_ok_and(|status| status.success());
    let java = java.then(|| owned(&[&["java"], &quiet[..], &["-cp", folder.to_str().unwrap(), "Waiter"]].concat()));
    let fixed = compiled(folder, "static-waiter", ("waiter.c", C), &["gcc", "-O1", "-pthread", "-static"], 5);
    let musl = compiled(folder, "musl-waiter", ("waiter.c", C), &["musl-gcc", "-O1", "-pthread"], 5);
    let of = |program: &Option<String>, word: &str| Some(vec![program.clone()?, word.to_owned()]);
    let programs = [
        ("C, glibc", "`clock_nanosleep`", Ends::Date, of(&c, "clock_nanosleep")),
        ("C, glibc", "`timerfd_settime`", Ends::Date, of(&c, "timerfd")),
        ("C, glibc", "`pthread_cond_timedwait`", Ends::Sooner, of(&c, "cond_timedwait")),
        ("C, glibc", "`sem_timedwait`", Ends::Sooner, of(&c, "sem_timedwait")),
        ("C, glibc", "`pthread_mutex_timedlock` (`FUTEX_LOCK_PI`)", Ends::Sooner, of(&c, "mutex_timedlock")),
        ("C, glibc", "`mq_timedreceive`", Ends::Sooner, of(&c, "mq_timedreceive")),
        ("C, glibc", "`timer_settime`", Ends::Armed, of(&c, "timer_settime")),
        (STATIC, "`clock_nanosleep`", Ends::Date, of(&fixed, "clock_nanosleep")),
        (STATIC, "`pthread_cond_timedwait`", Ends::Sooner, of(&fixed, "cond_timedwait")),
        (MUSL, "`clock_nanosleep`", Ends::Date, of(&musl, "clock_nanosleep")),
        (MUSL, "`pthread_cond_timedwait`", Ends::Length, of(&musl, "cond_timedwait")),
        ("Java", "`LockSupport.parkUntil`", Ends::Sooner, java),
    ];
    let is_denied = denier(folder).is_some();
    let mut all = Vec::new();
    for way in ["exec", "trace", UNFILTERED, PRELOAD] {
        for (program, waits_by, ends, command) in &programs {
            if way == PRELOAD && *program == STATIC {
                continue;
            }
            let command = command.clone().filter(|_| way != UNFILTERED || is_denied);
            let teller = command.as_ref().map(|words| started(service, folder, way, words));
            // With the preloaded library, the function itself waits and knows the date.
            let ends = if way == PRELOAD && *ends == Ends::Length { Ends::Sooner } else { *ends };
            all.push(Waiter { program, waits_by, way, ends, command, teller, cells: Vec::new() });
        }
    }
    all
}

/// Starts a program. Clock changes wait until it has applied them.
fn started(service: &Service, folder: &std::path::Path, way: &'static str, words: &[String]) -> Teller {
    Teller::of(on_clock(service, folder, (way, &["--follow", "it"]), words).stderr(Stdio::null()))
}

/// Waits for this many followers of the clock.
fn all_follow(service: &Service, count: usize) {
    until_so("followers", || {
        let listed = service.get("/v1/followers", &[]);
        listed["followers"].as_array().unwrap().len() == count
    });
}

fn running(all: &[Waiter]) -> usize {
    all.iter().filter(|waiter| waiter.teller.is_some()).count()
}

/// Starts all waits, changes the clock, and passes on each program that has started.
fn wait_all(
    all: &mut [Waiter],
    (now, ahead): (i64, i64),
    change: impl FnOnce(),
    mut look: impl FnMut(&mut Waiter) -> String,
) {
    let wait = |waiter: &mut Waiter| waiter.begin(waiter.ends.without_a_jump(now, now + ahead));
    let begun: Vec<bool> = all.iter_mut().map(wait).collect();
    change();
    for (waiter, _) in all.iter_mut().zip(begun).filter(|(_, begun)| *begun) {
        let cell = look(waiter);
        waiter.cells.push(cell);
    }
}

/// Moves the clock, and waits until all programs have applied it.
fn move_all(service: &Service, path: &str, how: &Value) {
    let mut how = how.clone();
    how["followers"] = "all".into();
    how["wait"] = "10m".into();
    assert_eq!(service.post(path, &how)["followers"]["state"], "confirmed");
}

fn jump(service: &Service, to: &str) {
    move_all(service, "/v1/travel", &json!({ "destination_time": to }));
}

fn a_jump_reaches_them(service: &Service, all: &mut [Waiter]) {
    for (day, seconds, later) in [
        (DAY.0, DAY.1, "2031-05-06T09:08:09Z"),
        ("1966-03-04T05:06:07Z", -120_855_233, "1966-03-04T07:06:07Z"),
        ("2041-01-01T00:00:00Z", 2_240_611_200, "2041-01-01T02:00:00Z"),
    ] {
        jump(service, day);
        wait_all(
            all,
            (seconds, HOUR),
            || jump(service, later),
            |waiter| match waiter.answer().as_str() {
                // The kernel rejects dates before 1970, and neither the C library nor Java waits for one.
                "error 22" if seconds < 0 => "`EINVAL`, as natively".to_owned(),
                _ if seconds < 0 && waiter.ends != Ends::Date => "ends at once, as natively".to_owned(),
                // Checked below.
                _ if waiter.ends == Ends::Length => "does not, as natively".to_owned(),
                _ if waiter.ends == Ends::Armed => NOT_REACHED.to_owned(),
                reading => {
                    assert_eq!(reading, (seconds + 2 * HOUR).to_string(), "{} {} {day}", waiter.waits_by, waiter.way);
                    "comes".to_owned()
                }
            },
        );
    }
}

/// After a jump back they continue to wait until the clock reaches the date.
fn a_jump_back(service: &Service, all: &mut [Waiter]) {
    jump(service, DAY.0);
    let change = || {
        jump(service, "2031-05-05T07:08:09Z");
        jump(service, "2031-05-06T09:08:09Z");
    };
    wait_all(all, (DAY.1, HOUR), change, |waiter| {
        if waiter.ends.is_by_length() {
            waiter.seconds();
            return waiter.ends.where_a_jump_comes().to_owned();
        }
        assert_eq!(waiter.seconds(), DAY.1 + 2 * HOUR, "{} {}", waiter.waits_by, waiter.way);
        "waits on".to_owned()
    });
}

/// A wait by duration is not ended by a jump that ends all other waits.
fn no_jump_ends_a_length(service: &Service, folder: &std::path::Path, all: &mut [Waiter]) {
    jump(service, DAY.0);
    let others = all.iter_mut().filter(|waiter| waiter.ends.is_by_length()).filter_map(|waiter| {
        let mut teller = started(service, folder, waiter.way, waiter.command.as_ref()?);
        std::io::Write::write_all(&mut teller.questions, format!("{}\n", DAY.1 + HOUR).as_bytes()).unwrap();
        assert_eq!(teller.line(), "waiting\n", "{}", waiter.way);
        Some(teller)
    });
    let mut others: Vec<Teller> = others.collect();
    wait_all(all, (DAY.1, HOUR), || jump(service, "2031-05-06T09:08:09Z"), Waiter::answer);
    for waiter in all.iter_mut() {
        waiter.cells.pop();
    }
    for teller in &mut others {
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        let ready = poll(&mut [PollFd::new(teller.answers.get_ref(), PollFlags::IN)], Some(&now)).unwrap();
        assert_eq!(ready, 0, "it waits for an hour");
        kill_process(Pid::from_raw(teller.child.id().cast_signed()).unwrap(), Signal::TERM).unwrap();
        teller.child.wait().unwrap();
    }
}

/// A timeout ends after its host time; a date waits until the paused clock shows it.
fn they_stand(service: &Service, all: &mut [Waiter]) {
    jump(service, DAY.0);
    let is_started = |waiter: &mut Waiter| waiter.ends != Ends::Armed && waiter.begin(DAY.1 + 1);
    let begun: Vec<bool> = all.iter_mut().map(is_started).collect();
    let begun = |waiters: &mut [Waiter], is_date: bool, cell: &str, expected: i64| {
        let is_kind = |waiter: &Waiter| (waiter.ends == Ends::Date) == is_date;
        for (waiter, _) in waiters.iter_mut().zip(&begun).filter(|(waiter, begun)| **begun && is_kind(waiter)) {
            assert_eq!(waiter.seconds(), expected, "{} {}", waiter.waits_by, waiter.way);
            waiter.cells.push(cell.to_owned());
        }
    };
    begun(all, false, LENGTH, DAY.1);
    jump(service, "2031-05-06T07:08:19Z");
    begun(all, true, "stays away", DAY.1 + 10);
    // They were started together with those that no jump ends.
    for waiter in all.iter_mut().filter(|waiter| waiter.ends == Ends::Armed && waiter.teller.is_some()) {
        waiter.cells.push("never expires".to_owned());
    }
}

/// Waits for some hours, each of which takes a second at this rate.
fn an_hour_passes(all: &mut [Waiter], (before, ahead): (i64, i64), change: impl FnOnce()) {
    let until = |ends: Ends| before + if ends == Ends::Length { 1 } else { ahead };
    let begun: Vec<bool> = all.iter_mut().map(|waiter| waiter.begin(until(waiter.ends))).collect();
    change();
    for (waiter, _) in all.iter_mut().zip(begun).filter(|(_, begun)| *begun) {
        let seconds = waiter.seconds();
        let is_by_length = waiter.ends == Ends::Length;
        assert!(is_by_length || seconds >= before + ahead, "{} {}", waiter.waits_by, waiter.way);
        waiter.cells.push(if is_by_length { LENGTH } else { "comes" }.to_owned());
    }
}

/// At half the rate a date a second away takes twice the host time.
fn they_are_slow(service: &Service, all: &mut [Waiter]) {
    move_all(service, "/v1/set-rate", &json!({ "rate": 0.5 }));
    let until = now(service) + 2;
    let begun: Vec<bool> = all.iter_mut().map(|waiter| waiter.begin(until)).collect();
    for (waiter, _) in all.iter_mut().zip(begun).filter(|(_, begun)| *begun) {
        let seconds = waiter.seconds();
        let is_date = matches!(waiter.ends, Ends::Date | Ends::Armed);
        assert!(!is_date || seconds >= until, "{} {}", waiter.waits_by, waiter.way);
        waiter.cells.push(if is_date { "comes" } else { LENGTH }.to_owned());
    }
    move_all(service, "/v1/set-rate", &json!({ "rate": 3600 }));
}

fn now(service: &Service) -> i64 {
    let reading = service.get("/v1/clock", &[])["current_time"].as_str().unwrap().to_owned();
    seconds_of(&reading)
}

/// Programs that started to wait while the service was down follow it once it is back, and a jump reaches them.
fn check_reconnection(service: &mut Service, all: &mut [Waiter], before: i64) {
    let count = running(all);
    let come_back = || {
        service.start_again();
        all_follow(service, count);
        jump(service, "2032-01-01T00:00:00Z");
    };
    wait_all(all, (before, WEEKS), come_back, |waiter| {
        let seconds = waiter.seconds();
        if waiter.ends.is_by_length() {
            return waiter.ends.where_a_jump_comes().to_owned();
        }
        assert!(seconds >= 1_956_528_000, "{} {}: {seconds}", waiter.waits_by, waiter.way);
        "comes".to_owned()
    });
}

fn the_supervisor_is_killed(all: &mut [Waiter], later: i64) {
    for waiter in all {
        let Some(teller) = &mut waiter.teller else { continue };
        let supervisor = children(teller.child.id())[0];
        kill_process(Pid::from_raw(supervisor.cast_signed()).unwrap(), Signal::KILL).unwrap();
        // Calls that a tracer handles while it exits continue in the kernel.
        until_so("the end of a supervisor", || processes().iter().all(|(pid, ..)| *pid != supervisor));
        let cell = if waiter.way == UNFILTERED {
            until(waiter.program, || teller.child.try_wait().unwrap());
            "ends"
        } else {
            // The page stays as it is, and so does the clock rate.
            let is_by_length = waiter.ends == Ends::Length;
            // That many hours would pass in host time.
            let later = if is_by_length { DAY.1 } else { later };
            std::io::Write::write_all(&mut teller.questions, format!("{later}\n").as_bytes()).unwrap();
            assert_eq!(teller.line(), "waiting\n", "{} {}", waiter.program, waiter.way);
            let reading = teller.line();
            match reading.trim_end().parse::<i64>() {
                Ok(_) if is_by_length => LENGTH,
                Ok(_) => "comes",
                Err(_) => "fails",
            }
        };
        waiter.cells.push(cell.to_owned());
    }
}

#[test]
fn waits_until_a_date_end_as_documented() {
    let Some(mut service) = service() else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut all = waiters(&service, folder.path());
    all_follow(&service, running(&all));
    a_jump_reaches_them(&service, &mut all);
    no_jump_ends_a_length(&service, folder.path(), &mut all);
    all_follow(&service, running(&all));
    a_jump_back(&service, &mut all);
    they_stand(&service, &mut all);
    move_all(&service, "/v1/set-rate", &json!({ "rate": 3600 }));
    move_all(&service, "/v1/resume-time", &json!({}));
    an_hour_passes(&mut all, (now(&service), HOUR), || ());
    they_are_slow(&service, &mut all);
    let before = now(&service);
    let address = service.address().to_string();
    service.arguments(&["--listen", &address]);
    an_hour_passes(&mut all, (before, 2 * HOUR), || service.kill());
    check_reconnection(&mut service, &mut all, before);
    the_supervisor_is_killed(&mut all, now(&service) + 6 * HOUR);
    for Waiter { command, way, cells, .. } in &mut all {
        if let Some(words) = command {
            cells.push(nested(&service, folder.path(), way, words));
        }
    }
    let lines: Vec<String> = all.iter().map(Waiter::line).collect();
    let was_tried: Vec<bool> = all.iter().map(|waiter| waiter.teller.is_some()).collect();
    for Teller { mut child, questions, answers } in all.into_iter().filter_map(|waiter| waiter.teller) {
        drop((questions, answers));
        child.wait().unwrap();
    }
    check_page(HEAD, &lines, &was_tried);
    service.audit();
}
