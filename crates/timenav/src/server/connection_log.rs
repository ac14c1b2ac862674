//! Logs events that strangers can provoke, at most once a minute: a line for each would fill the disk.

use std::future::pending;
use std::time::Duration;

use timenav_http::{ConnectionCounts, ConnectionEnd};
use tokio::time::timeout;

const EVERY: Duration = Duration::from_mins(1);

/// Ends that an operator should act on.
const REFUSED: [ConnectionEnd; 4] =
    [ConnectionEnd::Full, ConnectionEnd::AddressFull, ConnectionEnd::MadeRoom, ConnectionEnd::NotAccepted];
/// Ends that indicate an attack or a faulty client.
const BROKEN: [ConnectionEnd; 4] =
    [ConnectionEnd::Late, ConnectionEnd::Handshake, ConnectionEnd::Malformed, ConnectionEnd::Stalled];

/// Logs new events every minute, if there are any. Never returns.
pub(super) async fn log_each_minute(counts: &ConnectionCounts) {
    let mut before = Seen::default();
    loop {
        let _ = timeout(EVERY, pending::<()>()).await;
        before = before.log_since(counts);
    }
}

#[derive(Default)]
struct Seen([u64; ConnectionEnd::ALL.len()]);

impl Seen {
    /// Logs the events since then, if any, and returns the current counts.
    fn log_since(self, counts: &ConnectionCounts) -> Self {
        let now = Self(ConnectionEnd::ALL.map(|end| counts.ended(end)));
        let since = |end: ConnectionEnd| now.0[end as usize] - self.0[end as usize];
        let [full, per_ip_limit, evicted, accept_error] = REFUSED.map(since);
        let [late, handshake, malformed, stalled] = BROKEN.map(since);
        let connections = counts.open();
        if full + per_ip_limit + evicted + accept_error > 0 {
            tracing::warn!(
                connections,
                full,
                per_ip_limit,
                evicted,
                accept_error,
                "connections were rejected in the last minute: too many in total, or from one address"
            );
        }
        if late + handshake + malformed + stalled > 0 {
            tracing::info!(
                late,
                handshake,
                malformed,
                stalled,
                "connections were closed in the last minute: their data was late, or not HTTP"
            );
        }
        now
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, Write};
    use std::sync::Arc;

    use parking_lot::Mutex;

    use super::*;

    #[derive(Clone, Default)]
    struct Log(Arc<Mutex<Vec<u8>>>);

    impl Write for Log {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn connection_log_line_reports_counts_since_the_last() {
        let log = Log::default();
        let writer = log.clone();
        let lines = tracing_subscriber::fmt().with_ansi(false).with_writer(move || writer.clone()).finish();
        let counts = ConnectionCounts::default();
        let logged = || String::from_utf8(std::mem::take(&mut *log.0.lock())).unwrap();
        tracing::subscriber::with_default(lines, || {
            let seen = Seen::default().log_since(&counts);
            assert_eq!(logged(), "", "nothing has happened");
            for end in ConnectionEnd::ALL {
                counts.refuse(end);
                counts.refuse(end);
            }
            let seen = seen.log_since(&counts);
            let lines = logged();
            assert_eq!(lines.lines().count(), 2, "{lines}");
            let fields = "connections=0 full=2 per_ip_limit=2 evicted=2 accept_error=2";
            assert!(lines.contains("WARN") && lines.contains(fields), "{lines}");
            assert!(lines.contains("INFO") && lines.contains("late=2 handshake=2 malformed=2 stalled=2"), "{lines}");
            counts.refuse(ConnectionEnd::Late);
            seen.log_since(&counts);
            let lines = logged();
            assert!(lines.lines().count() == 1 && lines.contains("late=1 handshake=0"), "{lines}");
        });
    }
}
