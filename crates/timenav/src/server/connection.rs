use std::convert::Infallible;
use std::error::Error as _;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use http::{Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use timenav_http::ConnectionEnd;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

use super::activity::{Activity, Answer, LOOKS, Order, Turn, Watch, Watched};
use super::limits::Bounds;
use super::opening::{Reread, Version, version};
use super::places::Place;

const FAREWELL_MAX: Duration = Duration::from_secs(5);

pub(super) struct Connection {
    pub(super) tls: Option<TlsAcceptor>,
    pub(super) router: Router,
    pub(super) bounds: Bounds,
    pub(super) stopping: CancellationToken,
    pub(super) cutting: CancellationToken,
    pub(super) http1: http1::Builder,
    pub(super) http2: http2::Builder<TokioExecutor>,
}

impl Connection {
    pub(super) async fn serve(&self, stream: TcpStream, peer: SocketAddr, place: &Place) -> ConnectionEnd {
        let stream = Watched::new(stream, Arc::clone(&place.activity));
        tokio::select! {
            how = self.speak(stream, peer, place) => how,
            () = place.gives_way.cancelled() => ConnectionEnd::MadeRoom,
            () = self.cutting.cancelled() => ConnectionEnd::Closed,
        }
    }

    async fn speak(&self, stream: Watched<TcpStream>, peer: SocketAddr, place: &Place) -> ConnectionEnd {
        let Some(tls) = &self.tls else { return self.begin(stream, peer, place).await };
        let shaken = tokio::select! {
            shaken = timeout(self.bounds.handshake, tls.accept(stream)) => shaken,
            () = self.stopping.cancelled() => return ConnectionEnd::Closed,
        };
        match shaken {
            Ok(Ok(stream)) => self.begin(stream, peer, place).await,
            // Disconnecting during the handshake is not a handshake failure.
            Ok(Err(error)) if error.kind() == io::ErrorKind::InvalidData => ConnectionEnd::Handshake,
            Ok(Err(_)) => ConnectionEnd::Closed,
            Err(_) => ConnectionEnd::Late,
        }
    }

    async fn begin<S>(&self, stream: S, peer: SocketAddr, place: &Place) -> ConnectionEnd
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let begun = tokio::select! {
            begun = timeout(self.bounds.handshake, version(stream)) => begun,
            () = self.stopping.cancelled() => return ConnectionEnd::Closed,
        };
        match begun {
            Ok(Ok((version, stream))) => self.converse(version, stream, peer, place).await,
            Ok(Err(_)) => ConnectionEnd::Closed,
            Err(_) => ConnectionEnd::Late,
        }
    }

    async fn converse<S>(&self, spoken: Version, stream: Reread<S>, peer: SocketAddr, place: &Place) -> ConnectionEnd
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let stream = TokioIo::new(stream);
        let activity = &place.activity;
        let connection_service = ConnectionService {
            router: self.router.clone(),
            peer,
            activity: Arc::clone(activity),
            order: place.order(),
        };
        match spoken {
            Version::Http1 => {
                let conversation = self.http1.serve_connection(stream, connection_service);
                self.watch(conversation, activity, false, http1::Connection::graceful_shutdown).await
            }
            Version::Http2 => {
                let conversation = self.http2.serve_connection(stream, connection_service);
                self.watch(conversation, activity, true, http2::Connection::graceful_shutdown).await
            }
        }
    }

    /// On idle timeout or shutdown the connection is closed gracefully, and cut if that takes too long.
    async fn watch<C>(
        &self,
        conversation: C,
        activity: &Activity,
        answers_pings: bool,
        tell_to_end: fn(Pin<&mut C>),
    ) -> ConnectionEnd
    where
        C: Future<Output = hyper::Result<()>>,
    {
        tokio::pin!(conversation);
        let mut watch = Watch::default();
        let mut is_reported = false;
        loop {
            tokio::select! {
                biased;
                () = self.stopping.cancelled(), if !is_reported => {
                    tell_to_end(conversation.as_mut());
                    is_reported = true;
                }
                finished = timeout(self.bounds.idle / LOOKS, conversation.as_mut()) => {
                    if let Ok(ended) = finished {
                        return how(ended);
                    }
                    let Some(end) = watch.look(activity, answers_pings) else { continue };
                    if end == ConnectionEnd::Idle {
                        tell_to_end(conversation.as_mut());
                        let _ = timeout(FAREWELL_MAX.min(self.bounds.idle), conversation).await;
                    }
                    return end;
                }
            }
        }
    }
}

fn how(ended: hyper::Result<()>) -> ConnectionEnd {
    let Err(error) = ended else { return ConnectionEnd::Closed };
    if error.is_timeout() {
        ConnectionEnd::Idle
    } else if error.is_canceled()
        || error.is_closed()
        || error.is_incomplete_message()
        || error.is_body_write_aborted()
        || error.source().is_some_and(<dyn std::error::Error>::is::<io::Error>)
    {
        ConnectionEnd::Closed
    } else {
        ConnectionEnd::Malformed
    }
}

struct ConnectionService {
    router: Router,
    peer: SocketAddr,
    activity: Arc<Activity>,
    order: Arc<Order>,
}

impl hyper::service::Service<Request<Incoming>> for ConnectionService {
    type Response = Response<Answer>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn call(&self, mut request: Request<Incoming>) -> Self::Future {
        let turn = Turn::begin(Arc::clone(&self.activity), Arc::clone(&self.order));
        request.extensions_mut().insert(ConnectInfo(self.peer));
        let answering = self.router.clone().oneshot(request.map(Body::new));
        Box::pin(async move { Ok(answering.await?.map(|body| Answer::new(body, turn))) })
    }
}
