//! Connections: admission, timeouts and shutdown.
//!
//! A connection gets a slot when it is accepted ([`places`]), so that there are never more connections than file
//! descriptors. It keeps its slot while it is active ([`activity`]). Every wait for a client has a timeout: the TLS
//! handshake and the first bytes ([`opening`]), the next request, and a response that is not read ([`connection`]).
//! Events that strangers can provoke are counted, and logged at most once a minute ([`connection_log`]).
//!
//! `axum-server` has no timeout for the first bytes, no idle limit for HTTP/2 and no limit on connections.

pub(crate) mod entrance;
pub(crate) mod metrics_server;
mod activity;
mod connection;
mod descriptors;
pub(crate) mod limits;
mod opening;
mod places;
mod tls;
mod connection_log;

use std::future::pending;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use timenav_http::{ConnectionCounts, ConnectionEnd};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub(crate) use descriptors::{connections, make_room_for};
pub(crate) use limits::Bounds;
pub(crate) use tls::acceptor;

use connection::Connection;
use places::Places;

/// Pause after the system had no resources left to accept a connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

pub(crate) struct Server {
    counts: Arc<ConnectionCounts>,
    /// Canceled to stop accepting connections and let the existing ones finish.
    stopping: CancellationToken,
    /// Canceled to cut all connections.
    cutting: CancellationToken,
    connections: TaskTracker,
    accepting: JoinHandle<()>,
}

impl Server {
    /// Starts accepting connections, over HTTPS if a TLS acceptor is given.
    pub(crate) fn start(
        listener: TcpListener,
        tls: Option<TlsAcceptor>,
        router: Router,
        bounds: Bounds,
        counts: Arc<ConnectionCounts>,
    ) -> Self {
        let (stopping, cutting) = (CancellationToken::new(), CancellationToken::new());
        let connections = TaskTracker::new();
        let door = Door {
            connection: Arc::new(Connection {
                tls,
                router,
                bounds,
                stopping: stopping.clone(),
                cutting: cutting.clone(),
                http1: limits::http1(bounds.idle),
                http2: limits::http2(bounds.idle),
            }),
            places: Places::new(bounds.connections_max, bounds.connections_per_address_max),
            counts: Arc::clone(&counts),
            tasks: connections.clone(),
        };
        let stop = stopping.clone();
        let accepting = tokio::spawn(async move {
            tokio::select! {
                () = stop.cancelled() => {}
                () = door.accept_all(&listener) => {}
                () = connection_log::log_each_minute(&door.counts) => {}
            }
        });
        Self { counts, stopping, cutting, connections, accepting }
    }

    /// Lets connections end after their pending responses. The listener is closed when this returns.
    pub(crate) async fn stop(&mut self) {
        self.stopping.cancel();
        // It fails only by panicking, and then it does not accept connections either.
        let _ = (&mut self.accepting).await;
        self.connections.close();
    }

    pub(crate) async fn ended(&self) {
        self.connections.wait().await;
    }

    /// Cuts the remaining connections and returns their number.
    pub(crate) fn cut(&self) -> u64 {
        let left = self.counts.open();
        self.cutting.cancel();
        left
    }
}

struct Door {
    connection: Arc<Connection>,
    places: Arc<Places>,
    counts: Arc<ConnectionCounts>,
    tasks: TaskTracker,
}

impl Door {
    async fn accept_all(&self, listener: &TcpListener) {
        loop {
            match listener.accept().await {
                Ok((stream, peer)) => self.let_in(stream, peer),
                // The connection was closed before it was accepted, which is harmless.
                Err(error) if is_of_the_client(&error) => {}
                Err(_) => {
                    self.counts.refuse(ConnectionEnd::NotAccepted);
                    let _ = timeout(ACCEPT_PAUSE, pending::<()>()).await;
                }
            }
        }
    }

    /// Gives a connection a slot, or closes it at once: connections never queue for a slot.
    fn let_in(&self, stream: TcpStream, peer: SocketAddr) {
        let place = match self.places.take(peer.ip()) {
            Ok(place) => place,
            Err(full) => return self.counts.refuse(full),
        };
        let _ = stream.set_nodelay(true);
        limits::end_if_unacknowledged(&stream, self.connection.bounds.idle);
        let (connection, counts) = (Arc::clone(&self.connection), Arc::clone(&self.counts));
        counts.begin();
        self.tasks.spawn(async move {
            let how = connection.serve(stream, peer, &place).await;
            counts.end(how);
        });
    }
}

/// Returns whether an accept error concerns a single connection.
fn is_of_the_client(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionRefused
    )
}
