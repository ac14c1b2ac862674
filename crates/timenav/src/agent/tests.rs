use std::os::unix::net::UnixListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;

use tempfile::TempDir;

use super::*;
use crate::doors::FileSigner;

/// An agent in this process, which answers as it is told.
struct StandIn {
    folder: TempDir,
    connections: Arc<AtomicUsize>,
    served: Option<JoinHandle<()>>,
}

/// What the holder of this key answers to a message.
type Answers = fn(&FileSigner, &[u8]) -> Vec<u8>;

impl StandIn {
    fn socket(&self) -> PathBuf {
        self.folder.path().join("agent.sock")
    }

    /// Answers so many messages over each of so many connections, and is gone.
    fn serve(connections: usize, messages: usize, answers: Answers) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut stand_in = Self { folder, connections: Arc::default(), served: None };
        stand_in.serve_again(connections, messages, answers);
        stand_in
    }

    fn serve_again(&mut self, connections: usize, messages: usize, answers: Answers) {
        let _ = std::fs::remove_file(self.socket());
        let listener = UnixListener::bind(self.socket()).unwrap();
        let counted = Arc::clone(&self.connections);
        self.served = Some(std::thread::spawn(move || {
            for _ in 0..connections {
                let (mut stream, _) = listener.accept().unwrap();
                counted.fetch_add(1, Ordering::SeqCst);
                for _ in 0..messages {
                    let mut length = [0; 4];
                    if stream.read_exact(&mut length).is_err() {
                        break;
                    }
                    let mut message = vec![0; u32::from_be_bytes(length) as usize];
                    stream.read_exact(&mut message).unwrap();
                    // Whoever is gone does not listen.
                    let _ = stream.write_all(&answers(&key(), &message));
                }
            }
        }));
    }

    fn wait(&mut self) {
        self.served.take().unwrap().join().unwrap();
    }

    fn signer(&self) -> AgentSigner {
        AgentSigner::new(&self.socket(), key().public_key(), &[9; 32])
    }
}

fn key() -> FileSigner {
    FileSigner::new(&[5; 32]).unwrap()
}

fn framed(body: &[u8]) -> Vec<u8> {
    let mut framed = Vec::new();
    put(body, &mut framed);
    framed
}

/// What is signed by a request for this key.
fn asked(key: &FileSigner, message: &[u8]) -> Vec<u8> {
    let mut rest = &message[1..];
    assert_eq!(message[0], SIGN_REQUEST);
    assert_eq!(read_key(&Vec::<u8>::decode(&mut rest).unwrap()), Some(key.public_key()));
    let data = Vec::<u8>::decode(&mut rest).unwrap();
    assert_eq!(rest, [0; 4]);
    data
}

fn response(kind: &str, signature: &[u8]) -> Vec<u8> {
    let (mut signed, mut body) = (Vec::new(), vec![SIGN_RESPONSE]);
    put(kind.as_bytes(), &mut signed);
    put(signature, &mut signed);
    put(&signed, &mut body);
    framed(&body)
}

fn signs(key: &FileSigner, message: &[u8]) -> Vec<u8> {
    response(ED25519, &key.sign(&asked(key, message)).unwrap())
}

#[test]
fn an_agent_signs_over_one_connection() {
    let mut agent = StandIn::serve(1, 3, signs);
    let signer = agent.signer();
    for message in [&b"one"[..], b"", &vec![7; 70_000]] {
        assert_eq!(signer.sign(message), key().sign(message));
    }
    agent.wait();
    assert_eq!(agent.connections.load(Ordering::SeqCst), 1);
    assert_eq!(signer.public_key(), key().public_key());
    assert_ne!(
        signer.authenticate("cursor", b"x"),
        key().authenticate("cursor", b"x"),
        "seals have a secret of their own"
    );
}

#[test]
fn an_agent_that_was_started_again_is_found() {
    let mut agent = StandIn::serve(1, 1, signs);
    let signer = agent.signer();
    signer.sign(b"one").unwrap();
    agent.wait();
    agent.serve_again(1, 1, signs);
    assert_eq!(signer.sign(b"two"), key().sign(b"two"));
    agent.wait();
    let gone = signer.sign(b"three").unwrap_err().to_string();
    assert!(gone.contains("agent.sock: nobody listens there"), "{gone}");
}

