//! The second table of `docs/programs-matrix.md`: programs that wait until a date, while the clock is moved.

use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::{PRELOAD, UNFILTERED, check_page, compiled, denier, on_clock, owned, seconds_of};
use crate::programs::{DAY, Service, Teller, children, processes, service};
use crate::waiting::{until, until_so};

const C: &str = include_str!("../../../programs/waiter.c");
const JAVA: &str = include_str!("../../../programs/Waiter.java");
const HEAD: &str = "| program | waits by | way | a jump reaches the date | before 1970 | after 2038 | clock stands \
                    | rate 3600 | service lost | supervisor killed |\n\
                    | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n";
const COLUMNS: usize = 7;
const HOUR: i64 = 3_600;

/// A program that waits until a date, by one way on the clock.
struct Waiter {
    program: &'static str,
    waits_by: &'static str,
    way: &'static str,
    /// Whether it waits for the date and for nothing else. Others have a timeout, which is not to hang.
    is_date: bool,
    teller: Option<Teller>,
    cells: Vec<String>,
}

impl Waiter {
    /// Lets it begin to wait. Returns whether it runs.
    fn begin(&mut self, until: i64) -> bool {
        let Some(teller) = &mut self.teller else { return false };
        std::io::Write::write_all(&mut teller.questions, format!("{until}\n").as_bytes()).unwrap();
        assert_eq!(teller.line(), "waiting\n", "{} {}", self.program, self.way);
        true
    }

    /// Returns what it shows when its wait is over, or how it failed.
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

/// Starts all programs by all ways.
fn waiters(service: &Service, folder: &std::path::Path) -> Vec<Waiter> {
    let c = compiled(folder, "waiter", ("waiter.c", C), &["gcc", "-O1", "-pthread"], 5);
    std::fs::write(folder.join("Waiter.java"), JAVA).unwrap();
    let java = Command::new("javac").args(["-d", "."]).arg("Waiter.java").current_dir(folder).status();
    let quiet = ["-XX:-CreateCoredumpOnCrash", "-XX:ErrorFile=/dev/null"];
    let java = java.is_ok_and(|status| status.success());
    let java = java.then(|| owned(&[&["java"], &quiet[..], &["-cp", folder.to_str().unwrap(), "Waiter"]].concat()));
    let c = |word: &str| Some(vec![c.clone()?, word.to_owned()]);
    let programs = [
        ("C, glibc", "`clock_nanosleep`", true, c("clock_nanosleep")),
        ("C, glibc", "`timerfd_settime`", true, c("timerfd")),
        ("C, glibc", "`pthread_cond_timedwait`", false, c("cond_timedwait")),
        ("C, glibc", "`sem_timedwait`", false, c("sem_timedwait")),
        ("Java", "`LockSupport.parkUntil`", false, java),
    ];
    let is_denied = denier(folder).is_some();
    let mut all = Vec::new();
    for way in ["exec", "trace", UNFILTERED, PRELOAD] {
        for (program, waits_by, is_date, command) in &programs {
            let command = command.as_ref().filter(|_| way != UNFILTERED || is_denied);
            // Whoever changes the clock waits until they go by it.
            let teller = command.map(|words| {
                Teller::of(on_clock(service, folder, (way, &["--follow", "it"]), words).stderr(Stdio::null()))
            });
            all.push(Waiter { program, waits_by, way, is_date: *is_date, teller, cells: Vec::new() });
        }
    }
    all
}

/// Lets all begin to wait, changes the clock, and hands over each that has begun.
fn wait_all(all: &mut [Waiter], until: i64, change: impl FnOnce(), mut look: impl FnMut(&mut Waiter) -> String) {
    let begun: Vec<bool> = all.iter_mut().map(|waiter| waiter.begin(until)).collect();
    change();
    for (waiter, _) in all.iter_mut().zip(begun).filter(|(_, begun)| *begun) {
        let cell = look(waiter);
        waiter.cells.push(cell);
    }
}

/// Moves the clock, and waits until all programs go by it.
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
            seconds + HOUR,
            || jump(service, later),
            |waiter| match waiter.answer().as_str() {
                // The kernel takes no date before 1970, and neither the C library nor Java waits for one.
                "error 22" if seconds < 0 && waiter.is_date => "`EINVAL`, as natively".to_owned(),
                _ if seconds < 0 && !waiter.is_date => "ends at once, as natively".to_owned(),
                shown => {
                    assert_eq!(shown, (seconds + 2 * HOUR).to_string(), "{} {} {day}", waiter.waits_by, waiter.way);
                    "comes".to_owned()
                }
            },
        );
    }
}

