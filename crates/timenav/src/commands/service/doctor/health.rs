//! Health checks: the service runs, has this version, and its checkpoints are current.

use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

use reqwest::Url;
use serde_json::Value;
use timenav_exec::ways::{Allowed, Via, Way};
use timenav_store::CheckpointFile;

use super::check::Check;
use super::network::{ServiceProbe, error_chain};
use crate::client::{Client, ServiceOptions};
use crate::config::Settings;
use crate::data_folder::{CHECKPOINTS_FILE, DATABASE_FILE, Listening, listening};
use crate::wiring::surroundings::Surroundings;

/// Names of checks from other modules that also indicate health.
pub(super) const OF_HEALTH: [&str; 15] = [
    "data-folder",
    "writable",
    "unfinished",
    "signing-key",
    "file-modes",
    "file-owner",
    "database",
    "database-durability",
    "database-standby",
    "database-connections",
    "database-transactions",
    "database-clock",
    "schema",
    "host-clock",
    "free-space",
];
/// How much older than the last write a checkpoint may be: they are written one after the other.
const CHECKPOINT_BEHIND_MAX: Duration = Duration::from_mins(1);
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// `allowed`: the methods of this system to put programs on a clock, probed before any thread was started.
pub(super) fn look_at(
    settings: &Settings,
    ca: Option<&Path>,
    surroundings: &Surroundings,
    allowed: io::Result<Allowed>,
) -> Vec<Check> {
    let mut checks: Vec<Check> = programs(allowed).into_iter().collect();
    match listening(&settings.data) {
        Ok(Listening::At(url)) => {
            checks.push(service(&url, ca));
            checks.push(version(settings, surroundings));
        }
        Ok(Listening::Ended(url)) => {
            let seen = format!("the service was killed or lost power; it listened at {url}");
            checks.push(Check::warn("service", seen, "Start it again; it continues where it stopped"));
        }
        Ok(Listening::No) => {
            let advice = format!("Start it: timenav serve --data {}", settings.data.display());
            checks.push(Check::warn("service", "the service is not running", advice));
        }
        Err(error) => {
            let seen = format!("cannot determine whether the service is running: {error}");
            checks.push(Check::warn("service", seen, "Run this as the user that the service runs as"));
        }
    }
    let checkpoints = settings.checkpoints.as_deref().unwrap_or(&settings.data).join(CHECKPOINTS_FILE);
    checks.extend(unreadable(&checkpoints).or_else(|| {
        let written = written_at(&settings.data);
        checkpoint_age(changed_at(&checkpoints), written)
    }));
    checks
}

fn service(url: &str, ca: Option<&Path>) -> Check {
    const NAME: &str = "service";
    let unasked = |why: String| {
        let seen = format!("the service is running at {url}, but its readiness cannot be checked: {why}");
        Check::warn(NAME, seen, "Give its certificate authority with --ca, or check /readyz yourself")
    };
    let address = match Url::parse(url) {
        Ok(address) => address,
        Err(error) => return unasked(error.to_string()),
    };
    let answer = match ServiceProbe::new(&address, ca) {
        Ok(probe) => probe.get("readyz", None).map_err(|error| error_chain(&error)),
        Err(failure) => Err(failure.text().unwrap_or_default()),
    };
    match answer {
        Ok(answer) => of_readiness(url, answer.status, &answer.body),
        Err(why) => unasked(why),
    }
}

pub(super) fn of_readiness(url: &str, status: u16, body: &str) -> Check {
    const NAME: &str = "service";
    if status == 200 {
        return Check::ok(NAME, format!("the service is running at {url}"));
    }
    let problem: Value = serde_json::from_str(body).unwrap_or_default();
    let why = problem["detail"].as_str().map_or_else(|| format!("/readyz returned {status}"), str::to_owned);
    let advice = "See \"Disk full, and other failures\" in docs/operations.md, and check the service's log";
    Check::fail(NAME, format!("the service at {url} is running but not ready: {why}"), advice)
}

