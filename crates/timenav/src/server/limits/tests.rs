//! Memory that an HTTP/2 client can occupy, measured where it is held.

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
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};

use super::*;

const IDLE: Duration = Duration::from_mins(1);
/// How often other tasks run before nothing more is expected of them. They need a few turns.
const TURNS: usize = 10_000;

async fn let_others_go_on() {
    for _ in 0..TURNS {
        tokio::task::yield_now().await;
    }
}

/// Opens a connection to a service that never reads a body and never responds.
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
async fn unread_request_data_is_limited_by_http2_windows() {
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
    // Sends whatever the flow control allows.
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

fn frame(kind: u8, flags: u8, stream: u8, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags, 0, 0, 0, stream], payload].concat()
}

/// Ignores flow control. Returns the errors of reset streams, and the error that ends the connection.
async fn errors_of_flooding(streams: u8, frames: usize) -> (Vec<u32>, Option<u32>) {
    let mut client = to_a_deaf_service();
    // POST http://x/ in HPACK (RFC 7541 appendix A).
    let request = [0x83, 0x86, 0x84, 0x01, 0x01, b'x'];
    let body = vec![b' '; HTTP2_FRAME_BYTES_MAX as usize];
    let mut bytes = [b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".as_slice(), &frame(4, 0, 0, &[])].concat();
    client.write_all(&bytes).await.unwrap();
    let_others_go_on().await;
    // Until the client acknowledges the settings, the default windows apply.
    bytes = frame(4, 1, 0, &[]);
    for number in 0..streams {
        bytes.extend(frame(1, 4, 2 * number + 1, &request));
    }
    for number in (0..streams).flat_map(|number| std::iter::repeat_n(number, frames)) {
        bytes.extend(frame(0, 0, 2 * number + 1, &body));
    }
    let (mut reading, mut writing) = tokio::io::split(client);
    let sending = tokio::spawn(async move {
        // The connection may be closed before the end.
        let _ = writing.write_all(&bytes).await;
        let_others_go_on().await;
        let _ = writing.shutdown().await;
    });
    let mut errors = Vec::new();
    reading.read_to_end(&mut errors).await.unwrap();
    sending.await.unwrap();
    let (mut resets, mut end) = (Vec::new(), None);
    while errors.len() >= 9 {
        let length = usize::from(errors[1]) << 8 | usize::from(errors[2]);
        let next: Vec<u8> = errors.drain(..9 + length).collect();
        let error = |at: usize| u32::from_be_bytes(next[at..at + 4].try_into().unwrap());
        match next[3] {
            3 => resets.push(error(9)),
            7 if error(13) > 0 => end = Some(error(13)),
            _ => {}
        }
    }
    (resets, end)
}

#[tokio::test]
async fn client_exceeding_http2_windows_gets_an_error() {
    const FLOW_CONTROL_ERROR: u32 = 3;
    let of_a_stream = (HTTP2_STREAM_WINDOW_BYTES / HTTP2_FRAME_BYTES_MAX) as usize;
    assert_eq!(errors_of_flooding(1, of_a_stream).await, (vec![], None));
    assert_eq!(errors_of_flooding(1, of_a_stream + 1).await, (vec![FLOW_CONTROL_ERROR], None));
    let streams = u8::try_from(HTTP2_CONNECTION_WINDOW_BYTES / HTTP2_STREAM_WINDOW_BYTES).unwrap();
    assert_eq!(errors_of_flooding(streams, of_a_stream).await, (vec![], None));
    assert_eq!(errors_of_flooding(streams + 1, of_a_stream).await, (vec![], Some(FLOW_CONTROL_ERROR)));
}

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
async fn buffered_response_data_is_limited() {
    // The pipe buffers little.
    let between = 1 << 12;
    let (ours, theirs) = tokio::io::duplex(between);
    let taken = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&taken);
    let service = service_fn(move |_: Request<Incoming>| {
        let answer = Response::new(Endless(Arc::clone(&counted)));
        async move { Ok::<_, Infallible>(answer) }
    });
    tokio::spawn(http2(IDLE).serve_connection(TokioIo::new(theirs), service));
    // The client allows the maximum window, and then does not read.
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
    // In addition to the buffered data there is what the client has read, and a frame that is being written.
    let room = 2 * between + HTTP2_FRAME_BYTES_MAX as usize + limit;
    assert!(taken >= limit / 2 && taken <= limit + room, "{taken}");
}
