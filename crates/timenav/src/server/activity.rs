//! Nothing here reads a clock. The watcher samples each connection a few times per idle timeout and compares the
//! samples.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use timenav_http::ConnectionEnd;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Samples per idle timeout.
pub(super) const LOOKS: u32 = 4;
/// Bytes that a client must read per idle timeout to count as active. Keep-alive traffic such as pings is far less.
const TAKEN_BYTES_MIN: u64 = 4_096;

#[derive(Debug, Default)]
pub(super) struct Activity {
    /// Requests in progress, for which the client waits.
    working: AtomicUsize,
    /// Incremented by every step of a request.
    steps: AtomicU64,
    read: AtomicU64,
    written: AtomicU64,
    /// Whether data waits for the client to read.
    blocked: AtomicBool,
    /// Sequence number of the connection's start, last request or last response.
    last_use: AtomicU64,
}

impl Activity {
    pub(super) fn begun(at: u64) -> Self {
        Self { last_use: AtomicU64::new(at), ..Self::default() }
    }

    pub(super) fn is_idle(&self) -> bool {
        self.working.load(Ordering::Acquire) == 0
    }

    pub(super) fn last_use(&self) -> u64 {
        self.last_use.load(Ordering::Relaxed)
    }
}

/// Sequence numbers shared by all connections.
#[derive(Debug, Default)]
pub(super) struct Order(AtomicU64);

impl Order {
    pub(super) fn next(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed)
    }
}

/// A request, from its head to the end of its response.
pub(super) struct Turn {
    activity: Arc<Activity>,
    order: Arc<Order>,
    is_working: bool,
}

impl Turn {
    pub(super) fn begin(activity: Arc<Activity>, order: Arc<Order>) -> Self {
        activity.last_use.store(order.next(), Ordering::Relaxed);
        let mut turn = Self { activity, order, is_working: false };
        turn.work();
        turn
    }

    fn work(&mut self) {
        self.activity.steps.fetch_add(1, Ordering::Relaxed);
        if !std::mem::replace(&mut self.is_working, true) {
            self.activity.working.fetch_add(1, Ordering::Release);
        }
    }

