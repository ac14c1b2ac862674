//! Spans whose id is shared by two events.
//!
//! A server may continue its client's span (Zipkin calls it shared). The client's event is `<trace>:<span>`, the
//! server's is `<trace>:<span>:server`. The server's event is caused by the client's, or by the span's parent if the
//! client's is not in the document. If a message has several receivers, the first to begin has that id, the others
//! `<trace>:<span>:server:<microseconds since 1970>`.

use std::collections::{HashMap, HashSet};

/// Id suffix of the first server event.
pub(super) const SERVER_HALF: &str = ":server";

pub(super) struct Glance {
    pub(super) trace: String,
    pub(super) span: String,
    pub(super) role: Role,
    /// Empty if unknown.
    pub(super) service: String,
    /// Microseconds since 1970, if known.
    pub(super) start: Option<u64>,
}

/// The side of a call that reported a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Client,
    Server,
    /// A server that declares that it took over the client's span id.
    SharingServer,
    /// Neither, or unknown.
    Other,
}

#[derive(Default)]
struct Same {
    has_client: bool,
    has_other: bool,
    servers: HashSet<String>,
    sharing_servers: HashSet<String>,
    servers_start: Option<u64>,
    sharing_servers_start: Option<u64>,
}

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

    /// The id suffix of a server event whose span a client began; none for any other.
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

    /// Whether the document has an event `<trace>:<span>` without a suffix.
    pub(super) fn has_client_half(&self, trace: &str, span: &str) -> bool {
        self.same(trace, span).is_some_and(|same| same.has_client || same.has_other || !same.servers.is_empty())
    }

    /// Whether a child in `service` is caused by its parent's server event.
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
        // A borrowed pair would need its own key type.
        self.by_id.get(&(trace.to_owned(), span.to_owned()))
    }
}

fn earlier(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    [one, other].into_iter().flatten().min()
}
