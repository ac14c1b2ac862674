//! Connection counters: updated by the process that accepts connections, exported by `/metrics`.

use std::sync::atomic::{AtomicU64, Ordering};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectionEnd {
    /// Closed normally by either side, or by the network.
    Closed,
    /// No request for too long.
    Idle,
    /// The client did not read its response.
    Stalled,
    /// The TLS handshake or the first bytes of a request did not arrive in time.
    Late,
    Handshake,
    /// The input is not HTTP or violates the protocol.
    Malformed,
    /// It was idle and was closed in favor of a new connection.
    MadeRoom,
    /// The connection limit was reached and no connection was idle.
    Full,
    /// The connection limit of its address was reached.
    AddressFull,
    /// The system lacked the resources to accept it.
    NotAccepted,
}

impl ConnectionEnd {
    pub const ALL: [Self; 10] = [
        Self::Closed,
        Self::Idle,
        Self::Stalled,
        Self::Late,
        Self::Handshake,
        Self::Malformed,
        Self::MadeRoom,
        Self::Full,
        Self::AddressFull,
        Self::NotAccepted,
    ];

    /// Returns the label in metrics and logs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Idle => "idle",
            Self::Stalled => "stalled",
            Self::Late => "timeout",
            Self::Handshake => "handshake",
            Self::Malformed => "malformed",
            Self::MadeRoom => "evicted",
            Self::Full => "limit",
            Self::AddressFull => "per_ip_limit",
            Self::NotAccepted => "accept_error",
        }
    }
}

#[derive(Debug, Default)]
pub struct ConnectionCounts {
    open: AtomicU64,
    ended: [AtomicU64; ConnectionEnd::ALL.len()],
}

impl ConnectionCounts {
    pub fn begin(&self) {
        self.open.fetch_add(1, Ordering::Relaxed);
    }

    pub fn end(&self, how: ConnectionEnd) {
        self.open.fetch_sub(1, Ordering::Relaxed);
        self.refuse(how);
    }

    pub fn refuse(&self, how: ConnectionEnd) {
        self.ended[how as usize].fetch_add(1, Ordering::Relaxed);
    }

    #[must_use]
    pub fn open(&self) -> u64 {
        self.open.load(Ordering::Relaxed)
    }

    #[must_use]
    pub fn ended(&self, how: ConnectionEnd) -> u64 {
        self.ended[how as usize].load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connection_ends_are_counted_by_name() {
        let counts = ConnectionCounts::default();
        for (before, end) in ConnectionEnd::ALL.into_iter().enumerate() {
            assert_eq!(end as usize, before);
            counts.begin();
            counts.begin();
            counts.end(end);
            counts.refuse(end);
            assert_eq!((counts.open(), counts.ended(end)), (before as u64 + 1, 2));
            let namesakes = ConnectionEnd::ALL.into_iter().filter(|other| other.name() == end.name());
            assert_eq!(namesakes.count(), 1);
        }
    }
}
