//! A proxy between a service and its database that cuts connections, or delays one message of a transaction until the
//! service was stopped.

use std::io::{Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

use tempfile::TempDir;

/// The name of server sockets at the default port.
const SOCKET: &str = ".s.PGSQL.5432";
/// The first message of a writing transaction: of a service, and of a command.
const BEGIN: [&[u8]; 2] = [b"BEGIN\0", b"START TRANSACTION\0"];

/// The direction of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Request,
    Response,
}

/// The message to hold.
#[derive(Default)]
enum Hold {
    #[default]
    Nothing,
    /// A message of a transaction after this many have started: the first message is 0, its response 1, the next
    /// request 2.
    To { transactions: usize, turn: usize },
    /// The message is being held.
    Held,
}

#[derive(Default)]
struct State {
    is_over: AtomicBool,
    /// Both ends of each connection.
    ends: Mutex<Vec<UnixStream>>,
    hold: Mutex<Hold>,
    released: Condvar,
}

/// Progress of a connection's transaction.
#[derive(Default)]
struct Turns(Option<(usize, Way)>);

impl State {
    /// Forwards or holds a message. Later messages wait as well.
    fn pass(&self, turns: &Mutex<Turns>, way: Way, output: &[u8]) {
        let mut turns = turns.lock().unwrap();
        let mut hold = self.hold.lock().unwrap();
        let begins = way == Way::Request && BEGIN.iter().any(|begin| memchr::memmem::find(output, begin).is_some());
        if begins && let Hold::To { transactions, .. } = &mut *hold {
            *transactions = transactions.saturating_sub(1);
        }
        turns.0 = match turns.0 {
            _ if begins => Some((0, way)),
            Some((turn, before)) if before != way => Some((turn + 1, way)),
            before => before,
        };
        let Hold::To { transactions: 0, turn } = *hold else { return };
        if turns.0.is_some_and(|(now, _)| now == turn) {
            *hold = Hold::Held;
            while matches!(*hold, Hold::Held) {
                hold = self.released.wait(hold).unwrap();
            }
        }
    }

    fn cut(&self) {
        for end in self.ends.lock().unwrap().drain(..) {
            let _ = end.shutdown(Shutdown::Both);
        }
    }
}

/// A socket that forwards to that of a server.
pub(crate) struct Relay {
    folder: TempDir,
    pub(crate) url: String,
    state: Arc<State>,
}

impl Relay {
    /// Starts a proxy for the server of a URL with a socket.
    pub(crate) fn start(url: &str) -> Self {
        let (before, after) = url.split_once("host=").unwrap();
        let (server, rest) = after.split_once('&').unwrap();
        let (folder, state) = (tempfile::tempdir().unwrap(), Arc::<State>::default());
        let listener = UnixListener::bind(folder.path().join(SOCKET)).unwrap();
        let (server, shared) = (Path::new(server).join(SOCKET), Arc::clone(&state));
        thread::spawn(move || listen(&listener, &server, &shared));
        let url = format!("{before}host={}&{rest}", folder.path().display());
        Self { folder, url, state }
    }

    /// Cuts all connections. New ones are forwarded.
    pub(crate) fn cut(&self) {
        self.state.cut();
    }

    /// Holds a message of the first long enough transaction after some others: the first message is 0, its response 1,
    /// the next request 2.
    pub(crate) fn hold(&self, turn: usize, after: usize) {
        *self.state.hold.lock().unwrap() = Hold::To { transactions: after + 1, turn };
    }

    /// Returns whether the message is being held.
    pub(crate) fn holds(&self) -> bool {
        matches!(*self.state.hold.lock().unwrap(), Hold::Held)
    }

    /// Releases the message.
    pub(crate) fn release(&self) {
        *self.state.hold.lock().unwrap() = Hold::Nothing;
        self.state.released.notify_all();
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.state.is_over.store(true, Ordering::SeqCst);
        self.release();
        // The accept loop notices on the next connection.
        let _ = UnixStream::connect(self.folder.path().join(SOCKET));
        self.state.cut();
    }
}

fn listen(listener: &UnixListener, server: &Path, state: &Arc<State>) {
    for client in listener.incoming() {
        if state.is_over.load(Ordering::SeqCst) {
            return;
        }
        // If the server is unavailable, the connection is closed at once.
        let (Ok(client), Ok(server)) = (client, UnixStream::connect(server)) else { continue };
        let both = || [client.try_clone().unwrap(), server.try_clone().unwrap()];
        state.ends.lock().unwrap().extend(both());
        let turns = Arc::<Mutex<Turns>>::default();
        let [[client, to_server], [to_client, server]] = [both(), both()];
        for (from, to, way) in [(client, to_server, Way::Request), (server, to_client, Way::Response)] {
            let (turns, state) = (Arc::clone(&turns), Arc::clone(state));
            thread::spawn(move || carry((from, to), way, &turns, &state));
        }
    }
}

/// Forwards data in one direction until either end is closed.
fn carry((mut from, mut to): (UnixStream, UnixStream), way: Way, turns: &Mutex<Turns>, state: &State) {
    let mut output = vec![0; 65_536];
    while let Ok(read @ 1..) = from.read(&mut output) {
        state.pass(turns, way, &output[..read]);
        if to.write_all(&output[..read]).is_err() {
            break;
        }
    }
    for end in [from, to] {
        let _ = end.shutdown(Shutdown::Both);
    }
}
