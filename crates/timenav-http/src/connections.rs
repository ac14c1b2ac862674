//! What becomes of connections: counted by the process that accepts them, shown by `/metrics`.

use std::sync::atomic::{AtomicU64, Ordering};

/// How a connection came to its end, or why it never began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectionEnd {
    /// Either side closed it in good order, or the network did.
    Closed,
    /// Nothing was asked on it for too long.
    Idle,
    /// The client did not take what it had asked for.
    Stalled,
    /// The TLS handshake, or the first bytes of a request, did not come in time.
    Late,
    /// The TLS handshake failed.
    Handshake,
    /// What came on it is not HTTP, or breaks a rule of it.
    Malformed,
    /// It was idle, and made room for another one.
    MadeRoom,
    /// There were too many connections, and none of them was idle.
    Full,
    /// There were too many connections from its address.
    AddressFull,
    /// The system had nothing left to accept it with.
    NotAccepted,
}

impl ConnectionEnd {
    /// Every end there is.
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

    /// Returns the word for it in metrics and in the log.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Idle => "idle",
            Self::Stalled => "stalled",
            Self::Late => "late",
            Self::Handshake => "handshake",
            Self::Malformed => "malformed",
            Self::MadeRoom => "made_room",
            Self::Full => "full",
            Self::AddressFull => "address_full",
            Self::NotAccepted => "not_accepted",
        }
    }
}

/// How many connections there are, and how those before them ended.
#[derive(Debug, Default)]
pub struct ConnectionCounts {
    open: AtomicU64,
    ended: [AtomicU64; ConnectionEnd::ALL.len()],
}

impl ConnectionCounts {
    /// Counts a connection that is let in.
    pub fn begin(&self) {
        self.open.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts the end of a connection that was let in.
    pub fn end(&self, how: ConnectionEnd) {
        self.open.fetch_sub(1, Ordering::Relaxed);
        self.refuse(how);
    }

    /// Counts a connection that was not let in.
    pub fn refuse(&self, how: ConnectionEnd) {
        self.ended[how as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// Returns how many connections there are.
    #[must_use]
    pub fn open(&self) -> u64 {
        self.open.load(Ordering::Relaxed)
    }

    /// Returns how many connections have ended in that way since the start.
    #[must_use]
    pub fn ended(&self, how: ConnectionEnd) -> u64 {
        self.ended[how as usize].load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_end_is_counted_under_its_own_name() {
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
