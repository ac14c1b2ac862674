//! Detects the HTTP version from the first bytes of a connection.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, ReadBuf};

/// The connection preface of HTTP/2 (RFC 9113 §3.4).
const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    Http1,
    Http2,
}

/// Detects the HTTP version. Returns a stream that replays the bytes read.
pub(super) async fn version<S: AsyncRead + Unpin>(mut stream: S) -> io::Result<(Version, Reread<S>)> {
    let mut first = [0; PREFACE.len()];
    let mut filled = 0;
    let version = loop {
        let read = stream.read(&mut first[filled..]).await?;
        filled += read;
        // HTTP/1 handles a stream that ends early.
        if read == 0 || first[..filled] != PREFACE[..filled] {
            break Version::Http1;
        }
        if filled == PREFACE.len() {
            break Version::Http2;
        }
    };
    Ok((version, Reread { first, left: 0..filled, stream }))
}

pub(super) struct Reread<S> {
    first: [u8; PREFACE.len()],
    left: std::ops::Range<usize>,
    stream: S,
}

impl<S: AsyncRead + Unpin> AsyncRead for Reread<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if this.left.is_empty() {
            return Pin::new(&mut this.stream).poll_read(cx, buffer);
        }
        let bytes = &this.first[this.left.clone()];
        let count = bytes.len().min(buffer.remaining());
        buffer.put_slice(&bytes[..count]);
        this.left.start += count;
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Reread<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, slices)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn http_version_is_detected_without_consuming_bytes() {
        let preface = PREFACE.as_slice();
        let with_more = [preface, b"\0\0\0\x04"].concat();
        for (sent, expected) in [
            (b"GET / HTTP/1.1\r\n\r\n".as_slice(), Version::Http1),
            (b"PRI * HTTP/1.1\r\n\r\n", Version::Http1),
            (b"P", Version::Http1),
            (b"", Version::Http1),
            (preface, Version::Http2),
            (&with_more, Version::Http2),
        ] {
            // In chunks of each length, so that the stream pauses at every position.
            for length in 1..=sent.len().max(1) {
                let pieces: Vec<io::Result<&[u8]>> = sent.chunks(length).map(Ok).collect();
                let stream = tokio_util::io::StreamReader::new(tokio_stream::iter(pieces));
                let (version, mut again) = version(stream).await.unwrap();
                assert_eq!(version, expected, "{sent:?}");
                let mut read = Vec::new();
                again.read_to_end(&mut read).await.unwrap();
                assert_eq!(read, sent);
            }
        }
    }
}
