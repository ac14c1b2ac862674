use std::time::Duration;

use hyper::server::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use tokio::net::TcpStream;

#[cfg(test)]
mod tests;

/// Default number of connections, unless the descriptor limit is lower.
pub(crate) const CONNECTIONS_DEFAULT: u32 = 10_000;
/// Default connections per address, unless half of all are fewer. A proxy, and an attacker too, is one address.
pub(crate) const CONNECTIONS_PER_ADDRESS_DEFAULT: u32 = 1_024;
pub(crate) const CONNECTION_IDLE_SECONDS_DEFAULT: u32 = 60;
/// Default timeout of the TLS handshake, and of the first bytes of a request after it, in seconds.
pub(crate) const HANDSHAKE_SECONDS_DEFAULT: u32 = 10;
pub(crate) const CONNECTION_SECONDS_MAX: u32 = 86_400;

/// Maximum size of a request line and its headers, in bytes. An import has its mapping there.
const HEAD_BYTES_MAX: u32 = 65_536;
/// Bytes buffered ahead of the body reader. A request head must fit.
const HTTP1_BUFFER_BYTES_MAX: usize = 2 * HEAD_BYTES_MAX as usize;
const HEAD_FIELDS_MAX: u32 = 100;
/// Concurrent requests per HTTP/2 connection.
const HTTP2_STREAMS_MAX: u32 = 100;
/// Unread bytes per request body.
const HTTP2_STREAM_WINDOW_BYTES: u32 = 262_144;
/// Unread bytes of all request bodies of a connection.
const HTTP2_CONNECTION_WINDOW_BYTES: u32 = 1_048_576;
/// Unsent bytes per response.
const HTTP2_SEND_BUFFER_BYTES_MAX: u32 = 65_536;
/// Maximum frame size, in bytes. RFC 9113 §4.2 allows no less.
const HTTP2_FRAME_BYTES_MAX: u32 = 16_384;
/// Requests canceled by the client before they are processed (CVE-2023-44487).
const HTTP2_RESETS_PENDING_MAX: u32 = 20;
/// Stream errors per connection that do not end the connection (RUSTSEC-2024-0003).
const HTTP2_FAULTS_MAX: u32 = 256;
/// Pings per idle timeout, which also determines the deadline of the reply.
const HTTP2_PINGS: u32 = 3;
/// Extra time on top of one and a half idle timeouts during which a client may acknowledge nothing. A client that is
/// there but does not read is cut earlier, even by a busy machine, and counted as stalled.
const UNACKNOWLEDGED_EXTRA: Duration = Duration::from_secs(10);
/// TCP keepalive probes per idle timeout.
const KEEPALIVES: u32 = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bounds {
    pub(crate) connections_max: u32,
    pub(crate) connections_per_address_max: u32,
    pub(crate) idle: Duration,
    /// Timeout of the TLS handshake, and of the first bytes of a request after it.
    pub(crate) handshake: Duration,
}

impl Bounds {
    pub(crate) fn named(&self) -> Vec<(&'static str, u64)> {
        vec![
            ("connections_max", self.connections_max.into()),
            ("connections_per_address_max", self.connections_per_address_max.into()),
            ("connection_idle_seconds_max", self.idle.as_secs()),
            ("connection_unacknowledged_seconds_max", unacknowledged(self.idle).as_secs()),
            ("handshake_seconds_max", self.handshake.as_secs()),
            ("head_bytes_max", HEAD_BYTES_MAX.into()),
            ("head_fields_max", HEAD_FIELDS_MAX.into()),
            ("http2_streams_max", HTTP2_STREAMS_MAX.into()),
            ("http2_stream_window_bytes_max", HTTP2_STREAM_WINDOW_BYTES.into()),
            ("http2_connection_window_bytes_max", HTTP2_CONNECTION_WINDOW_BYTES.into()),
            ("http2_send_buffer_bytes_max", HTTP2_SEND_BUFFER_BYTES_MAX.into()),
            ("http2_frame_bytes_max", HTTP2_FRAME_BYTES_MAX.into()),
            ("http2_resets_pending_max", HTTP2_RESETS_PENDING_MAX.into()),
            ("http2_faults_max", HTTP2_FAULTS_MAX.into()),
        ]
    }
}

/// Returns how long a client may acknowledge nothing that is sent to it.
fn unacknowledged(idle: Duration) -> Duration {
    idle + idle / 2 + UNACKNOWLEDGED_EXTRA
}

/// Lets the kernel end connections whose peer has vanished, for example in a network failure. Otherwise the kernel
/// would treat it as a slow reader for a quarter of an hour, and forever while nothing is sent.
///
/// If the kernel rejects the options, its defaults apply.
#[cfg(target_os = "linux")]
pub(super) fn end_if_unacknowledged(stream: &TcpStream, idle: Duration) {
    use rustix::net::sockopt;

    // The options are in whole seconds, and zero is invalid.
    let between = (idle / KEEPALIVES).max(Duration::from_secs(1));
    let _ = sockopt::set_tcp_keepidle(stream, between);
    let _ = sockopt::set_tcp_keepintvl(stream, between);
    let _ = sockopt::set_socket_keepalive(stream, true);
    let millis = u32::try_from(unacknowledged(idle).as_millis()).unwrap_or(u32::MAX);
    let _ = sockopt::set_tcp_user_timeout(stream, millis);
}

/// Other systems use their defaults.
#[cfg(not(target_os = "linux"))]
pub(super) fn end_if_unacknowledged(_: &TcpStream, _: Duration) {}

/// Returns the HTTP/1 settings. A request head must be complete within the idle timeout.
pub(super) fn http1(idle: Duration) -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(idle)
        .max_header_size(HEAD_BYTES_MAX as usize)
        .max_buf_size(HTTP1_BUFFER_BYTES_MAX)
        .max_headers(HEAD_FIELDS_MAX as usize);
    builder
}

/// Returns the HTTP/2 settings. A client that does not answer a ping is closed before its idle timeout.
pub(super) fn http2(idle: Duration) -> http2::Builder<TokioExecutor> {
    let mut builder = http2::Builder::new(TokioExecutor::new());
    builder
        .timer(TokioTimer::new())
        .max_concurrent_streams(HTTP2_STREAMS_MAX)
        .initial_stream_window_size(HTTP2_STREAM_WINDOW_BYTES)
        .initial_connection_window_size(HTTP2_CONNECTION_WINDOW_BYTES)
        .max_send_buf_size(HTTP2_SEND_BUFFER_BYTES_MAX as usize)
        .max_frame_size(HTTP2_FRAME_BYTES_MAX)
        .max_header_list_size(HEAD_BYTES_MAX)
        .max_pending_accept_reset_streams(HTTP2_RESETS_PENDING_MAX as usize)
        .max_local_error_reset_streams(HTTP2_FAULTS_MAX as usize)
        .keep_alive_interval(idle / HTTP2_PINGS)
        .keep_alive_timeout(idle / HTTP2_PINGS);
    builder
}
