//! Parsers block on input, so each import has a thread. It only waits for this side, which has all the timeouts: if no
//! more data arrives, the thread ends at once.

use std::io::{self, Read};
use std::ops::ControlFlow;
use std::time::Duration;

use axum::body::BodyDataStream;
use bytes::{Buf, Bytes};
use futures_util::StreamExt;
use timenav_core::time::{Instant, Wall};
use timenav_import::{ImportError, Item};
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::pace::Pace;
use super::source::Source;

const BATCH_RECORDS_MAX: usize = 500;
/// Parsed batches that may wait to be recorded.
const BATCHES_AHEAD_MAX: usize = 2;
/// Chunks of a body that may wait to be parsed.
const FRAMES_AHEAD_MAX: usize = 2;

pub(super) enum Handed {
    Batch(Vec<Item>),
    End(Result<(), ImportError>),
}

/// Input of the thread. A closed channel does not mean the end of the file: the client has disconnected.
enum Frame {
    Bytes(Bytes),
    Failed(io::Error),
    End,
}

pub(crate) struct Reading {
    frames: mpsc::Sender<Frame>,
}

fn as_it_comes() -> (Reading, Input) {
    let (frames, received) = mpsc::channel(FRAMES_AHEAD_MAX);
    (Reading { frames }, Input { frames: received, rest: Bytes::new(), has_ended: false })
}

/// Starts the parser thread. It holds `place` while it runs.
pub(super) fn start<P: Send + 'static>(source: Source, place: P) -> io::Result<(Reading, mpsc::Receiver<Handed>)> {
    let (reading, input) = as_it_comes();
    let (sender, handed) = mpsc::channel(BATCHES_AHEAD_MAX);
    std::thread::Builder::new().name("import".to_owned()).spawn(move || {
        read(&source, input, &sender);
        drop(place);
    })?;
    Ok((reading, handed))
}

fn read(source: &Source, mut input: Input, sender: &mpsc::Sender<Handed>) {
    let mut batch = Vec::new();
    let mut hand_over = |item: Item| {
        batch.push(item);
        if batch.len() < BATCH_RECORDS_MAX {
            return ControlFlow::Continue(());
        }
        let full = std::mem::replace(&mut batch, Vec::with_capacity(BATCH_RECORDS_MAX));
        // The receiver is dropped once the ledger has rejected a batch.
        if sender.blocking_send(Handed::Batch(full)).is_ok() {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    };
    let Source { format, mapping, packing, .. } = source;
    let end = if let Some(packing) = packing {
        timenav_import::read(*format, mapping, timenav_import::unpacked(*packing, &mut input), &mut hand_over)
    } else {
        timenav_import::read(*format, mapping, &mut input, &mut hand_over)
    };
    let _ = sender.blocking_send(Handed::Batch(batch));
    let _ = sender.blocking_send(Handed::End(end));
}

pub(crate) struct Input {
    frames: mpsc::Receiver<Frame>,
    rest: Bytes,
    has_ended: bool,
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.rest.is_empty() && !self.has_ended {
            match self.frames.blocking_recv() {
                Some(Frame::Bytes(bytes)) => self.rest = bytes,
                Some(Frame::Failed(error)) => return Err(error),
                Some(Frame::End) => self.has_ended = true,
                None => return Err(io::ErrorKind::ConnectionAborted.into()),
            }
        }
        let count = self.rest.len().min(buffer.len());
        self.rest.copy_to_slice(&mut buffer[..count]);
        Ok(count)
    }
}

impl Reading {
    /// Passes on a body as it arrives, until it ends, is too slow, or the thread has stopped reading.
    pub(crate) async fn feed(self, body: &mut BodyDataStream, now: impl Fn() -> Instant<Wall>) {
        let mut pace = Pace::default();
        loop {
            let (patience, too_slow) = pace.patience();
            let began = now();
            let arrived = tokio::select! {
                () = self.frames.closed() => return,
                arrived = timeout(patience, body.next()) => arrived,
            };
            let frame = match arrived {
                Ok(Some(Ok(bytes))) => {
                    let waited = u64::try_from(now().since(began).micros()).unwrap_or(0);
                    pace.arrived(bytes.len(), Duration::from_micros(waited));
                    Frame::Bytes(bytes)
                }
                Ok(Some(Err(error))) => Frame::Failed(io::Error::other(error)),
                Ok(None) => Frame::End,
                Err(_) => Frame::Failed(io::Error::new(io::ErrorKind::TimedOut, too_slow.to_string())),
            };
            let is_last = !matches!(frame, Frame::Bytes(_));
            if self.frames.send(frame).await.is_err() || is_last {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use futures_util::stream;
    use http::HeaderMap;

    use super::*;

    const LINE: &[u8] = b"{\"time\":\"2000-01-01T00:00:00Z\"}\n";

    async fn read_all(body: Body) -> (usize, Option<Result<(), ImportError>>) {
        let source = Source::new(Some("ndjson"), None, &HeaderMap::new()).unwrap();
        let (reading, mut handed) = start(source, ()).unwrap();
        let mut body = body.into_data_stream();
        let feeding = reading.feed(&mut body, || Instant::MIN);
        let taking = async {
            let mut records = 0;
            while let Some(part) = handed.recv().await {
                match part {
                    Handed::Batch(batch) => records += batch.len(),
                    Handed::End(end) => return (records, Some(end)),
                }
            }
            (records, None)
        };
        tokio::join!(feeding, taking).1
    }

    fn sent(
        pieces: Vec<Result<&'static [u8], io::Error>>,
    ) -> stream::Iter<std::vec::IntoIter<Result<Bytes, io::Error>>> {
        let pieces: Vec<_> = pieces.into_iter().map(|piece| piece.map(Bytes::from_static)).collect();
        stream::iter(pieces)
    }

    #[tokio::test]
    async fn import_body_is_read_to_its_end() {
        let (records, end) = read_all(Body::from_stream(sent(vec![Ok(&LINE[..7]), Ok(&LINE[7..]), Ok(LINE)]))).await;
        assert_eq!((records, matches!(end, Some(Ok(())))), (2, true));
    }

    #[tokio::test(start_paused = true)]
    async fn stalled_import_body_times_out() {
        let stalled = sent(vec![Ok(LINE), Ok(b"{")]).chain(stream::pending());
        let (records, end) = read_all(Body::from_stream(stalled)).await;
        let Some(Err(ImportError::Io { source, .. })) = end else { panic!("{end:?}") };
        assert_eq!((records, source.kind()), (1, io::ErrorKind::TimedOut));
    }

    #[tokio::test]
    async fn aborted_import_body_is_an_error() {
        let broken = sent(vec![Ok(LINE), Err(io::ErrorKind::ConnectionReset.into())]);
        let (records, end) = read_all(Body::from_stream(broken)).await;
        assert_eq!((records, matches!(end, Some(Err(ImportError::Io { .. })))), (1, true));
    }

    #[test]
    fn disconnected_import_sender_is_an_error() {
        let (frames, received) = mpsc::channel(1);
        drop(frames);
        let mut input = Input { frames: received, rest: Bytes::new(), has_ended: false };
        assert_eq!(input.read(&mut [0]).unwrap_err().kind(), io::ErrorKind::ConnectionAborted);
    }
}
