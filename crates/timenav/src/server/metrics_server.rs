use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use tokio::net::TcpListener;

use crate::exit::Failure;
use crate::server::limits::{CONNECTION_IDLE_SECONDS_DEFAULT, HANDSHAKE_SECONDS_DEFAULT};
use crate::server::{Bounds, Server};

/// Maximum number of connections: monitoring systems and people.
const CONNECTIONS_MAX: u32 = 64;

pub(crate) async fn listen(
    address: Option<SocketAddr>,
    failed: fn(SocketAddr, std::io::Error) -> anyhow::Error,
) -> Result<Option<TcpListener>, Failure> {
    let Some(address) = address else { return Ok(None) };
    Ok(Some(TcpListener::bind(address).await.map_err(|error| failed(address, error))?))
}

pub(crate) fn serve(listener: Option<TcpListener>, router: Router) -> Option<Server> {
    let listener = listener?;
    if let Ok(address) = listener.local_addr() {
        tracing::info!(%address, "metrics are at http://{address}/metrics");
    }
    let bounds = Bounds {
        connections_max: CONNECTIONS_MAX,
        connections_per_address_max: CONNECTIONS_MAX,
        idle: Duration::from_secs(CONNECTION_IDLE_SECONDS_DEFAULT.into()),
        handshake: Duration::from_secs(HANDSHAKE_SECONDS_DEFAULT.into()),
    };
    Some(Server::start(listener, None, router, bounds, Arc::default()))
}
