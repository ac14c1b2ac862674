//! Counts round trips: a proxy between a service and PostgreSQL.
//!
//! Each response is delayed a little. So pipelined statements have all been sent before the first response arrives and
//! count as one round trip, regardless of the thread scheduling of the service.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use crate::load::count;
use crate::measure::wall_clock::pause;

const ANSWER_WAIT: Duration = Duration::from_millis(10);
const CHUNK_BYTES: usize = 64 * 1_024;
/// The query that begins a write transaction: `Q`, its length, and its text. Read transactions begin differently.
const BEGIN: &[u8] = b"Q\x00\x00\x00\x0aBEGIN\x00";

pub(crate) struct Turns {
    address: SocketAddr,
    is_over: Arc<AtomicBool>,
    connections: Arc<Mutex<Vec<Arc<Mutex<Counted>>>>>,
}

/// Counters of one connection since they were last read.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Counted {
    was_answered: bool,
    turns: usize,
    begun: usize,
}

impl Counted {
    fn sent(&mut self, bytes: &[u8]) {
        self.turns += usize::from(self.was_answered);
        self.was_answered = false;
        self.begun += bytes.windows(BEGIN.len()).filter(|window| *window == BEGIN).count();
    }
}

impl Turns {
    pub(crate) fn to(server: SocketAddr) -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let (is_over, connections) = (Arc::<AtomicBool>::default(), Arc::<Mutex<Vec<Arc<Mutex<Counted>>>>>::default());
        let (ends, open_connections) = (Arc::clone(&is_over), Arc::clone(&connections));
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok).take_while(|_| !ends.load(Ordering::Acquire)) {
                let counted = Arc::default();
                if hand_on(client, server, &counted).is_ok() {
                    locked(&open_connections).push(counted);
                }
            }
        });
        Ok(Self { address, is_over, connections })
    }

    pub(crate) const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns round trips per write transaction since the last call, on the connections that had any.
    pub(crate) fn of_each(&self) -> f64 {
        let (mut turns, mut begun) = (0, 0);
        for connection in &*locked(&self.connections) {
            let mut counted = locked(connection);
            if counted.begun > 0 {
                turns += counted.turns;
                begun += counted.begun;
            }
            *counted = Counted { was_answered: counted.was_answered, ..Counted::default() };
        }
        count(turns) / count(begun)
    }
}

impl Drop for Turns {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Release);
        // Wakes the thread that accepts connections.
        let _ = TcpStream::connect(self.address);
    }
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Forwards both directions, each in its own thread, until one side closes.
fn hand_on(mut client: TcpStream, server: SocketAddr, counted: &Arc<Mutex<Counted>>) -> std::io::Result<()> {
    let mut server = TcpStream::connect(server)?;
    for stream in [&client, &server] {
        stream.set_nodelay(true)?;
    }
    let (mut to_server, mut to_client) = (server.try_clone()?, client.try_clone()?);
    let (sent, answered) = (Arc::clone(counted), Arc::clone(counted));
    thread::spawn(move || {
        carry(&mut client, &mut to_server, |bytes| locked(&sent).sent(bytes));
    });
    thread::spawn(move || {
        carry(&mut server, &mut to_client, |_| {
            pause(ANSWER_WAIT);
            locked(&answered).was_answered = true;
        });
    });
    Ok(())
}

fn carry(from: &mut TcpStream, to: &mut TcpStream, mut note: impl FnMut(&[u8])) {
    let mut bytes = vec![0; CHUNK_BYTES];
    while let Ok(length @ 1..) = from.read(&mut bytes) {
        note(&bytes[..length]);
        if to.write_all(&bytes[..length]).is_err() {
            break;
        }
    }
    // Tells the other side that the connection is closed. It may be gone already.
    let _ = to.shutdown(Shutdown::Both);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn consecutive_sends_count_as_one_round_trip() {
        let mut counted = Counted { was_answered: true, ..Counted::default() };
        counted.sent(BEGIN);
        counted.sent(b"more");
        assert_eq!((counted.turns, counted.begun), (1, 1));
        counted.was_answered = true;
        counted.sent(b"Q\x00\x00\x00\x0bCOMMIT\x00");
        assert_eq!((counted.turns, counted.begun), (2, 1));
    }
}
