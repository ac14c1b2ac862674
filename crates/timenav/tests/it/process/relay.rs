//! Stands between a service and its database: cuts what they have, or holds one message of a transaction back until the
//! service was stopped.

use std::io::{Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

use tempfile::TempDir;

/// What servers call their sockets, at the usual port.
const SOCKET: &str = ".s.PGSQL.5432";
/// What the beginning of a transaction that writes looks like on its way: of a service, and of a command.
const BEGIN: [&[u8]; 2] = [b"BEGIN\0", b"START TRANSACTION\0"];

/// Which way something is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Asked,
    Told,
}

/// What is to be held back.
#[derive(Default)]
enum Hold {
    #[default]
    Nothing,
    /// A message of a transaction, once so many have begun: the beginning is 0, its answer 1, the next question 2.
    To { transactions: usize, turn: usize },
    /// It is held.
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

/// How far the transaction of a connection is.
#[derive(Default)]
struct Turns(Option<(usize, Way)>);

impl State {
    /// Lets something pass, or holds it back. Whoever says something next waits as well.
    fn pass(&self, turns: &Mutex<Turns>, way: Way, said: &[u8]) {
        let mut turns = turns.lock().unwrap();
        let mut hold = self.hold.lock().unwrap();
        let begins =
            way == Way::Asked && BEGIN.iter().any(|begin| said.windows(begin.len()).any(|some| some == *begin));
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

/// A socket of its own, behind which is that of a server.
pub(crate) struct Relay {
    folder: TempDir,
    pub(crate) url: String,
    state: Arc<State>,
}

impl Relay {
    /// Stands before the server of an address with a socket.
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

    /// Cuts all connections. New ones get through.
    pub(crate) fn cut(&self) {
        self.state.cut();
    }

    /// Holds a message back of the first transaction that has so many, after some others: the beginning is 0, its answer
    /// 1, the next question 2.
    pub(crate) fn hold(&self, turn: usize, after: usize) {
        *self.state.hold.lock().unwrap() = Hold::To { transactions: after + 1, turn };
    }

    /// Returns whether it is held.
    pub(crate) fn holds(&self) -> bool {
        matches!(*self.state.hold.lock().unwrap(), Hold::Held)
    }

    /// Lets what is held go on.
    pub(crate) fn release(&self) {
        *self.state.hold.lock().unwrap() = Hold::Nothing;
        self.state.released.notify_all();
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.state.is_over.store(true, Ordering::SeqCst);
        self.release();
        // Whoever waits for connections finds out with the next one.
        let _ = UnixStream::connect(self.folder.path().join(SOCKET));
        self.state.cut();
    }
}

fn listen(listener: &UnixListener, server: &Path, state: &Arc<State>) {
    for client in listener.incoming() {
        if state.is_over.load(Ordering::SeqCst) {
            return;
        }
        // If the server is away, the connection ends at once.
        let (Ok(client), Ok(server)) = (client, UnixStream::connect(server)) else { continue };
        let both = || [client.try_clone().unwrap(), server.try_clone().unwrap()];
        state.ends.lock().unwrap().extend(both());
        let turns = Arc::<Mutex<Turns>>::default();
        let [[client, to_server], [to_client, server]] = [both(), both()];
        for (from, to, way) in [(client, to_server, Way::Asked), (server, to_client, Way::Told)] {
            let (turns, state) = (Arc::clone(&turns), Arc::clone(state));
            thread::spawn(move || carry((from, to), way, &turns, &state));
        }
    }
}

/// Carries what one end says to the other until one of them has gone.
fn carry((mut from, mut to): (UnixStream, UnixStream), way: Way, turns: &Mutex<Turns>, state: &State) {
    let mut said = vec![0; 65_536];
    while let Ok(read @ 1..) = from.read(&mut said) {
        state.pass(turns, way, &said[..read]);
        if to.write_all(&said[..read]).is_err() {
            break;
        }
    }
    for end in [from, to] {
        let _ = end.shutdown(Shutdown::Both);
    }
}
