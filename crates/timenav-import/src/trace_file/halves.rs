//! Two events that share the id of one span.
//!
//! A server may go on with the span that its client began (Zipkin calls it shared). What the client
//! saw is `<trace>:<span>`, what the server saw is `<trace>:<span>:server`, and the server's half
//! happened because of the client's, or of its parent where the document lacks the client's. A message can have several receivers: the first to begin has
//! that id, the others `<trace>:<span>:server:<microseconds since 1970>`.

use std::collections::{HashMap, HashSet};

/// What is written after the ids of the first server's half.
pub(super) const SERVER_HALF: &str = ":server";

/// What other spans need to know of one.
pub(super) struct Glance {
    pub(super) trace: String,
    pub(super) span: String,
    pub(super) role: Role,
    /// The service that saw it, empty if it is not known.
    pub(super) service: String,
    /// When it began, in microseconds since 1970, if that is known.
    pub(super) start: Option<u64>,
}

/// Which side of a call saw a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// The caller.
    Client,
    /// The called.
    Server,
    /// The called, which says that it took the id of the caller's span.
    SharingServer,
    /// Neither, or it is not known.
    Other,
}

/// All that is known of the spans with one id.
#[derive(Default)]
struct Same {
    has_client: bool,
    has_other: bool,
    servers: HashSet<String>,
    sharing_servers: HashSet<String>,
    /// When the first of each began.
    servers_start: Option<u64>,
    sharing_servers_start: Option<u64>,
}

/// The spans of a document by their ids.
#[derive(Default)]
pub(super) struct Halves {
    by_id: HashMap<(String, String), Same>,
}

impl Halves {
    pub(super) fn add(&mut self, glance: Glance) {
        let same = self.by_id.entry((glance.trace, glance.span)).or_default();
        match glance.role {
            Role::Client => same.has_client = true,
            Role::Other => same.has_other = true,
            Role::Server => {
                same.servers.insert(glance.service);
                same.servers_start = earlier(same.servers_start, glance.start);
            }
            Role::SharingServer => {
                same.sharing_servers.insert(glance.service);
                same.sharing_servers_start = earlier(same.sharing_servers_start, glance.start);
            }
        }
    }

    /// Returns what is written after the ids of a span that is the server's half of what a client
    /// began, and nothing for any other.
    pub(super) fn suffix(&self, trace: &str, span: &str, role: Role, start: u64) -> Option<String> {
        let same = self.same(trace, span);
        let is_half = match role {
            Role::SharingServer => true,
            Role::Server => same.is_some_and(|same| same.has_client),
            Role::Client | Role::Other => false,
        };
        let first = same.and_then(|same| {
            let servers_start = same.servers_start.filter(|_| same.has_client);
            earlier(same.sharing_servers_start, servers_start)
        });
        is_half.then(|| match first {
            Some(first) if first < start => format!(":server:{start}"),
            Some(_) | None => SERVER_HALF.to_owned(),
        })
    }

    /// Returns whether the half that a client saw of a span is in the document.
    pub(super) fn has_client_half(&self, trace: &str, span: &str) -> bool {
        self.same(trace, span).is_some_and(|same| same.has_client || same.has_other || !same.servers.is_empty())
    }

    /// Returns whether a child in that service hangs on the server's half of its parent.
    pub(super) fn hangs_on_server_half(&self, trace: &str, parent: &str, service: &str) -> bool {
        let Some(same) = self.same(trace, parent) else { return false };
        let is_half = |servers: &HashSet<String>| servers.contains(service);
        let servers_are_halves = same.has_client && !same.servers.is_empty();
        let has_whole = same.has_client || same.has_other || !same.servers.is_empty();
        let has_half = servers_are_halves || !same.sharing_servers.is_empty();
        let of_same_service = is_half(&same.sharing_servers) || (servers_are_halves && is_half(&same.servers));
        of_same_service || (has_half && !has_whole)
    }

    fn same(&self, trace: &str, span: &str) -> Option<&Same> {
        // A lookup by a pair of references would need a key type of its own.
        self.by_id.get(&(trace.to_owned(), span.to_owned()))
    }
}

/// Returns the earlier of two times that may not be known.
fn earlier(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    [one, other].into_iter().flatten().min()
}
