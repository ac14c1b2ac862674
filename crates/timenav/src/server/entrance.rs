//! The listener before the service is open: while the database is unavailable, only probes get a response.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use timenav_http::{ConnectionCounts, Starting};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::server::{Bounds, Server};

pub(crate) struct Entrance {
    pub(crate) listener: TcpListener,
    pub(crate) tls: Option<TlsAcceptor>,
    pub(crate) bounds: Bounds,
    pub(crate) counts: Arc<ConnectionCounts>,
}

impl Entrance {
    fn serve(self, router: Router) -> Server {
        let Self { listener, tls, bounds, counts } = self;
        Server::start(listener, tls, router, bounds, counts)
    }
}

pub(crate) enum Opening {
    /// Not yet: connections wait in the listen queue.
    Closed(Entrance),
    /// Only probes get a response.
    Probes { server: Server, starting: Arc<Starting>, times: u32 },
}

/// Connection attempts between two log messages about an unavailable database.
const TRIED_UNLOGGED: u32 = 60;

impl Opening {
    pub(crate) fn wait(self, reason: &str, address: SocketAddr) -> Self {
        let (server, starting, times) = match self {
            Self::Closed(entrance) => {
                let starting = Arc::<Starting>::default();
                (entrance.serve(starting.router()), starting, 0)
            }
            Self::Probes { server, starting, times } => (server, starting, times + 1),
        };
        starting.wait(reason);
        if times % TRIED_UNLOGGED == 0 {
            tracing::warn!(%address, reason, "the service is waiting for its database: {reason}");
        }
        Self::Probes { server, starting, times }
    }

    pub(crate) fn open(self, router: Router) -> Server {
        match self {
            Self::Closed(entrance) => entrance.serve(router),
            Self::Probes { server, starting, .. } => {
                starting.begin(router);
                server
            }
        }
    }
}
