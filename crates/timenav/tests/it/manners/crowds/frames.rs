//! Many requests over one HTTP/2 connection.

use std::net::SocketAddr;

use bytes::Bytes;
use h2::client;
use tokio::net::TcpStream;
use tokio::task::JoinSet;

/// Size of a body chunk, in bytes.
const PIECE_BYTES: usize = 16 * 1024;

/// Sends `count` concurrent requests with this body and returns the response statuses.
pub(super) fn answers(address: SocketAddr, count: usize, key: Option<&str>, body: &[u8]) -> Vec<u16> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let stream = TcpStream::connect(address).await.unwrap();
        let (mut requests, connection) = client::handshake(stream).await.unwrap();
        let connection = tokio::spawn(connection);
        let body = Bytes::copy_from_slice(body);
        let mut sending = JoinSet::new();
        for _ in 0..count {
            requests = requests.ready().await.unwrap();
            let mut request = http::Request::post(format!("http://{address}/v1/events"));
            request = request.header("content-type", "application/json").header("content-length", body.len());
            if let Some(key) = key {
                request = request.header("authorization", format!("Bearer {key}"));
            }
            let (answer, stream) = requests.send_request(request.body(()).unwrap(), false).unwrap();
            sending.spawn(send(stream, body.clone()));
            sending.spawn(async move { Some(answer.await.unwrap().status().as_u16()) });
        }
        drop(requests);
        let statuses = sending.join_all().await.into_iter().flatten().collect();
        connection.abort();
        statuses
    })
}

/// Sends a body as far as flow control allows.
async fn send(mut stream: h2::SendStream<Bytes>, mut body: Bytes) -> Option<u16> {
    while !body.is_empty() {
        stream.reserve_capacity(body.len().min(PIECE_BYTES));
        let room = std::future::poll_fn(|context| stream.poll_capacity(context)).await?.ok()?;
        let piece = body.split_to(room.min(body.len()));
        stream.send_data(piece, body.is_empty()).ok()?;
    }
    None
}
