//! Database checks: users and roles, code that it would run, and the last verification.

use timenav_core::time::{Instant, Wall};
use timenav_engine::WallClock as _;
use timenav_store::{Examination, ExaminedKey, SqliteArchive};

use super::check::{Check, some_of};
use crate::config::Settings;
use crate::data_folder::DATABASE_FILE;
use crate::wiring::ports::HostClock;

const DAY_MICROS: i64 = 86_400_000_000;
const SCAN_DAYS_MAX: i64 = 30;
/// Tolerance between a clock and the newest entry, in microseconds: two processes read it one after the other.
const CLOCK_BEHIND_MICROS_MAX: i64 = 1_000_000;

pub(super) fn look_at(settings: &Settings) -> Vec<Check> {
    let path = settings.data.join(DATABASE_FILE);
    if !path.exists() {
        return Vec::new();
    }
    match SqliteArchive::open(&path).and_then(|archive| archive.examine()) {
        Ok(examined) => {
            let mut checks = vec![Check::ok("database", "the database can be read")];
            checks.extend(of(&examined, HostClock::start().now(), settings.demo));
            checks
        }
        Err(error) => {
            let advice = "Run timenav verify on it, and restore a backup if it is damaged";
            vec![Check::fail("database", format!("the database cannot be read: {error}"), advice)]
        }
    }
}

/// `now` is host time.
pub(super) fn of(examined: &Examination, now: Instant<Wall>, loads_demo: bool) -> Vec<Check> {
    vec![
        schema(examined),
        host_clock(examined, now),
        scan(examined, now),
        operators(examined),
        operator_keys(&live(examined, now)),
        keys(&live(examined, now)),
        demo(examined.has_demo, loads_demo),
    ]
}

fn live(examined: &Examination, now: Instant<Wall>) -> Vec<&ExaminedKey> {
    examined.keys.iter().filter(|key| key.expires_at.is_none_or(|end| end > now)).collect()
}

fn schema(examined: &Examination) -> Check {
    if examined.differences.is_empty() {
        return Check::ok("schema", "the tables are as the service creates them");
    }
    let seen = format!("the database schema was changed: {}", some_of(&examined.differences));
    Check::fail(
        "schema",
        seen,
        "Something other than timenav changed it: keep a copy, and run timenav verify with a key that you kept",
    )
}

fn host_clock(examined: &Examination, now: Instant<Wall>) -> Check {
    let Some(newest) = examined.newest else { return Check::ok("host-clock", "there is no entry to compare it with") };
    let behind = newest.since(now).micros();
    if behind > CLOCK_BEHIND_MICROS_MAX {
        let seen = format!("the clock of this machine is {} seconds behind the newest entry", behind / 1_000_000);
        let advice = "Set it: until it passes that entry, all new entries get the same time and clocks do not move";
        return Check::fail("host-clock", seen, advice);
    }
    Check::ok("host-clock", "the clock of this machine is not behind the newest entry")
}

fn scan(examined: &Examination, now: Instant<Wall>) -> Check {
    let advice =
        "Run timenav verify with a key and a checkpoint that you kept, on another machine, and keep a note of the scan";
    match examined.last_scan.map(|at| now.since(at).micros() / DAY_MICROS) {
        Some(days) if days <= SCAN_DAYS_MAX => {
            Check::ok("scan", format!("the service was last scanned {days} days ago"))
        }
        Some(days) => Check::warn("scan", format!("the service was last scanned {days} days ago"), advice),
        None => Check::warn("scan", "no recent entry records a scan, and timenav verify does not leave one", advice),
    }
}

fn operators(examined: &Examination) -> Check {
    match examined.operators.as_slice() {
        [] => {
            Check::fail("operators", "there are no operators", "Restore a backup: no user can administer the service")
        }
        [only] => {
            let advice = "Create another one: if the only key is lost, you can get in only by restoring a backup";
            Check::warn("operators", format!("{only} is the only operator"), advice)
        }
        several => Check::ok("operators", format!("{} are operators", some_of(several))),
    }
}

fn endless(keys: &[&ExaminedKey], is_operators: bool) -> Vec<String> {
    let endless = keys.iter().filter(|key| key.is_operators == is_operators && key.expires_at.is_none());
    endless.map(|key| format!("{} of {}", key.key_id, key.user_id)).collect()
}

fn operator_keys(keys: &[&ExaminedKey]) -> Check {
    let endless = endless(keys, true);
    if endless.is_empty() {
        return Check::ok("operator-keys", "every key of an operator expires");
    }
    let seen = format!("keys of operators never expire: {}", some_of(&endless));
    Check::warn("operator-keys", seen, "Create keys with --expires-at, and revoke these")
}

fn keys(keys: &[&ExaminedKey]) -> Check {
    let endless = endless(keys, false);
    if endless.is_empty() {
        return Check::ok("keys", "every key of a user expires");
    }
    let seen = format!("{} of {} keys never expire: {}", endless.len(), keys.len(), some_of(&endless));
    Check::warn("keys", seen, "Create keys with --expires-at, and with no more scopes than they need")
}

pub(super) fn demo(has_demo: bool, loads_demo: bool) -> Check {
    match (has_demo, loads_demo) {
        (_, true) => Check::warn("demo", "the service loads the demo", "Do not use --demo in production"),
        (true, false) => Check::warn("demo", "there is a timeline `demo`", "Set up a new service for production"),
        (false, false) => Check::ok("demo", "the demo is not loaded"),
    }
}
