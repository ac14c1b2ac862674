use std::num::NonZeroU32;

use rustix::process::{Resource, getrlimit};

use super::check::Check;
use crate::config::{ReadLogChoice, Settings};
use crate::data_folder::SIGNING_KEY_FILE;
use crate::key_files::read_public_key;
use crate::server;

pub(super) fn look_at(settings: &Settings) -> Vec<Check> {
    let descriptors = getrlimit(Resource::Nofile).maximum;
    vec![
        listen(settings),
        allow_insecure_login(settings),
        service_name(settings),
        read_log(settings),
        checkpoint_lag(settings),
        accept_rollback(settings),
        of_descriptors(settings.connections.connections_max.map(NonZeroU32::get), descriptors),
    ]
}

pub(super) fn listen(settings: &Settings) -> Check {
    const NAME: &str = "listen";
    let address = settings.listen;
    if settings.tls.is_some() {
        Check::ok(NAME, format!("HTTPS is served on {address}"))
    } else if address.ip().is_loopback() {
        Check::ok(NAME, format!("the service listens on {address}, on this machine only"))
    } else if let Some(url) = &settings.public_url {
        let seen = format!("the service listens on {address} without encryption, behind {}", url.origin());
        Check::warn(NAME, seen, "Make sure that only the proxy can reach that address")
    } else {
        let seen = format!("the service listens on {address} without encryption");
        let advice =
            "Give --tls-cert and --tls-key, or listen on loopback behind a proxy and name it with --public-url";
        Check::fail(NAME, seen, advice)
    }
}

pub(super) fn allow_insecure_login(settings: &Settings) -> Check {
    const NAME: &str = "allow-insecure-login";
    if !settings.allow_insecure_login {
        return Check::ok(NAME, "users cannot log in over plain HTTP from other machines");
    }
    let seen = "users can log in over plain HTTP from other machines";
    Check::fail(NAME, seen, "Remove --allow-insecure-login: passwords and cookies can be read in transit")
}

pub(super) fn service_name(settings: &Settings) -> Check {
    const NAME: &str = "service-name";
    // The signing key is bound to the service name, regardless of the settings.
    let key = settings.signing_key.clone().unwrap_or_else(|| settings.data.join(SIGNING_KEY_FILE));
    let bound = read_public_key(&key).ok().map(|(name, _)| name);
    match bound.as_deref().or(settings.service_name.as_deref()) {
        Some("timenav.local") | None => {
            let advice = "Before the first start, choose a domain name that you own; it is in every checkpoint";
            Check::warn(NAME, "no service name is set", advice)
        }
        Some(name) => Check::ok(NAME, format!("the service is named {name}")),
    }
}

pub(super) fn read_log(settings: &Settings) -> Check {
    const NAME: &str = "read-log";
    let clocks =
        if settings.recording.log_clock_reads { "" } else { "; reads of clocks are not recorded (--log-clock-reads)" };
    match settings.recording.read_log {
        ReadLogChoice::Durable => Check::ok(NAME, format!("reads are recorded before the response is sent{clocks}")),
        ReadLogChoice::Buffered => {
            let advice = "Set --read-log durable if you must know every read of content";
            let found = format!("a crash can lose the entries of the last 20 ms of reads{clocks}");
            Check::warn(NAME, found, advice)
        }
    }
}

pub(super) fn checkpoint_lag(settings: &Settings) -> Check {
    const NAME: &str = "checkpoint-lag";
    match settings.recording.checkpoint_lag.get() {
        0 => Check::ok(NAME, "checkpoints are written outside the database before the response is sent"),
        millis => {
            let advice = "Set --checkpoint-lag 0 to also detect this, or let a witness cosign";
            let found = format!("a rollback of the last {millis} ms before a crash is not detected");
            Check::warn(NAME, found, advice)
        }
    }
}

pub(super) fn accept_rollback(settings: &Settings) -> Check {
    const NAME: &str = "accept-rollback";
    if !settings.accept_rollback {
        return Check::ok(NAME, "a rolled-back database is rejected");
    }
    let advice = "Remove TIMENAV_ACCEPT_ROLLBACK or the flag: it is for one start after a restore";
    Check::fail(NAME, "the service starts on a database that was rolled back or rewritten", advice)
}

/// Checks whether the descriptor limit suffices for the connection limit; `None` is unlimited.
pub(super) fn of_descriptors(requested: Option<u32>, descriptors: Option<u64>) -> Check {
    const NAME: &str = "descriptors";
    let by_default = server::connections(None, None).unwrap_or_default();
    match server::connections(requested, descriptors) {
        Err(error) => Check::fail(NAME, format!("{error:#}"), "The service could not start with these settings"),
        Ok(connections) if requested.is_none() && connections < by_default => {
            let seen = format!("there are file descriptors for {connections} connections");
            Check::warn(NAME, seen, "Raise the limit if that is too few: ulimit -n, or LimitNOFILE= of systemd")
        }
        Ok(connections) => Check::ok(NAME, format!("there are file descriptors for {connections} connections")),
    }
}
