//! File checks and checks of a real service are also in the integration tests.

use std::io;
use std::num::NonZeroU32;

use clap::Parser as _;
use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderValue, SERVER, STRICT_TRANSPORT_SECURITY};
use timenav_core::time::{Instant, Wall};
use timenav_store::{Examination, ExaminedKey};

use super::check::{Check, Outcome, some_of};
use super::folder::{FileFacts, Files};
use super::network::Seen;
use super::{database, folder, health, network, settings};
use crate::config::{ServeOptions, Settings};
use crate::data_folder::SIGNING_KEY_FILE;
use crate::key_files::make_signing_key;
use crate::wiring::ports::OsEntropy;

const OK: Outcome = Outcome::Ok;
const WARN: Outcome = Outcome::Warn;
const FAIL: Outcome = Outcome::Fail;
const DAY: i64 = 86_400_000_000;

#[track_caller]
fn check(seen: &Check, name: &str, expected: Outcome) {
    assert_eq!((seen.name, seen.outcome), (name, expected), "{seen:?}");
    assert!(!seen.seen.is_empty() && (seen.outcome == OK) == seen.advice.is_empty(), "{seen:?}");
}

#[track_caller]
fn check_one(all: &[Check], name: &str, expected: Outcome) {
    let one = all.iter().find(|check| check.name == name).unwrap_or_else(|| panic!("no {name} in {all:?}"));
    check(one, name, expected);
}

#[derive(clap::Parser)]
struct Serve {
    #[command(flatten)]
    options: ServeOptions,
}

fn settings_of(flags: &[&str]) -> Settings {
    Settings::resolve(Serve::try_parse_from([&["serve"], flags].concat()).unwrap().options).unwrap()
}

fn files(named: &[(&str, u32, u32)]) -> Files {
    named.iter().map(|(name, mode, uid)| ((*name).to_owned(), FileFacts { mode: *mode, uid: *uid })).collect()
}

#[test]
fn open_file_modes_and_owners_are_reported() {
    let of = |named: &[(&str, u32, u32)]| folder::of_data(&files(named), 7);
    let good = of(&[(".", 0o700, 7), ("timenav.db", 0o600, 7), ("signing.key", 0o600, 7)]);
    for name in ["file-modes", "key-files", "file-owner", "admin-key", "rotation"] {
        check_one(&good, name, OK);
    }
    check_one(&of(&[(".", 0o750, 7)]), "file-modes", FAIL);
    let database = of(&[(".", 0o700, 7), ("timenav.db", 0o640, 7)]);
    check_one(&database, "file-modes", FAIL);
    check_one(&database, "key-files", OK);
    check_one(&of(&[(".", 0o700, 7), ("signing.key", 0o604, 7)]), "key-files", FAIL);
    check_one(&of(&[(".", 0o700, 7), ("timenav.db", 0o600, 8)]), "file-owner", FAIL);
    check_one(&of(&[(".", 0o700, 8), ("timenav.db", 0o600, 8)]), "file-owner", FAIL);
    check_one(&of(&[(".", 0o700, 0), ("timenav.db", 0o600, 0)]), "file-owner", WARN);
    check_one(&of(&[(".", 0o700, 7), ("admin.key", 0o600, 7)]), "admin-key", WARN);
    check_one(&of(&[(".", 0o700, 7), ("signing.key.next", 0o600, 7)]), "rotation", WARN);
}

