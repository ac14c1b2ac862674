//! The limits of connections, by name.

use std::time::Duration;

use hyper::server::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use tokio::net::TcpStream;

#[cfg(test)]
mod tests;

/// Connections at the same time, unless the process may have fewer descriptors.
pub(crate) const CONNECTIONS_DEFAULT: u32 = 10_000;
/// Connections of one address at the same time, unless half of all are fewer: a proxy, or somebody who tries what the
/// service can bear, is one address.
pub(crate) const CONNECTIONS_PER_ADDRESS_DEFAULT: u32 = 1_024;
/// How long a connection can stay idle, in seconds.
pub(crate) const CONNECTION_IDLE_SECONDS_DEFAULT: u32 = 60;
/// How long a TLS handshake may take, and the first bytes of a request after it, in seconds.
pub(crate) const HANDSHAKE_SECONDS_DEFAULT: u32 = 10;
/// Longest idle time or handshake that can be asked for, in seconds.
pub(crate) const CONNECTION_SECONDS_MAX: u32 = 86_400;

/// Bytes of a request's line and fields together. An import has its mapping there.
const HEAD_BYTES_MAX: u32 = 65_536;
/// Bytes of a connection that are read ahead of whoever reads a body. A head has to fit.
const HTTP1_BUFFER_BYTES_MAX: usize = 2 * HEAD_BYTES_MAX as usize;
/// Fields of a request's head.
const HEAD_FIELDS_MAX: u32 = 100;
/// Requests on one HTTP/2 connection at the same time.
const HTTP2_STREAMS_MAX: u32 = 100;
/// Bytes of one body that a client may send before somebody has read them.
const HTTP2_STREAM_WINDOW_BYTES: u32 = 262_144;
/// Bytes of all bodies on a connection that a client may send before somebody has read them.
const HTTP2_CONNECTION_WINDOW_BYTES: u32 = 1_048_576;
/// Bytes of one answer that wait for a client to take them.
const HTTP2_SEND_BUFFER_BYTES_MAX: u32 = 65_536;
/// Bytes of one frame. RFC 9113 §4.2 allows no less.
const HTTP2_FRAME_BYTES_MAX: u32 = 16_384;
/// Requests that a client took back before anybody looked at them (CVE-2023-44487).
const HTTP2_RESETS_PENDING_MAX: u32 = 20;
/// Faults of a client on one connection that each cost it a request and not the connection (RUSTSEC-2024-0003).
const HTTP2_FAULTS_MAX: u32 = 256;
/// How often a client is asked whether it is still there in the time that a connection may be idle, and into what part
/// of it the answer must come.
const HTTP2_PINGS: u32 = 3;
/// How much longer than a connection may be idle, and half of that, its client may acknowledge nothing. Who is there and
/// does not read is cut before, also by a busy machine, and counted as such.
const UNACKNOWLEDGED_EXTRA: Duration = Duration::from_secs(10);
/// How often the kernel asks in the time that a connection may be idle whether there is still somebody.
const KEEPALIVES: u32 = 3;

/// What an operator may set about connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bounds {
    /// The maximum number of connections.
    pub(crate) connections_max: u32,
    /// The maximum number of connections per address.
    pub(crate) connections_per_address_max: u32,
    /// How long a connection stays without anything happening on it.
    pub(crate) idle: Duration,
    /// How long a TLS handshake may take, and the first bytes of a request after it.
    pub(crate) handshake: Duration,
}

impl Bounds {
    /// Returns every limit of connections with its name.
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

/// Has the kernel end a connection whose client is gone without a word, as when its host or the network is: it would take
/// it for one that reads slowly for a quarter of an hour, and forever while nothing is sent.
///
/// Where the kernel does not take it, connections last as long as it lets them.
#[cfg(target_os = "linux")]
pub(super) fn end_if_unacknowledged(stream: &TcpStream, idle: Duration) {
    use rustix::net::sockopt;

    // It counts whole seconds, and none is no time.
    let between = (idle / KEEPALIVES).max(Duration::from_secs(1));
    let _ = sockopt::set_tcp_keepidle(stream, between);
    let _ = sockopt::set_tcp_keepintvl(stream, between);
    let _ = sockopt::set_socket_keepalive(stream, true);
    let millis = u32::try_from(unacknowledged(idle).as_millis()).unwrap_or(u32::MAX);
    let _ = sockopt::set_tcp_user_timeout(stream, millis);
}

/// Leaves it to the system when a connection ends whose client is gone without a word.
#[cfg(not(target_os = "linux"))]
pub(super) fn end_if_unacknowledged(_: &TcpStream, _: Duration) {}

/// Returns how HTTP/1 is spoken. A head that began has as long as a connection may be idle.
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

/// Returns how HTTP/2 is spoken. Who does not answer a ping is gone before the connection may be idle no longer.
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
