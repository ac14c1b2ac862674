//! A scripted witness: lying, slow or unresponsive.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair as _};
use data_encoding::{BASE64, HEXLOWER};

use crate::ledger::sha256;

/// A request: path and body.
pub(crate) type LogRequest<'a> = (&'a str, &'a str);
/// A response: status, media type, body; `None` for no response.
pub(crate) type Said = Option<(u16, &'static str, String)>;

pub(crate) struct StubWitness {
    address: SocketAddr,
    signer: Arc<Signer>,
    pub(crate) requests_count: Arc<AtomicUsize>,
}

/// The key of a witness.
pub(crate) struct Signer {
    name: &'static str,
    pair: Ed25519KeyPair,
}

impl Signer {
    fn id(&self) -> [u8; 4] {
        let hash = sha256(&[self.name.as_bytes(), b"\n\x04", self.pair.public_key().as_ref()]);
        hash[..4].try_into().unwrap()
    }

    /// Cosigns a note at a time.
    pub(crate) fn line(&self, text: &str, time: u64) -> String {
        let signature = self.pair.sign(format!("cosignature/v1\ntime {time}\n{text}").as_bytes());
        let bytes = [self.id().as_slice(), &time.to_be_bytes(), signature.as_ref()].concat();
        format!("— {} {}\n", self.name, BASE64.encode(&bytes))
    }
}

impl StubWitness {
    /// Starts a witness with these responses. The thread ends with the test process.
    pub(crate) fn start(
        name: &'static str,
        answer: impl Fn(&Signer, LogRequest<'_>) -> Said + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let pair = Ed25519KeyPair::from_seed_unchecked(&[11; 32]).unwrap();
        let (signer, requests_count) = (Arc::new(Signer { name, pair }), Arc::new(AtomicUsize::new(0)));
        let (key, counter, answer) = (Arc::clone(&signer), Arc::clone(&requests_count), Arc::new(answer));
        std::thread::spawn(move || {
            // Kept open, so that clients wait.
            let mut silent = Vec::new();
            for stream in listener.incoming().flatten() {
                silent.extend(serve(stream, &key, &counter, &*answer));
            }
        });
        Self { address, signer, requests_count }
    }

    /// Returns its URL.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the value for `timenav serve --witness`.
    pub(crate) fn option(&self) -> String {
        let public = self.signer.pair.public_key();
        let typed = BASE64.encode(&[&[4], public.as_ref()].concat());
        let Signer { name, .. } = &*self.signer;
        format!("{name}+{}+{typed}=http://{}/prefix", HEXLOWER.encode(&self.signer.id()), self.address)
    }

    pub(crate) fn requests_count(&self) -> usize {
        self.requests_count.load(Ordering::SeqCst)
    }
}

/// Answers a request. Returns the connection if there is no response.
fn serve(
    stream: TcpStream,
    signer: &Signer,
    requests_count: &AtomicUsize,
    answer: &dyn Fn(&Signer, LogRequest<'_>) -> Said,
) -> Option<TcpStream> {
    let mut reader = BufReader::new(stream);
    let mut line = || {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|bytes| *bytes > 0).map(|_| line)
    };
    let first = line()?;
    let mut length = 0;
    while let Some(header) = line().filter(|header| header != "\r\n") {
        if let Some(value) = header.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    requests_count.fetch_add(1, Ordering::SeqCst);
    let path = first.split(' ').nth(1)?;
    let output = answer(signer, (path, &String::from_utf8(body).unwrap()));
    let mut stream = reader.into_inner();
    let Some((status, kind, text)) = output else { return Some(stream) };
    let head = format!(
        "HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        text.len()
    );
    let _ = stream.write_all((head + &text).as_bytes());
    None
}
