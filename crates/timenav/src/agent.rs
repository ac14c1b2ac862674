//! The door to keys that an agent holds: a process that signs and never shows a key, by the protocol of the SSH agent
//! (draft-ietf-sshm-ssh-agent). So the key that signs the ledgers can be in a hardware module, or with somebody else.

use std::io::{self, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use data_encoding::BASE64_NOPAD;
use parking_lot::Mutex;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};
use ssh_encoding::{Decode as _, Encode as _};
use timenav_core::ledger::sha256;
use timenav_engine::{SignFailure, Signer};

use crate::doors::{Seals, counted, verify_signature};

/// The only kind of key that signs ledgers.
const ED25519: &str = "ssh-ed25519";
/// `SSH_AGENTC_REQUEST_IDENTITIES` and its answer.
const REQUEST_IDENTITIES: u8 = 11;
const IDENTITIES_ANSWER: u8 = 12;
/// `SSH_AGENTC_SIGN_REQUEST` and its answer.
const SIGN_REQUEST: u8 = 13;
const SIGN_RESPONSE: u8 = 14;
/// `SSH_AGENT_FAILURE`.
const FAILURE: u8 = 5;
/// Most bytes of an answer that are read.
const ANSWER_BYTES_MAX: u32 = 256 * 1_024;
/// Longest time that an answer is waited for. A group of writes holds locks meanwhile, which PostgreSQL takes back after
/// two seconds.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(1);
/// For so long after an agent did not answer, nobody else waits for it: all would wait one after the other.
const AWAY_TIME: Duration = Duration::from_millis(250);
/// Longest time in which what is committed already is tried to be signed.
const SIGN_AGAIN_TIME_MAX: Duration = Duration::from_mins(1);

/// A key that an agent holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    /// The public key.
    pub(crate) public_key: [u8; 32],
    /// What whoever added it calls it.
    pub(crate) comment: String,
}

impl Identity {
    /// Returns the fingerprint, as `ssh-add -l` shows it.
    pub(crate) fn fingerprint(&self) -> String {
        format!("SHA256:{}", BASE64_NOPAD.encode(sha256(&[&key_blob(&self.public_key)]).as_bytes()))
    }
}

/// Where an agent listens, and what is known of it.
pub(crate) struct Agent {
    socket: PathBuf,
    link: Mutex<Link>,
}

#[derive(Default)]
struct Link {
    /// A connection over which something was answered.
    kept: Option<UnixStream>,
    /// When the agent did not answer, and why, where nothing was answered since.
    away: Option<(Duration, String)>,
}

impl Agent {
    /// Names an agent. Nobody is connected to it before something is asked.
    pub(crate) fn at(socket: &Path) -> Self {
        Self { socket: socket.to_owned(), link: Mutex::default() }
    }

    /// Returns the Ed25519 keys that it holds.
    ///
    /// # Errors
    /// It does not answer, or nothing that can be understood.
    pub(crate) fn identities(&self) -> anyhow::Result<Vec<Identity>> {
        let answer = self.ask(&[REQUEST_IDENTITIES]).map_err(|why| self.blame(&why))?;
        read_identities(&answer).map_err(|why| self.blame(&why)).map_err(Into::into)
    }

    /// Has it sign a message (RFC 8032).
    fn sign(&self, public_key: &[u8; 32], message: &[u8]) -> Result<[u8; 64], SignFailure> {
        let request = sign_request(public_key, message);
        let signature = self.ask(&request).and_then(|answer| read_signature(&answer));
        let signature = signature.map_err(|why| self.blame(&why))?;
        if verify_signature(public_key, message, &signature) {
            return Ok(signature);
        }
        Err(self.blame("what it answers is no signature by that key"))
    }

    fn blame(&self, why: &str) -> SignFailure {
        SignFailure(format!("the agent at {}: {why}", self.socket.display()))
    }

    /// Sends a message, and returns what is answered.
    fn ask(&self, message: &[u8]) -> Result<Vec<u8>, String> {
        let mut link = self.link.lock();
        if let Some((since, why)) = &link.away
            && counted().saturating_sub(*since) < AWAY_TIME
        {
            return Err(why.clone());
        }
        let asked = match link.kept.take() {
            // An agent that was started again knows nothing of the connections of the one before.
            Some(kept) => exchange(kept, message).or_else(|error| match error.kind() {
                io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => Err(error),
                _ => self.ask_anew(message),
            }),
            None => self.ask_anew(message),
        };
        match asked {
            Ok((kept, answer)) => {
                *link = Link { kept: Some(kept), away: None };
                Ok(answer)
            }
            Err(error) => {
                let why = match error.kind() {
                    io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                        format!("it does not answer within {} s", ANSWER_TIME_MAX.as_secs())
                    }
                    io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => {
                        format!("nobody listens there ({error})")
                    }
                    _ => error.to_string(),
                };
                link.away = Some((counted(), why.clone()));
                Err(why)
            }
        }
    }

    fn ask_anew(&self, message: &[u8]) -> io::Result<(UnixStream, Vec<u8>)> {
        let address = SocketAddrUnix::new(&self.socket)?;
        let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
        // Connecting waits too, where the agent takes no connections.
        set_socket_timeout(&socket, Timeout::Send, Some(ANSWER_TIME_MAX))?;
        connect(&socket, &address)?;
        exchange(UnixStream::from(socket), message)
    }
}