#[test]
fn checkpoints_in_the_data_folder_are_reported() {
    let place = tempfile::tempdir().unwrap();
    let [data, nested, elsewhere] = ["data", "data/beside", "elsewhere"].map(|name| place.path().join(name));
    std::fs::create_dir_all(&nested).unwrap();
    std::fs::create_dir_all(&elsewhere).unwrap();
    let with = |folder: Option<&std::path::Path>| {
        let mut settings = settings_of(&["--data", data.to_str().unwrap()]);
        settings.checkpoints = folder.map(Into::into);
        folder::checkpoints(&settings)
    };
    let set_mode = |mode| {
        std::fs::set_permissions(&elsewhere, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
    };
    check(&with(None), "checkpoints", WARN);
    let without_data = ["--data", data.to_str().unwrap(), "--store", "postgres://db.test/timenav"];
    check(&folder::checkpoints(&settings_of(&without_data)), "checkpoints", FAIL);
    std::fs::set_permissions(&data, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    check(&folder::checkpoints(&settings_of(&without_data)), "checkpoints", OK);
    check(&with(Some(&nested)), "checkpoints", WARN);
    check(&with(Some(&place.path().join("nowhere"))), "checkpoints", WARN);
    set_mode(0o755);
    check(&with(Some(&elsewhere)), "checkpoints", FAIL);
    set_mode(0o700);
    check(&with(Some(&elsewhere)), "checkpoints", OK);
}

#[test]
fn low_disk_space_and_exposed_keys_are_reported() {
    for (free, expected) in
        [(0, FAIL), ((128 << 20) - 1, FAIL), (128 << 20, WARN), ((1 << 30) - 1, WARN), (1 << 30, OK)]
    {
        check(&folder::free_space(Ok(free), folder::FREE_FOR_DATABASE), "free-space", expected);
    }
    check(&folder::signing_key("signing.key", Ok(false)), "signing-key", OK);
    check(&folder::signing_key("signing.key", Ok(true)), "signing-key", FAIL);
    check(&folder::signing_key("signing.key", Err(io::ErrorKind::NotFound.into())), "signing-key", FAIL);
    let of = |mode| folder::tls_key("key.pem", Ok(FileFacts { mode, uid: 0 }));
    check(&of(0o640), "tls-key", OK);
    check(&of(0o644), "tls-key", FAIL);
    check(&folder::tls_key("key.pem", Err(io::ErrorKind::NotFound.into())), "tls-key", FAIL);
}

#[test]
fn unsafe_settings_are_reported() {
    let beyond = ["--listen", "0.0.0.0:8080"];
    let listens = |more: &[&str]| settings::listen(&settings_of(&[&beyond[..], more].concat()));
    check(&settings::listen(&settings_of(&[])), "listen", OK);
    check(&listens(&[]), "listen", FAIL);
    check(&listens(&["--public-url", "https://time.test"]), "listen", WARN);
    check(&listens(&["--tls-cert", "a", "--tls-key", "b"]), "listen", OK);
    check(&settings::allow_insecure_login(&settings_of(&[])), "allow-insecure-login", OK);
    check(&settings::allow_insecure_login(&settings_of(&["--allow-insecure-login"])), "allow-insecure-login", FAIL);
    check(&settings::service_name(&settings_of(&[])), "service-name", WARN);
    check(&settings::service_name(&settings_of(&["--service-name", "time.test"])), "service-name", OK);
    let folder = tempfile::tempdir().unwrap();
    let made = settings_of(&["--data", folder.path().to_str().unwrap()]);
    make_signing_key(&folder.path().join(SIGNING_KEY_FILE), "time.test", &OsEntropy).unwrap();
    check(&settings::service_name(&made), "service-name", OK);
    check(&settings::read_log(&settings_of(&[])), "read-log", WARN);
    check(&settings::read_log(&settings_of(&["--read-log", "durable"])), "read-log", OK);
    check(&settings::checkpoint_lag(&settings_of(&[])), "checkpoint-lag", WARN);
    check(&settings::checkpoint_lag(&settings_of(&["--checkpoint-lag", "0"])), "checkpoint-lag", OK);
    check(&settings::accept_rollback(&settings_of(&[])), "accept-rollback", OK);
    check(&settings::accept_rollback(&settings_of(&["--accept-rollback"])), "accept-rollback", FAIL);
    let requested = NonZeroU32::new(5_000).map(NonZeroU32::get);
    for (requested, descriptors, expected) in [
        (None, None, OK),
        (None, Some(524_288), OK),
        (None, Some(1_024), WARN),
        (requested, Some(1_024), FAIL),
        (requested, Some(5_128), OK),
    ] {
        check(&settings::of_descriptors(requested, descriptors), "descriptors", expected);
    }
}

fn at(micros: i64) -> Instant<Wall> {
    Instant::from_micros(micros).unwrap()
}

fn key(is_operators: bool, expires_at: Option<i64>) -> ExaminedKey {
    ExaminedKey { key_id: "key_1".into(), user_id: "ada".into(), is_operators, expires_at: expires_at.map(at) }
}

#[test]
fn unsafe_database_contents_are_reported() {
    let now = 1_000 * DAY;
    let good = Examination {
        newest: Some(at(now)),
        last_scan: Some(at(now - 30 * DAY)),
        operators: vec!["ada".to_owned(), "bob".to_owned()],
        // An expired key does not count.
        keys: vec![key(true, Some(now + 1)), key(false, Some(now + 1)), key(true, Some(now))],
        ..Examination::default()
    };
    let all = database::of(&good, at(now), false);
    assert!(all.iter().all(|check| check.outcome == OK), "{all:?}");
    let check = |change: fn(&mut Examination), name: &str, expected: Outcome| {
        let mut examined = good.clone();
        change(&mut examined);
        let all = database::of(&examined, at(now), false);
        check_one(&all, name, expected);
        assert_eq!(all.iter().filter(|check| check.outcome != OK).count(), 1, "{all:?}");
    };
    check(|examined| examined.differences.push("trigger t".to_owned()), "schema", FAIL);
    check(|examined| examined.newest = Some(at(1_000 * DAY + 1_000_001)), "host-clock", FAIL);
    check(|examined| examined.last_scan = Some(at(969 * DAY)), "scan", WARN);
    check(|examined| examined.last_scan = None, "scan", WARN);
    check(|examined| drop(examined.operators.pop()), "operators", WARN);
    check(|examined| examined.operators.clear(), "operators", FAIL);
    check(|examined| examined.keys.push(key(true, None)), "operator-keys", WARN);
    check(|examined| examined.keys.push(key(false, None)), "keys", WARN);
    check(|examined| examined.has_demo = true, "demo", WARN);
    check_one(&database::of(&good, at(now), true), "demo", WARN);
}

fn seen(status: u16, body: &str) -> Seen {
    Seen { status, headers: HeaderMap::new(), body: body.to_owned() }
}

#[test]
fn exposed_service_details_are_reported() {
    let url = |text: &str| Url::parse(text).unwrap();
    check(&network::reachable(&seen(200, "")), "reachable", OK);
    check(&network::reachable(&seen(503, "")), "reachable", FAIL);
    check(&network::encrypted(&url("https://time.test")), "encrypted", OK);
    check(&network::encrypted(&url("http://127.0.0.1:8080")), "encrypted", OK);
    check(&network::encrypted(&url("http://time.test")), "encrypted", FAIL);
    let mut headers = HeaderMap::new();
    check(&network::hsts(&headers), "hsts", WARN);
    headers.insert(STRICT_TRANSPORT_SECURITY, HeaderValue::from_static("max-age=1"));
    check(&network::hsts(&headers), "hsts", OK);
    check(&network::tls_versions(&[]), "tls-versions", OK);
    check(&network::tls_versions(&["TLS 1.0".to_owned()]), "tls-versions", FAIL);
    check(&network::version(&[seen(200, r#"{"status":"x"}"#), seen(404, "none")]), "version", OK);
    check(&network::version(&[seen(200, "{}"), seen(200, r#"{"version":"1"}"#)]), "version", WARN);
    let mut named = seen(200, "{}");
    named.headers.insert(SERVER, HeaderValue::from_static("x/1"));
    check(&network::version(&[named]), "version", WARN);
    check(&network::metrics(200), "metrics", WARN);
    check(&network::metrics(404), "metrics", OK);
    check(&network::quota(&seen(200, r#"{"limits":{"requests_per_minute":600}}"#)), "quota", OK);
    check(&network::quota(&seen(200, r#"{"limits":{}}"#)), "quota", WARN);
    check(&network::quota(&seen(401, "{}")), "quota", WARN);
    let keys = |expires: &str, revoked: &str| {
        seen(200, &format!(r#"{{"api_keys":[{{"key_id":"key_1","expires_at":{expires},"revoked_at":{revoked}}}]}}"#))
    };
    check(&network::own_keys(&keys("\"2030-01-01T00:00:00Z\"", "null")), "own-keys", OK);
    check(&network::own_keys(&keys("null", "\"2020-01-01T00:00:00Z\"")), "own-keys", OK);
    check(&network::own_keys(&keys("null", "null")), "own-keys", WARN);
}

#[test]
fn long_lists_are_truncated() {
    let names: Vec<String> = (1..=7).map(|number| number.to_string()).collect();
    assert_eq!(some_of(&names[..5]), "1, 2, 3, 4, 5");
    assert_eq!(some_of(&names), "1, 2, 3, 4, 5 and 2 more");
}

#[test]
fn version_mismatch_and_old_checkpoints_are_reported() {
    use std::time::{Duration, SystemTime};

    let this = env!("CARGO_PKG_VERSION");
    for (service, expected) in [(Some(this), OK), (Some("0.0.1"), WARN), (None, WARN)] {
        assert_eq!(health::of_versions(service).outcome, expected, "{service:?}");
    }
    let at = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
    let outcome = |checkpoint, written| health::checkpoint_age(checkpoint, written).map(|check| check.outcome);
    assert_eq!(outcome(Ok(at(100)), Some(at(160))), Some(OK));
    assert_eq!(outcome(Ok(at(100)), Some(at(161))), Some(WARN));
    assert_eq!(outcome(Ok(at(200)), Some(at(100))), Some(OK));
    assert_eq!(outcome(Err(io::Error::from(io::ErrorKind::NotFound)), Some(at(1))), Some(FAIL));
    assert_eq!(outcome(Ok(at(1)), None), None);
}
