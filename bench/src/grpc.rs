//! As much of gRPC as a load generator needs: unary calls of two messages, one at a time, on a connection of their own.

use std::net::SocketAddr;

use anyhow::{Context, bail};
use bytes::Bytes;
use h2::client::SendRequest;
use http::Request;
use tokio::net::TcpStream;

/// A connection on which one method is called.
pub(crate) struct Channel {
    requests: SendRequest<Bytes>,
    uri: String,
}

impl Channel {
    /// Connects, to call the method of this path.
    pub(crate) async fn open(address: SocketAddr, path: &str) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address).await.with_context(|| format!("{address} cannot be reached"))?;
        stream.set_nodelay(true)?;
        let (requests, connection) = h2::client::handshake(stream).await?;
        tokio::task::spawn_local(async move {
            // Whoever calls is told what became of the connection.
            let _ = connection.await;
        });
        Ok(Self { requests, uri: format!("http://{address}{path}") })
    }

    /// Sends a message with its prefix, and waits until the call has succeeded.
    pub(crate) async fn call(&mut self, message: Bytes) -> anyhow::Result<()> {
        let mut requests = self.requests.clone().ready().await?;
        let request = Request::post(&self.uri).header("content-type", "application/grpc").header("te", "trailers");
        let (response, mut body) = requests.send_request(request.body(())?, false)?;
        body.send_data(message, true)?;
        let response = response.await?;
        let heads = response.headers().clone();
        let mut answer = response.into_body();
        while let Some(part) = answer.data().await {
            let length = part?.len();
            answer.flow_control().release_capacity(length)?;
        }
        // A call that is refused at once has its status in front.
        let trailers = answer.trailers().await?.unwrap_or(heads);
        let status = trailers.get("grpc-status").context("a call ended without a status")?;
        if status != "0" {
            bail!("a call ended with status {status:?}: {:?}", trailers.get("grpc-message"));
        }
        Ok(())
    }
}

/// Returns etcd's `PutRequest` (rpc.proto) with its prefix.
pub(crate) fn etcd_put(key: &str, value: &str) -> Vec<u8> {
    framed(&[field(1, key.as_bytes()), field(2, value.as_bytes())].concat())
}

/// Returns UmaDB's `AppendRequest` (umadb.v1) of one event, with its prefix.
pub(crate) fn umadb_append(event_type: &str, tag: &str, data: &str) -> Vec<u8> {
    let event = [field(1, event_type.as_bytes()), field(2, tag.as_bytes()), field(3, data.as_bytes())].concat();
    framed(&field(1, &event))
}

/// Returns a field of a message whose type has a length: a string, bytes, or a message (protobuf, wire type 2).
fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    let mut field = vec![number << 3 | 2];
    let mut length = bytes.len();
    while length >= 0x80 {
        field.push(0x80 | low_bits(length));
        length >>= 7;
    }
    field.push(low_bits(length));
    field.extend_from_slice(bytes);
    field
}

fn low_bits(length: usize) -> u8 {
    u8::try_from(length & 0x7f).unwrap_or(0x7f)
}

/// Returns a message as gRPC sends it: not compressed, and its length in front.
fn framed(message: &[u8]) -> Vec<u8> {
    let length = u32::try_from(message.len()).unwrap_or(u32::MAX);
    [&[0], &length.to_be_bytes()[..], message].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_those_of_the_wire_format() {
        // The example of https://protobuf.dev/programming-guides/encoding/#length-types, with another number.
        assert_eq!(field(2, b"testing"), b"\x12\x07testing");
        assert_eq!(field(1, &[7; 300])[..3], [0x0a, 0xac, 0x02]);
        assert_eq!(etcd_put("k", "v"), b"\0\0\0\0\x06\x0a\x01k\x12\x01v");
        assert_eq!(umadb_append("e", "t", "d"), b"\0\0\0\0\x0b\x0a\x09\x0a\x01e\x12\x01t\x1a\x01d");
    }
}
