//! A minimal gRPC client for the load generator: sequential unary calls of two methods, each on its own connection.

use std::net::SocketAddr;

use anyhow::{Context, bail};
use bytes::Bytes;
use h2::client::SendRequest;
use http::Request;
use tokio::net::TcpStream;

pub(crate) struct Channel {
    requests: SendRequest<Bytes>,
    uri: String,
}

impl Channel {
    pub(crate) async fn open(address: SocketAddr, path: &str) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address).await.with_context(|| format!("{address} cannot be reached"))?;
        stream.set_nodelay(true)?;
        let (requests, connection) = h2::client::handshake(stream).await?;
        tokio::task::spawn_local(async move {
            // The caller gets the error of the connection.
            let _ = connection.await;
        });
        Ok(Self { requests, uri: format!("http://{address}{path}") })
    }

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
        // A call that is rejected immediately has its status in the headers.
        let trailers = answer.trailers().await?.unwrap_or(heads);
        let status = trailers.get("grpc-status").context("a call ended without a status")?;
        if status != "0" {
            bail!("a call ended with status {status:?}: {:?}", trailers.get("grpc-message"));
        }
        Ok(())
    }
}

/// Returns etcd's `PutRequest` (rpc.proto), framed.
pub(crate) fn etcd_put(key: &str, value: &str) -> Vec<u8> {
    framed(&[field(1, key.as_bytes()), field(2, value.as_bytes())].concat())
}

/// Returns UmaDB's `AppendRequest` (umadb.v1) with one event, framed.
pub(crate) fn umadb_append(event_type: &str, tag: &str, data: &str) -> Vec<u8> {
    let event = [field(1, event_type.as_bytes()), field(2, tag.as_bytes()), field(3, data.as_bytes())].concat();
    framed(&field(1, &event))
}

/// Encodes a length-delimited field: a string, bytes, or a message (protobuf, wire type 2).
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

/// Returns a message framed for gRPC: an uncompressed flag, and the length.
fn framed(message: &[u8]) -> Vec<u8> {
    let length = u32::try_from(message.len()).unwrap_or(u32::MAX);
    [&[0], &length.to_be_bytes()[..], message].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grpc_messages_match_protobuf_wire_format() {
        // The example of https://protobuf.dev/programming-guides/encoding/#length-types, with another field number.
        assert_eq!(field(2, b"testing"), b"\x12\x07testing");
        assert_eq!(field(1, &[7; 300])[..3], [0x0a, 0xac, 0x02]);
        assert_eq!(etcd_put("k", "v"), b"\0\0\0\0\x06\x0a\x01k\x12\x01v");
        assert_eq!(umadb_append("e", "t", "d"), b"\0\0\0\0\x0b\x0a\x09\x0a\x01e\x12\x01t\x1a\x01d");
    }
}
