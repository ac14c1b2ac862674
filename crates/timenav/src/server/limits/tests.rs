//! What a client of HTTP/2 can have lie in memory, counted where it lies.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response};
use http_body::{Body, Frame};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::DuplexStream;

use super::*;

const IDLE: Duration = Duration::from_mins(1);
/// How often others get their turn before nothing more is expected of them. They need a few.
const TURNS: usize = 10_000;

async fn let_others_go_on() {
    for _ in 0..TURNS {
        tokio::task::yield_now().await;
    }
}

/// Opens a connection to a service that never reads a body and never answers.
fn to_a_deaf_service() -> DuplexStream {
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let service = service_fn(|request: Request<Incoming>| async move {
        let _unread = request;
        std::future::pending::<Result<Response<Endless>, Infallible>>().await
    });
    tokio::spawn(http2(IDLE).serve_connection(TokioIo::new(theirs), service));
    ours
}

#[tokio::test]
async fn a_client_may_send_so_much_that_nobody_reads() {
    let (mut client, connection) = h2::client::handshake(to_a_deaf_service()).await.unwrap();
    tokio::spawn(connection);
    let mut streams = Vec::new();
    for _ in 0..HTTP2_STREAMS_MAX {
        client = client.ready().await.unwrap();
        let request = Request::post("http://timenav.test/").body(()).unwrap();
        let (answer, mut body) = client.send_request(request, false).unwrap();
        body.reserve_capacity(1 << 24);
        streams.push((answer, body));
    }
    let mut sent = vec![0; streams.len()];
    let mut last = usize::MAX;
    // Whatever the service allows is sent, until it allows nothing more.
    while last > 0 {
        last = 0;
        let_others_go_on().await;
        for ((_, body), sent) in streams.iter_mut().zip(&mut sent) {
            let allowed = body.capacity();
            if allowed > 0 {
                body.send_data(vec![b' '; allowed].into(), false).unwrap();
                *sent += allowed;
                last += allowed;
            }
        }
    }
    assert_eq!(sent.iter().sum::<usize>(), HTTP2_CONNECTION_WINDOW_BYTES as usize);
    assert_eq!(*sent.iter().max().unwrap(), HTTP2_STREAM_WINDOW_BYTES as usize);
}

/// An answer without end, of which each frame that is taken is counted.
struct Endless(Arc<AtomicUsize>);

impl Body for Endless {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let frame = Bytes::from_static(&[b' '; 1_024]);
        self.0.fetch_add(frame.len(), Ordering::Relaxed);
        Poll::Ready(Some(Ok(Frame::data(frame))))
    }
}

#[tokio::test]
async fn so_much_of_an_answer_waits_for_the_client() {
    // Little fits into what is between the two.
    let between = 1 << 12;
    let (ours, theirs) = tokio::io::duplex(between);
    let taken = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&taken);
    let service = service_fn(move |_: Request<Incoming>| {
        let answer = Response::new(Endless(Arc::clone(&counted)));
        async move { Ok::<_, Infallible>(answer) }
    });
    tokio::spawn(http2(IDLE).serve_connection(TokioIo::new(theirs), service));
    // The client would take as much as there can be, and then does not read.
    let mut builder = h2::client::Builder::new();
    builder.initial_window_size(1 << 30).initial_connection_window_size(1 << 30);
    let (mut client, connection) = builder.handshake::<_, Bytes>(ours).await.unwrap();
    let mut connection = Box::pin(connection);
    let request = Request::get("http://timenav.test/").body(()).unwrap();
    let (answer, _) = client.send_request(request, true).unwrap();
    tokio::select! {
        _ = &mut connection => panic!("the connection has ended"),
        answer = answer => assert!(answer.is_ok()),
    }
    let_others_go_on().await;
    let taken = taken.load(Ordering::Relaxed);
    let limit = HTTP2_SEND_BUFFER_BYTES_MAX as usize;
    // Beside what waits there is what the client has read, and a frame that is being written.
    let room = 2 * between + HTTP2_FRAME_BYTES_MAX as usize + limit;
    assert!(taken >= limit / 2 && taken <= limit + room, "{taken}");
}
