//! Which command reaches which operation of the API.

/// An operation and what reaches it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operation {
    /// Its method and path, as the OpenAPI document has them.
    pub(crate) name: &'static str,
    /// The command that does it, and the flags where it takes some.
    pub(crate) command: &'static str,
}

const fn op(name: &'static str, command: &'static str) -> Operation {
    Operation { name, command }
}

/// Every operation of the OpenAPI document, with the command for it. A test compares.
pub(crate) const OPERATIONS: &[Operation] = &[
    op("GET /v1/clock", "clock now"),
    op("GET /v1/clock/stream", "clock watch"),
    op("POST /v1/travel", "clock travel"),
    op("POST /v1/pause-time", "clock pause"),
    op("POST /v1/resume-time", "clock resume"),
    op("POST /v1/fast-forward", "clock forward"),
    op("POST /v1/rewind", "clock rewind"),
    op("POST /v1/set-rate", "clock rate"),
    op("GET /v1/advances/{advance_id}", "clock forward"),
    op("POST /v1/timers", "timer add"),
    op("GET /v1/timers", "timer list"),
    op("GET /v1/timers/{timer_id}", "timer show"),
    op("PATCH /v1/timers/{timer_id}", "api"),
    op("DELETE /v1/timers/{timer_id}", "timer cancel"),
    op("POST /v1/queues/{queue}/claim", "timer listen"),
    op("POST /v1/firings/ack", "timer listen"),
    op("POST /v1/firings/fail", "timer listen"),
    op("POST /v1/firings/extend", "api"),
    op("POST /v1/set-anchor", "anchor set"),
    op("GET /v1/anchors", "anchor list"),
    op("POST /v1/return-to-anchor", "anchor return"),
    op("POST /v1/events", "events add"),
    op("GET /v1/monitor-events", "events find"),
    op("POST /v1/scan-events", "events scan"),
    op("GET /v1/aggregate-events", "events count"),
    op("GET /v1/check-timeline", "events check"),
    op("GET /v1/events/{event_id}", "events show"),
    op("POST /v1/correct-event", "events correct"),
    op("POST /v1/manipulate-event", "events manipulate"),
    op("POST /v1/erase-events", "events erase"),
    op("GET /v1/monitor-paradox", "paradoxes"),
    op("POST /v1/import-events", "import"),
    op("POST /v1/undo-import", "import --undo"),
    op("GET /v1/export-events", "export"),
    op("POST /v1/encrypt-data", "data encrypt"),
    op("POST /v1/decrypt-data", "data decrypt"),
    op("POST /v1/erase-data", "data erase"),
    op("GET /v1/access-control", "access show"),
    op("POST /v1/set-access-control", "access set"),
    op("GET /v1/access-logs", "access log"),
    op("POST /v1/erase-reads", "erase-reads"),
    op("GET /timelines", "timeline list"),
    op("POST /timelines", "timeline create"),
    op("GET /timeline/{timeline_id}", "timeline show"),
    op("DELETE /timeline/{timeline_id}", "timeline end"),
    op("GET /timelines/diff", "timeline diff"),
    op("GET /timeline/{timeline_id}/bundle", "timeline export"),
    op("POST /v1/hand-over", "timeline export --end"),
    op("POST /timelines/adopt", "timeline adopt"),
    op("POST /v1/set-retention", "timeline retention"),
    op("POST /v1/prune", "prune"),
    op("GET /timeline/{timeline_id}/entries", "entries"),
    op("GET /timeline/{timeline_id}/proof", "proof"),
    op("GET /timeline/{timeline_id}/checkpoint", "verify --url"),
    op("GET /timeline/{timeline_id}/head", "verify --url"),
    op("POST /v1/detect-tampering", "verify --url"),
    op("GET /timeline/{timeline_id}/tile/{tile}", "api"),
    op("GET /v1/stream", "stream"),
    op("POST /v1/users", "user add"),
    op("GET /v1/users", "user list"),
    op("DELETE /v1/users/{user_id}", "user remove"),
    op("POST /v1/set-password", "user password"),
    op("POST /v1/restrict-time-travel", "user restrict"),
    op("GET /v1/restrictions", "user restrictions"),
    op("GET /v1/sessions", "user sessions"),
    op("DELETE /v1/sessions/{session_id}", "user end-session"),
    op("POST /v1/api-keys", "key create"),
    op("GET /v1/api-keys", "key list"),
    op("DELETE /v1/api-keys/{key_id}", "key revoke"),
    op("GET /v1/certificates", "key certify"),
    op("GET /v1/session", "status"),
    op("GET /v1/limits", "limits"),
    // A session is for a browser: its secret is a cookie. The command line has keys.
    op("POST /v1/log-in", "api"),
    op("POST /v1/log-out", "api"),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::CommandFactory as _;
    use serde_json::Value;

    use super::*;
    use crate::commands::Cli;

    /// Returns each operation of the document by method and path.
    fn documented() -> BTreeSet<String> {
        let document: Value = serde_json::from_str(&timenav_http::openapi_json()).unwrap();
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
        let told: BTreeSet<String> = OPERATIONS.iter().map(|operation| operation.name.to_owned()).collect();
        assert_eq!(told.len(), OPERATIONS.len(), "an operation has two rows");
        let missing: Vec<_> = documented.difference(&told).collect();
        assert!(missing.is_empty(), "no command is named for {missing:?}");
        let gone: Vec<_> = told.difference(&documented).collect();
        assert!(gone.is_empty(), "there are no operations {gone:?}");
    }

    #[test]
    fn every_command_that_is_named_is_there() {
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