#[test]
fn what_is_committed_waits_for_an_agent_that_is_away() {
    let mut agent = StandIn::serve(0, 0, signs);
    let signer = agent.signer();
    agent.wait();
    assert!(signer.sign(b"one").is_err());
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| signer.sign_in_the_end(b"one"));
        agent.serve_again(1, 1, signs);
        assert_eq!(waiting.join().unwrap(), key().sign(b"one"));
    });
    agent.wait();
}

/// Nothing that an agent answers becomes a signature that the key did not make, and each tells what is wrong.
#[test]
fn other_answers_are_refused() {
    let of_another: Answers =
        |key, message| response(ED25519, &FileSigner::new(&[6; 32]).unwrap().sign(&asked(key, message)).unwrap());
    for (answers, why) in [
        ((|_, _| framed(&[FAILURE])) as Answers, "refuses to sign; is it locked"),
        (of_another, "is no signature by that key"),
        (|key, message| response("ssh-rsa", &key.sign(&asked(key, message)).unwrap()), "is no Ed25519 signature"),
        (|_, _| response(ED25519, &[1; 63]), "is no Ed25519 signature"),
        (|_, _| framed(&[SIGN_RESPONSE, 0, 0, 1, 0]), "is no Ed25519 signature"),
        (|_, _| framed(&[IDENTITIES_ANSWER, 0, 0, 0, 0]), "an answer of the type 12"),
        (|_, _| framed(&[]), "an answer of 0 bytes"),
        (|_, _| vec![0xff; 4], "an answer of 4294967295 bytes"),
        (|_, _| vec![0, 0], "it ended the connection"),
    ] {
        let mut agent = StandIn::serve(1, 1, answers);
        let refused = agent.signer().sign(b"one").unwrap_err().to_string();
        agent.wait();
        assert!(refused.contains(why) && refused.contains("agent.sock"), "{why}: {refused}");
    }
}

/// Everybody else is refused at once, and does not wait for it too.
#[test]
fn an_agent_that_hangs_is_waited_for_once() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("agent.sock");
    let listener = UnixListener::bind(&socket).unwrap();
    let signer = AgentSigner::new(&socket, key().public_key(), &[9; 32]);
    let refused = signer.sign(b"one").unwrap_err().to_string();
    assert!(refused.contains("does not answer within 1 s"), "{refused}");
    std::thread::scope(|scope| {
        for asking in std::iter::repeat_with(|| scope.spawn(|| signer.sign(b"two"))).take(16).collect::<Vec<_>>() {
            assert!(asking.join().unwrap().is_err());
        }
    });
    listener.set_nonblocking(true).unwrap();
    let connections = std::iter::from_fn(|| listener.accept().ok()).count();
    assert!(connections < 8, "{connections} of 17 have waited");
}

#[test]
fn keys_of_other_kinds_are_passed_over() {
    let lists: Answers = |key, message| {
        assert_eq!(message, [REQUEST_IDENTITIES]);
        let mut body = vec![IDENTITIES_ANSWER, 0, 0, 0, 3];
        let mut rsa = Vec::new();
        put(b"ssh-rsa", &mut rsa);
        put(&[3; 3], &mut rsa);
        for (blob, comment) in [(rsa, "old"), (key_blob(&key.public_key()), "ledgers"), (vec![1], "broken")] {
            put(&blob, &mut body);
            put(comment.as_bytes(), &mut body);
        }
        framed(&body)
    };
    let mut agent = StandIn::serve(1, 1, lists);
    let found = Agent::at(&agent.socket()).identities().unwrap();
    agent.wait();
    assert_eq!(found, [Identity { public_key: key().public_key(), comment: "ledgers".to_owned() }]);
    assert_eq!(found[0].fingerprint().len(), "SHA256:".len() + 43, "{}", found[0].fingerprint());
    let mut agent = StandIn::serve(1, 1, |_, _| framed(&[IDENTITIES_ANSWER, 0xff, 0xff, 0xff, 0xff, 0, 0]));
    let refused = Agent::at(&agent.socket()).identities().unwrap_err().to_string();
    agent.wait();
    assert!(refused.contains("its list of keys is cut off"), "{refused}");
}
