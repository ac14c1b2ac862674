use std::io::{self, Read};

use tokio::sync::mpsc;

pub(super) const CHUNK_BYTES: usize = 64 * 1024;
const CHUNKS_AHEAD_MAX: usize = 4;

/// Reads on a separate thread, a few chunks ahead. Reading stops when the receiver is dropped.
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
