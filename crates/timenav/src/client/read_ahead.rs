//! Reading a file ahead of what is sent of it.

use std::io::{self, Read};

use tokio::sync::mpsc;

/// Bytes of a file read at a time.
pub(super) const CHUNK_BYTES: usize = 64 * 1024;
/// Chunks of a file read ahead of what was sent.
const CHUNKS_AHEAD_MAX: usize = 4;

/// Reads on a thread of its own, a few chunks ahead. Reading ends when nobody wants more.
pub(super) fn read_ahead(mut body: impl Read + Send + 'static) -> mpsc::Receiver<io::Result<Vec<u8>>> {
    let (sender, receiver) = mpsc::channel(CHUNKS_AHEAD_MAX);
    std::thread::spawn(move || {
        loop {
            let mut chunk = vec![0; CHUNK_BYTES];
            let read = body.read(&mut chunk).map(|bytes| {
                chunk.truncate(bytes);
                chunk
            });
            let is_last = match &read {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Ok(chunk) if chunk.is_empty() => return,
                Ok(_) => false,
                Err(_) => true,
            };
            if sender.blocking_send(read).is_err() || is_last {
                return;
            }
        }
    });
    receiver
}