/// Sends one message over a connection, and reads its answer.
fn exchange(mut stream: UnixStream, message: &[u8]) -> io::Result<(UnixStream, Vec<u8>)> {
    let began = counted();
    let mut framed = Vec::with_capacity(message.len() + 4);
    message.encode(&mut framed).map_err(io::Error::other)?;
    stream.write_all(&framed)?;
    let mut read = |buffer: &mut [u8]| -> io::Result<()> {
        let mut filled = 0;
        while filled < buffer.len() {
            let left = ANSWER_TIME_MAX.saturating_sub(counted().saturating_sub(began));
            if left.is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            stream.set_read_timeout(Some(left))?;
            match stream.read(&mut buffer[filled..]) {
                Ok(0) => return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it ended the connection")),
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    };
    let mut length = [0; 4];
    read(&mut length)?;
    let length = u32::from_be_bytes(length);
    if length == 0 || length > ANSWER_BYTES_MAX {
        let what = format!("an answer of {length} bytes is none of an SSH agent");
        return Err(io::Error::new(io::ErrorKind::InvalidData, what));
    }
    let mut answer = vec![0; length as usize];
    read(&mut answer)?;
    Ok((stream, answer))
}

/// Returns a public key as the protocol writes it (RFC 8709 §4).
fn key_blob(public_key: &[u8; 32]) -> Vec<u8> {
    let mut blob = Vec::new();
    put(ED25519.as_bytes(), &mut blob);
    put(public_key, &mut blob);
    blob
}

fn sign_request(public_key: &[u8; 32], message: &[u8]) -> Vec<u8> {
    let mut request = vec![SIGN_REQUEST];
    put(&key_blob(public_key), &mut request);
    put(message, &mut request);
    // No flags: they are about RSA.
    request.extend_from_slice(&[0; 4]);
    request
}

/// Appends bytes behind their number.
fn put(bytes: &[u8], to: &mut Vec<u8>) {
    bytes.encode(to).expect("what is kept in memory is shorter than four gigabytes, and a vector takes it");
}

/// Returns the key of a blob; `None` of another kind of key.
fn read_key(mut blob: &[u8]) -> Option<[u8; 32]> {
    let kind = String::decode(&mut blob).ok()?;
    let key = Vec::<u8>::decode(&mut blob).ok()?;
    if kind == ED25519 && blob.is_empty() { key.try_into().ok() } else { None }
}

/// Returns what follows the type of an answer that has the one expected.
fn body_of<'a>(answer: &'a [u8], expected: u8, refused: &str) -> Result<&'a [u8], String> {
    match answer.split_first() {
        Some((kind, body)) if *kind == expected => Ok(body),
        Some((&FAILURE, _)) => Err(refused.to_owned()),
        Some((kind, _)) => Err(format!("an answer of the type {kind} is not what was asked for")),
        None => Err("an empty answer".to_owned()),
    }
}

fn read_identities(answer: &[u8]) -> Result<Vec<Identity>, String> {
    let mut body = body_of(answer, IDENTITIES_ANSWER, "it does not tell which keys it holds")?;
    let cut = |_| "its list of keys is cut off".to_owned();
    let count = u32::decode(&mut body).map_err(cut)?;
    let mut identities = Vec::new();
    for _ in 0..count {
        let blob = Vec::<u8>::decode(&mut body).map_err(cut)?;
        let comment = Vec::<u8>::decode(&mut body).map_err(cut)?;
        let comment = String::from_utf8_lossy(&comment).into_owned();
        identities.extend(read_key(&blob).map(|public_key| Identity { public_key, comment }));
    }
    Ok(identities)
}

fn read_signature(answer: &[u8]) -> Result<[u8; 64], String> {
    let refused = "it refuses to sign; is it locked, or was the key taken out of it?";
    let mut body = body_of(answer, SIGN_RESPONSE, refused)?;
    let other = || "what it answers is no Ed25519 signature".to_owned();
    let signed = Vec::<u8>::decode(&mut body).map_err(|_| other())?;
    let mut signed = signed.as_slice();
    let kind = String::decode(&mut signed).map_err(|_| other())?;
    let signature = Vec::<u8>::decode(&mut signed).map_err(|_| other())?;
    if kind == ED25519 { signature.try_into().map_err(|_| other()) } else { Err(other()) }
}

/// Signs with a key that an agent holds. What is sealed is sealed by a secret of its own, which is here.
pub(crate) struct AgentSigner {
    agent: Agent,
    public_key: [u8; 32],
    seals: Seals,
}

impl AgentSigner {
    /// Returns what signs with that key of an agent.
    pub(crate) fn new(socket: &Path, public_key: [u8; 32], seal_secret: &[u8; 32]) -> Self {
        Self { agent: Agent::at(socket), public_key, seals: Seals::of(seal_secret) }
    }
}

impl Signer for AgentSigner {
    fn public_key(&self) -> [u8; 32] {
        self.public_key
    }

    fn sign(&self, message: &[u8]) -> Result<[u8; 64], SignFailure> {
        self.agent.sign(&self.public_key, message)
    }

    #[expect(clippy::disallowed_methods, reason = "an agent that is away tells nobody when it is there again")]
    fn sign_in_the_end(&self, message: &[u8]) -> Result<[u8; 64], SignFailure> {
        let (began, mut is_told) = (counted(), false);
        loop {
            let signed = self.sign(message);
            let Err(failure) = &signed else { return signed };
            if counted().saturating_sub(began) >= SIGN_AGAIN_TIME_MAX {
                return signed;
            }
            if !is_told {
                tracing::warn!(%failure, "what is committed waits for its signature");
                is_told = true;
            }
            std::thread::sleep(AWAY_TIME);
        }
    }

    fn verify(&self, public_key: &[u8; 32], message: &[u8], signature: &[u8; 64]) -> bool {
        verify_signature(public_key, message, signature)
    }

    fn authenticate(&self, label: &str, message: &[u8]) -> [u8; 32] {
        self.seals.authenticate(label, message)
    }
}

#[cfg(test)]
mod tests;