/// A timeout is over when as much host time has passed, and a date comes when the clock shows it: it stands longer.
fn they_stand(service: &Service, all: &mut [Waiter]) {
    jump(service, DAY.0);
    let begun: Vec<bool> = all.iter_mut().map(|waiter| waiter.begin(DAY.1 + 1)).collect();
    let begun = |waiters: &mut [Waiter], is_date: bool, cell: &str, expected: i64| {
        for (waiter, _) in waiters.iter_mut().zip(&begun).filter(|(waiter, begun)| **begun && waiter.is_date == is_date)
        {
            assert_eq!(waiter.seconds(), expected, "{} {}", waiter.waits_by, waiter.way);
            waiter.cells.push(cell.to_owned());
        }
    };
    begun(all, false, "ends after its length", DAY.1);
    jump(service, "2031-05-06T07:08:19Z");
    begun(all, true, "stays away", DAY.1 + 10);
}

/// Waits for an hour, which at this rate takes a second.
fn an_hour_passes(all: &mut [Waiter], before: i64, change: impl FnOnce()) {
    wait_all(all, before + HOUR, change, |waiter| {
        assert!(waiter.seconds() >= before + HOUR, "{} {}", waiter.waits_by, waiter.way);
        "comes".to_owned()
    });
}

fn now(service: &Service) -> i64 {
    let shown = service.get("/v1/clock", &[])["current_time"].as_str().unwrap().to_owned();
    seconds_of(&shown)
}

fn the_supervisor_is_killed(all: &mut [Waiter], later: i64) {
    for waiter in all {
        let Some(teller) = &mut waiter.teller else { continue };
        let supervisor = children(teller.child.id())[0];
        kill_process(Pid::from_raw(supervisor.cast_signed()).unwrap(), Signal::KILL).unwrap();
        // What a tracer is told of while it ends goes on to the kernel.
        until_so("the end of a supervisor", || processes().iter().all(|(pid, ..)| *pid != supervisor));
        let cell = if waiter.way == UNFILTERED {
            until(waiter.program, || teller.child.try_wait().unwrap());
            "ends"
        } else {
            // The page stays as it is, and so does the rate at which the clock runs.
            std::io::Write::write_all(&mut teller.questions, format!("{later}\n").as_bytes()).unwrap();
            assert_eq!(teller.line(), "waiting\n", "{} {}", waiter.program, waiter.way);
            let shown = teller.line();
            if shown.trim_end().parse::<i64>().is_ok() { "comes" } else { "fails" }
        };
        waiter.cells.push(cell.to_owned());
    }
}

#[test]
fn every_wait_until_a_date_ends_as_the_page_says() {
    let Some(mut service) = service() else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut all = waiters(&service, folder.path());
    until_so("followers", || {
        let listed = service.get("/v1/followers", &[]);
        listed["followers"].as_array().unwrap().len() == all.iter().filter(|waiter| waiter.teller.is_some()).count()
    });
    a_jump_reaches_them(&service, &mut all);
    they_stand(&service, &mut all);
    move_all(&service, "/v1/set-rate", &json!({ "rate": 3600 }));
    move_all(&service, "/v1/resume-time", &json!({}));
    an_hour_passes(&mut all, now(&service), || ());
    let before = now(&service);
    an_hour_passes(&mut all, before + HOUR, || service.kill());
    the_supervisor_is_killed(&mut all, before + 6 * HOUR);
    let lines: Vec<String> = all.iter().map(Waiter::line).collect();
    let was_tried: Vec<bool> = all.iter().map(|waiter| waiter.teller.is_some()).collect();
    for Teller { mut child, questions, answers } in all.into_iter().filter_map(|waiter| waiter.teller) {
        drop((questions, answers));
        child.wait().unwrap();
    }
    service.start_again();
    check_page(HEAD, &lines, &was_tried);
    service.audit();
}
