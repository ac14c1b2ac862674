//! What strangers provoke, told once a minute at most: a line for each would fill the disk that holds the log.

use std::future::pending;
use std::time::Duration;

use timenav_http::{ConnectionCounts, ConnectionEnd};
use tokio::time::timeout;

const EVERY: Duration = Duration::from_mins(1);

/// What an operator should do something about.
const REFUSED: [ConnectionEnd; 4] =
    [ConnectionEnd::Full, ConnectionEnd::AddressFull, ConnectionEnd::MadeRoom, ConnectionEnd::NotAccepted];
/// What may be an attack, or a client that is badly made.
const BROKEN: [ConnectionEnd; 4] =
    [ConnectionEnd::Late, ConnectionEnd::Handshake, ConnectionEnd::Malformed, ConnectionEnd::Stalled];

/// Tells of what has happened since the last time, where anything has. Never returns.
pub(super) async fn tell_each_minute(counts: &ConnectionCounts) {
    let mut before = Seen::default();
    loop {
        let _ = timeout(EVERY, pending::<()>()).await;
        before = before.tell(counts);
    }
}

/// What has happened by some moment.
#[derive(Default)]
struct Seen([u64; ConnectionEnd::ALL.len()]);

impl Seen {
    /// Writes a line about what has happened since then, if anything has, and returns what has happened by now.
    fn tell(self, counts: &ConnectionCounts) -> Self {
        let now = Self(ConnectionEnd::ALL.map(|end| counts.ended(end)));
        let since = |end: ConnectionEnd| now.0[end as usize] - self.0[end as usize];
        let [full, address_full, made_room, not_accepted] = REFUSED.map(since);
        let [late, handshake, malformed, stalled] = BROKEN.map(since);
        let connections = counts.open();
        if full + address_full + made_room + not_accepted > 0 {
            tracing::warn!(
                connections,
                full,
                address_full,
                made_room,
                not_accepted,
                "connections were refused in the last minute: there were too many, or too many from one address"
            );
        }
        if late + handshake + malformed + stalled > 0 {
            tracing::info!(
                late,
                handshake,
                malformed,
                stalled,
                "connections were cut in the last minute: what came on them was late, or not HTTP"
            );
        }
        now
    }
}