fn unreadable(checkpoints: &Path) -> Option<Check> {
    let length = checkpoints.metadata().ok()?.len();
    let why = match CheckpointFile::read_only(checkpoints) {
        Ok(stored) if stored.is_empty() && length > 0 => "none of them is complete".to_owned(),
        Ok(_) => return None,
        Err(error) => error.to_string(),
    };
    let seen = format!("the checkpoints {} cannot be read: {why}", checkpoints.display());
    let advice = "The service does not start with them: keep a copy, and restore the original file";
    Some(Check::fail("checkpoint-age", seen, advice))
}

/// Reports how programs would be put on a clock; `None` on unsupported systems.
fn programs(allowed: io::Result<Allowed>) -> Option<Check> {
    const NAME: &str = "programs";
    const ADVICE: &str = "docs/programs.md lists what each way needs, and docs/program-compatibility.md its limits";
    let allowed = match allowed {
        Ok(allowed) => allowed,
        Err(error) if error.kind() == io::ErrorKind::Unsupported => return None,
        Err(error) => {
            let seen = format!("cannot test how programs can be put on a clock: {error}");
            return Some(Check::warn(NAME, seen, ADVICE));
        }
    };
    Some(match allowed.choose(Via::Auto) {
        Ok(Way::Exec) => Check::ok(NAME, "timenav exec can put programs on a clock here, by the best way"),
        Ok(way) => {
            let why = allowed.sentence(way, Via::Auto).unwrap_or_default();
            Check::warn(NAME, format!("timenav exec puts programs on a clock by --via {}: {why}", way.name()), ADVICE)
        }
        Err(obstacle) => Check::warn(NAME, format!("timenav exec cannot put programs on a clock: {obstacle}"), ADVICE),
    })
}

fn version(settings: &Settings, surroundings: &Surroundings) -> Check {
    const NAME: &str = "version";
    let session = Client::new(&ServiceOptions::of_folder(settings.data.clone()), surroundings)
        .and_then(|client| client.get(&["v1", "session"], &[]));
    match session {
        Ok(answer) => of_versions(answer.value["version"].as_str()),
        Err(failure) => {
            let seen = format!("the service does not report its version: {}", failure.text().unwrap_or_default());
            Check::warn(NAME, seen, "Set TIMENAV_API_KEY to a key of the service")
        }
    }
}

pub(super) fn of_versions(service: Option<&str>) -> Check {
    const NAME: &str = "version";
    match service {
        Some(version) if version == VERSION => {
            Check::ok(NAME, format!("the service and this program are both timenav {VERSION}"))
        }
        Some(version) => {
            let seen = format!("the service is timenav {version}, and this program is timenav {VERSION}");
            Check::warn(NAME, seen, "Use the same version for both, and restart the service after an upgrade")
        }
        None => Check::warn(NAME, "the service does not report its version", "Set TIMENAV_API_KEY to a valid key"),
    }
}

fn changed_at(path: &Path) -> io::Result<SystemTime> {
    std::fs::metadata(path)?.modified()
}

/// Returns when the database or its write-ahead log was last written.
fn written_at(data: &Path) -> Option<SystemTime> {
    ["", "-wal"].iter().filter_map(|suffix| changed_at(&data.join(format!("{DATABASE_FILE}{suffix}"))).ok()).max()
}

pub(super) fn checkpoint_age(checkpoint: io::Result<SystemTime>, written: Option<SystemTime>) -> Option<Check> {
    const NAME: &str = "checkpoint-age";
    let written = written?;
    let advice = "Start the service, which signs the newest entries; if it does not start, keep a copy and run timenav \
                  verify";
    Some(match checkpoint {
        Ok(checkpoint) => match written.duration_since(checkpoint) {
            Ok(behind) if behind > CHECKPOINT_BEHIND_MAX => {
                let seen = format!("the newest checkpoint is {} seconds older than the last write", behind.as_secs());
                Check::warn(NAME, seen, advice)
            }
            Ok(_) | Err(_) => Check::ok(NAME, "the newest checkpoint is as new as the last write"),
        },
        Err(error) => Check::fail(NAME, format!("the checkpoints cannot be read: {error}"), advice),
    })
}
