//! From the bytes of a body, as they arrive, to batches of records.
//!
//! Readers of files wait for their input, so each import has a thread. It only ever waits for what this side hands
//! over, which has all the timers: where nothing arrives any more, the thread ends at once.

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

/// Records handed over at a time.
const BATCH_RECORDS_MAX: usize = 500;
/// Batches read ahead of those that are on their way into the ledger.
const BATCHES_AHEAD_MAX: usize = 2;
/// Pieces of a body that are handed over and not read yet.
const FRAMES_AHEAD_MAX: usize = 2;

/// What the thread hands over.
pub(super) enum Handed {
    Batch(Vec<Item>),
    End(Result<(), ImportError>),
}

/// What the thread is handed. That nothing more comes is no end of the file: then whoever asked is gone.
enum Frame {
    Bytes(Bytes),
    Failed(io::Error),
    End,
}

/// The way to the thread that reads.
pub(super) struct Reading {
    frames: mpsc::Sender<Frame>,
}

/// Starts the thread that reads records. It keeps `place` as long as it runs.
pub(super) fn start<P: Send + 'static>(source: Source, place: P) -> io::Result<(Reading, mpsc::Receiver<Handed>)> {
    let (frames, received) = mpsc::channel(FRAMES_AHEAD_MAX);
    let (sender, handed) = mpsc::channel(BATCHES_AHEAD_MAX);
    let input = Input { frames: received, rest: Bytes::new(), has_ended: false };
    std::thread::Builder::new().name("import".to_owned()).spawn(move || {
        read(&source, input, &sender);
        drop(place);
    })?;
    Ok((Reading { frames }, handed))
}

fn read(source: &Source, mut input: Input, sender: &mpsc::Sender<Handed>) {
    let mut batch = Vec::new();
    let mut hand_over = |item: Item| {
        batch.push(item);
        if batch.len() < BATCH_RECORDS_MAX {
            return ControlFlow::Continue(());
        }
        let full = std::mem::replace(&mut batch, Vec::with_capacity(BATCH_RECORDS_MAX));
        // Nobody receives any more when the ledger has refused a batch.
        if sender.blocking_send(Handed::Batch(full)).is_ok() {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    };
    let Source { format, mapping, is_packed, .. } = source;
    let end = if *is_packed {
        timenav_import::read(*format, mapping, timenav_import::unpacked(&mut input), &mut hand_over)
    } else {
        timenav_import::read(*format, mapping, &mut input, &mut hand_over)
    };
    let _ = sender.blocking_send(Handed::Batch(batch));
    let _ = sender.blocking_send(Handed::End(end));
}

/// The bytes as the thread reads them.
struct Input {
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
    /// Hands over a body as it arrives, until it ends, comes too slowly, or nobody reads it any more.
    pub(super) async fn feed(self, body: &mut BodyDataStream, now: impl Fn() -> Instant<Wall>) {
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