    fn rest(&mut self) {
        if std::mem::replace(&mut self.is_working, false) {
            self.activity.working.fetch_sub(1, Ordering::Release);
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.activity.last_use.store(self.order.next(), Ordering::Relaxed);
        self.activity.steps.fetch_add(1, Ordering::Relaxed);
        self.rest();
    }
}

/// A response body. While it has no data the service is working; otherwise it waits for the client.
pub(super) struct Answer {
    body: axum::body::Body,
    turn: Turn,
}

impl Answer {
    pub(super) fn new(body: axum::body::Body, mut turn: Turn) -> Self {
        turn.rest();
        Self { body, turn }
    }
}

impl Body for Answer {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(cx);
        match polled {
            Poll::Pending => self.turn.work(),
            Poll::Ready(_) => {
                self.turn.activity.steps.fetch_add(1, Ordering::Relaxed);
                self.turn.rest();
            }
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

pub(super) struct Watched<S> {
    stream: S,
    activity: Arc<Activity>,
}

impl<S> Watched<S> {
    pub(super) const fn new(stream: S, activity: Arc<Activity>) -> Self {
        Self { stream, activity }
    }

    fn note_written(&self, polled: &Poll<io::Result<usize>>) {
        self.activity.blocked.store(polled.is_pending(), Ordering::Relaxed);
        if let Poll::Ready(Ok(bytes)) = polled {
            self.activity.written.fetch_add(*bytes as u64, Ordering::Relaxed);
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Watched<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buffer))?;
        self.activity.read.fetch_add((buffer.filled().len() - before) as u64, Ordering::Relaxed);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Watched<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.note_written(&polled);
        polled
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        self.note_written(&polled);
        polled
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

/// The last sample of a connection, and how often it has been the same.
#[derive(Debug, Default)]
pub(super) struct Watch {
    steps: u64,
    taken: u64,
    written: u64,
    read: u64,
    idle_looks: u32,
    blocked_looks: u32,
    silent_looks: u32,
}

impl Watch {
    /// Returns why a connection must be closed. A client that `answers_pings` is never silent for a whole timeout.
    pub(super) fn look(&mut self, activity: &Activity, answers_pings: bool) -> Option<ConnectionEnd> {
        let written = activity.written.load(Ordering::Relaxed);
        let read = activity.read.load(Ordering::Relaxed);
        let steps = activity.steps.load(Ordering::Relaxed);
        let taken = written / TAKEN_BYTES_MIN;
        let is_idle = activity.is_idle() && steps == self.steps && taken == self.taken;
        let is_blocked = activity.blocked.load(Ordering::Relaxed) && written == self.written;
        let is_silent = answers_pings && read == self.read;
        count(&mut self.idle_looks, is_idle);
        count(&mut self.blocked_looks, is_blocked);
        count(&mut self.silent_looks, is_silent);
        (self.steps, self.taken, self.written, self.read) = (steps, taken, written, read);
        if self.blocked_looks >= LOOKS || self.silent_looks >= LOOKS {
            Some(ConnectionEnd::Stalled)
        } else {
            (self.idle_looks >= LOOKS).then_some(ConnectionEnd::Idle)
        }
    }
}

fn count(looks: &mut u32, goes_on: bool) {
    *looks = if goes_on { *looks + 1 } else { 0 };
}

#[cfg(test)]
mod tests {
    use axum::body::Body as AxumBody;
    use http_body_util::BodyExt as _;

    use super::*;

    /// Samples until a connection must end, or until it would have to by now.
    fn looks(activity: &Activity, answers_pings: bool, mut between: impl FnMut()) -> Option<ConnectionEnd> {
        let mut watch = Watch::default();
        (0..3 * LOOKS).find_map(|_| {
            between();
            watch.look(activity, answers_pings)
        })
    }

    #[test]
    fn connection_without_requests_becomes_idle() {
        let activity = Arc::new(Activity::default());
        assert_eq!(looks(&activity, false, || {}), Some(ConnectionEnd::Idle));
        let turn = || Turn::begin(Arc::clone(&activity), Arc::default());
        assert_eq!(looks(&activity, false, || drop(turn())), None, "one request after the other");
        let slow = turn();
        assert_eq!(looks(&activity, false, || {}), None, "the service works on one");
        drop(slow);
        assert_eq!(looks(&activity, false, || {}), Some(ConnectionEnd::Idle));
    }

    #[test]
    fn keepalive_bytes_do_not_count_as_activity() {
        let activity = Activity::default();
        let write = |bytes| {
            activity.written.fetch_add(bytes, Ordering::Relaxed);
        };
        assert_eq!(looks(&activity, false, || write(17)), Some(ConnectionEnd::Idle));
        assert_eq!(looks(&activity, false, || write(TAKEN_BYTES_MIN / 2)), None);
    }

    #[test]
    fn client_that_reads_nothing_or_sends_no_pong_is_stalled() {
        let activity = Arc::new(Activity::default());
        let _working = Turn::begin(Arc::clone(&activity), Arc::default());
        assert_eq!(looks(&activity, true, || {}), Some(ConnectionEnd::Stalled));
        let answers = || {
            activity.read.fetch_add(17, Ordering::Relaxed);
        };
        assert_eq!(looks(&activity, true, answers), None);
        activity.blocked.store(true, Ordering::Relaxed);
        assert_eq!(looks(&activity, true, answers), Some(ConnectionEnd::Stalled));
        let takes = || {
            activity.written.fetch_add(1, Ordering::Relaxed);
        };
        assert_eq!(looks(&activity, false, takes), None);
    }

    #[tokio::test]
    async fn response_waiting_for_its_source_counts_as_activity() {
        let activity = Arc::new(Activity::default());
        let (sender, receiver) = tokio::sync::mpsc::channel::<Result<Bytes, std::io::Error>>(4);
        let body = AxumBody::from_stream(tokio_stream::wrappers::ReceiverStream::new(receiver));
        let turn = Turn::begin(Arc::clone(&activity), Arc::default());
        assert!(!activity.is_idle());
        let mut answer = Box::pin(Answer::new(body, turn));
        assert!(activity.is_idle(), "the client has not asked for any of it");
        sender.send(Ok(Bytes::from_static(b"x"))).await.unwrap();
        answer.frame().await.unwrap().unwrap();
        assert!(activity.is_idle(), "the client has something to take");
        let waits = std::future::poll_fn(|cx| Poll::Ready(answer.as_mut().poll_frame(cx).is_pending())).await;
        assert!(waits && !activity.is_idle(), "there is nothing to take");
        drop(answer);
        assert!(activity.is_idle());
    }
}
