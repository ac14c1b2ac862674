//! A proxy between a store and its server that loses the messages of one commit, or counts round trips.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};

use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{UnixListener, UnixStream};
use tokio::time::timeout;

use crate::postgres::*;

/// The server's socket file name for the default port.
const SOCKET: &str = ".s.PGSQL.5432";
/// A commit on the wire.
const COMMIT: &[u8] = b"COMMIT\0";

/// The beginning of a write transaction on the wire.
const BEGIN: &[u8] = b"BEGIN\0";
/// The beginning of a read transaction on the wire.
const BEGIN_TO_READ: &[u8] = b"READ ONLY\0";
/// Delay of a response while round trips are counted: pipelined statements have been sent by then.
const HELD_BACK: Duration = Duration::from_millis(100);

/// What is lost of the next commit, together with the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lost {
    Nothing = 0,
    /// The commit arrives, and the response is lost.
    Answer = 1,
    /// The commit is lost.
    Question = 2,
    /// The commit arrives, and the server becomes unreachable.
    AnswerAndServer = 3,
    /// The server is unreachable.
    Server = 4,
    /// The commit gets its response, and the server becomes unreachable for others.
    Others = 5,
}

#[derive(Default)]
struct State {
    lost: AtomicU8,
    count: AtomicUsize,
    /// Whether round trips are counted: those of write transactions, and those of others that read in transactions.
    counts: AtomicBool,
    journeys: AtomicUsize,
    journeys_to_read: AtomicUsize,
}

impl State {
    fn is(&self, lost: Lost) -> bool {
        self.lost.load(Ordering::SeqCst) == lost as u8
    }

    fn set(&self, lost: Lost) {
        self.lost.store(lost as u8, Ordering::SeqCst);
    }
}

/// A socket that forwards to a server's.
pub(super) struct Proxy {
    folder: TempDir,
    rest: String,
    state: Arc<State>,
}

impl Proxy {
    /// Starts a proxy for a server with a socket address.
    pub(super) fn start(url: &str) -> Self {
        let (before, after) = url.split_once("host=").unwrap();
        let (server, rest) = after.split_once('&').unwrap();
        let (folder, state) = (tempfile::tempdir().unwrap(), Arc::<State>::default());
        let (socket, server) = (folder.path().join(SOCKET), PathBuf::from(server).join(SOCKET));
        let shared = Arc::clone(&state);
        wait_for(async {
            let listener = UnixListener::bind(socket).unwrap();
            tokio::spawn(async move {
                while let Ok((client, _)) = listener.accept().await {
                    if !shared.is(Lost::Server) {
                        tokio::spawn(carry(client, server.clone(), Arc::clone(&shared)));
                    }
                }
            });
        });
        Self { folder, rest: format!("{before}{rest}"), state }
    }

    pub(super) fn url(&self) -> String {
        format!("{}&host={}", self.rest, self.folder.path().display())
    }

    /// Loses this part of the next commit.
    pub(super) fn lose(&self, lost: Lost) {
        self.state.set(lost);
    }

    /// Forwards everything again.
    pub(super) fn let_pass(&self) {
        self.state.set(Lost::Nothing);
    }

    /// Starts counting round trips. Everything sent before a response arrives is one round trip.
    pub(super) fn count_journeys(&self) {
        self.state.counts.store(true, Ordering::SeqCst);
    }

    /// Stops delaying responses.
    pub(super) fn count_no_more(&self) {
        self.state.counts.store(false, Ordering::SeqCst);
    }

    /// Returns the round trips of write transactions since the last call.
    pub(super) fn journeys(&self) -> usize {
        self.state.journeys.swap(0, Ordering::SeqCst)
    }

    /// Returns the round trips of read transactions since the last call.
    pub(super) fn journeys_to_read(&self) -> usize {
        self.state.journeys_to_read.swap(0, Ordering::SeqCst)
    }

    /// Returns how often something was lost.
    pub(super) fn lost(&self) -> usize {
        self.state.count.load(Ordering::SeqCst)
    }
}

/// Forwards both directions until something is lost.
async fn carry(mut client: UnixStream, server: PathBuf, state: Arc<State>) {
    let Ok(mut server) = UnixStream::connect(server).await else { return };
    let (mut request, mut reply) = (vec![0; 65_536], vec![0; 65_536]);
    let (mut is_answered, mut writes, mut reads, mut is_spared) = (true, false, false, false);
    loop {
        tokio::select! {
            read = client.read(&mut request) => {
                let Some(read) = read.ok().filter(|read| *read > 0) else { return };
                let bytes = &request[..read];
                let has = |begin: &[u8]| memchr::memmem::find(bytes, begin).is_some();
                (writes, reads) = (writes || has(BEGIN), reads || has(BEGIN_TO_READ));
                if writes && is_answered {
                    state.journeys.fetch_add(1, Ordering::SeqCst);
                } else if reads && is_answered {
                    state.journeys_to_read.fetch_add(1, Ordering::SeqCst);
                }
                is_answered = false;
                let is_commit = memchr::memmem::find(bytes, COMMIT).is_some();
                if is_commit && state.is(Lost::Others) {
                    is_spared = true;
                    state.count.fetch_add(1, Ordering::SeqCst);
                    state.set(Lost::Server);
                } else if is_commit && !state.is(Lost::Nothing) {
                    lose(bytes, &mut server, &state).await;
                    return;
                } else if state.is(Lost::Server) && !is_spared {
                    return;
                }
                if server.write_all(bytes).await.is_err() {
                    return;
                }
            }
            read = server.read(&mut reply) => {
                let Some(read) = read.ok().filter(|read| *read > 0) else { return };
                while state.counts.load(Ordering::SeqCst) {
                    let Ok(more) = timeout(HELD_BACK, client.read(&mut request)).await else { break };
                    let Some(more) = more.ok().filter(|more| *more > 0) else { return };
                    if server.write_all(&request[..more]).await.is_err() {
                        return;
                    }
                }
                is_answered = true;
                if client.write_all(&reply[..read]).await.is_err() {
                    return;
                }
            }
        }
    }
}

async fn lose(commit: &[u8], server: &mut UnixStream, state: &State) {
    state.count.fetch_add(1, Ordering::SeqCst);
    let after = if state.is(Lost::AnswerAndServer) { Lost::Server } else { Lost::Nothing };
    if !state.is(Lost::Question) {
        server.write_all(commit).await.unwrap();
        // The server's next message confirms the commit.
        let _ = server.read(&mut [0; 1_024]).await;
    }
    state.set(after);
}
