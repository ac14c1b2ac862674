//! Which command covers which API operation, and the permission an agent needs to call it.

use self::Agents::{Govern, Never, Read, Travel, Write};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Agents {
    /// Reads: changes nothing but the access log.
    Read,
    /// Writes to a timeline or works on its firings.
    Write,
    Travel,
    /// Administers: permissions, retention, and the end of a timeline.
    Govern,
    /// Never: handles a secret, or returns a file or a stream.
    Never,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Operation {
    /// Method and path, as in the OpenAPI document.
    pub(crate) name: &'static str,
    pub(crate) command: &'static str,
    #[cfg_attr(not(feature = "mcp"), expect(dead_code, reason = "only `timenav mcp` uses it"))]
    pub(crate) agents: Agents,
}

const fn op(name: &'static str, command: &'static str, agents: Agents) -> Operation {
    Operation { name, command, agents }
}

/// Every operation of the OpenAPI document, with its command and the permission for agents. A test compares.
pub(crate) const OPERATIONS: &[Operation] = &[
    op("GET /v1/clock", "clock now", Read),
    op("GET /v1/clock/stream", "clock watch", Never),
    op("GET /v1/followers", "followers", Read),
    // Followers read a stream, which agents do not.
    op("POST /v1/followers/confirm", "exec --follow", Never),
    op("POST /v1/followers/{follower_id}/fault", "fault", Write),
    op("POST /v1/travel", "clock travel", Travel),
    op("POST /v1/pause-time", "clock pause", Travel),
    op("POST /v1/resume-time", "clock resume", Travel),
    op("POST /v1/fast-forward", "clock forward", Travel),
    op("POST /v1/advance-to-next", "clock next", Travel),
    // Covered by the tool `elapse`, which can also measure the cost of a step.
    op("POST /v1/elapse", "clock elapse", Never),
    op("POST /v1/rewind", "clock rewind", Travel),
    op("POST /v1/set-rate", "clock rate", Travel),
    op("GET /v1/advances/{advance_id}", "clock forward", Read),
    op("POST /v1/timers", "timer add", Write),
    op("GET /v1/timers", "timer list", Read),
    op("GET /v1/timer-preview", "timer preview", Read),
    op("GET /v1/timers/{timer_id}", "timer show", Read),
    op("PATCH /v1/timers/{timer_id}", "timer change", Write),
    op("DELETE /v1/timers/{timer_id}", "timer cancel", Write),
    op("POST /v1/queues/{queue}/claim", "timer listen", Write),
    op("GET /v1/firings", "timer firings", Read),
    op("POST /v1/firings/ack", "timer listen", Write),
    op("POST /v1/firings/fail", "timer listen", Write),
    op("POST /v1/firings/{firing_id}/redeliver", "timer redeliver", Travel),
    op("POST /v1/firings/extend", "api", Write),
    op("GET /v1/firings/stream", "timer watch", Never),
    op("POST /v1/holds", "timer hold", Write),
    op("GET /v1/holds", "timer holds", Read),
    op("POST /v1/holds/{hold_id}/release", "timer release", Write),
    op("POST /v1/set-anchor", "anchor set", Write),
    op("GET /v1/anchors", "anchor list", Read),
    op("GET /v1/anchors/{anchor_id}", "anchor show", Read),
    op("POST /v1/return-to-anchor", "anchor return", Travel),
    op("POST /v1/events", "events add", Write),
    op("GET /v1/monitor-events", "events find", Read),
    op("POST /v1/scan-events", "events scan", Read),
    op("GET /v1/aggregate-events", "events count", Read),
    op("GET /v1/check-timeline", "events check", Read),
    op("GET /v1/events/{event_id}", "events show", Read),
    op("POST /v1/correct-event", "events correct", Write),
    op("POST /v1/manipulate-event", "events intervene", Write),
    op("POST /v1/erase-events", "events erase", Govern),
    op("GET /v1/monitor-paradox", "paradoxes", Read),
    op("POST /v1/import-events", "import", Never),
    op("POST /v1/undo-import", "import --undo", Govern),
    op("GET /v1/export-events", "export", Never),
    op("POST /v1/encrypt-data", "data encrypt", Never),
    op("POST /v1/decrypt-data", "data decrypt", Never),
    op("POST /v1/erase-data", "data erase", Govern),
    op("GET /v1/access-control", "access show", Govern),
    op("POST /v1/set-access-control", "access set", Govern),
    op("GET /v1/access-logs", "access log", Govern),
    op("POST /v1/erase-reads", "erase-reads", Govern),
    op("GET /timelines", "timeline list", Read),
    op("POST /timelines", "timeline create", Write),
    op("GET /timeline/{timeline_id}", "timeline show", Read),
    op("DELETE /timeline/{timeline_id}", "timeline end", Govern),
    op("GET /timelines/diff", "timeline diff", Read),
    op("GET /timeline/{timeline_id}/bundle", "timeline export", Never),
    op("POST /v1/set-retention", "timeline retention", Govern),
    op("POST /v1/prune", "prune", Govern),
    op("GET /timeline/{timeline_id}/entries", "entries", Read),
    op("GET /timeline/{timeline_id}/proof", "proof", Read),
    op("GET /timeline/{timeline_id}/checkpoint", "verify --url", Read),
    op("GET /timeline/{timeline_id}/head", "verify --url", Read),
    op("POST /v1/detect-tampering", "verify --url", Read),
    op("GET /timeline/{timeline_id}/tile/{tile}", "api", Never),
    op("GET /v1/stream", "stream", Never),
    op("POST /v1/users", "user add", Govern),
    op("GET /v1/users", "user list", Govern),
    op("DELETE /v1/users/{user_id}", "user remove", Govern),
    op("POST /v1/set-password", "user password", Never),
    op("POST /v1/restrict-time-travel", "user restrict", Govern),
    op("GET /v1/restrictions", "user restrictions", Govern),
    op("GET /v1/sessions", "user sessions", Govern),
    op("DELETE /v1/sessions/{session_id}", "user end-session", Govern),
    op("POST /v1/api-keys", "key create", Never),
    op("GET /v1/api-keys", "key list", Govern),
    op("DELETE /v1/api-keys/{key_id}", "key revoke", Govern),
    op("GET /v1/session", "status", Read),
    op("GET /v1/limits", "limits", Read),
    // Sessions are for browsers: the secret is a cookie. The command line uses keys.
    op("POST /v1/login", "api", Never),
    op("POST /v1/logout", "api", Never),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::CommandFactory as _;
    use serde_json::Value;

    use super::*;
    use crate::commands::Cli;

    fn documented() -> BTreeSet<String> {
        let document: Value = serde_json::from_str(timenav_http::openapi_json()).unwrap();
        let paths = document["paths"].as_object().unwrap();
        let operations = paths.iter().flat_map(|(path, methods)| {
            let methods = methods.as_object().unwrap().iter().filter(|(_, value)| value["operationId"].is_string());
            methods.map(move |(method, _)| format!("{} {path}", method.to_uppercase()))
        });
        operations.collect()
    }

    #[test]
    fn every_operation_has_a_command() {
        let documented = documented();
        assert!(documented.len() > 50, "{documented:?}");
        let listed: BTreeSet<String> = OPERATIONS.iter().map(|operation| operation.name.to_owned()).collect();
        assert_eq!(listed.len(), OPERATIONS.len(), "an operation has two rows");
        let missing: Vec<_> = documented.difference(&listed).collect();
        assert!(missing.is_empty(), "no command is named for {missing:?}");
        let unknown: Vec<_> = listed.difference(&documented).collect();
        assert!(unknown.is_empty(), "there are no operations {unknown:?}");
    }

    #[test]
    fn every_named_command_exists() {
        let cli = Cli::command();
        for operation in OPERATIONS {
            let mut command = &cli;
            for word in operation.command.split(' ') {
                command = match word.strip_prefix("--") {
                    Some(flag) => {
                        let is_there = command.get_arguments().any(|argument| argument.get_long() == Some(flag));
                        assert!(is_there, "{}: no {word}", operation.command);
                        command
                    }
                    None => command
                        .find_subcommand(word)
                        .unwrap_or_else(|| panic!("{}: no `{}`", operation.name, operation.command)),
                };
            }
        }
    }
}
