//! Buffered request bodies: limits on their size, duration and total memory.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, HttpBody, to_bytes};
use axum::response::Response;
use bytes::Bytes;
use futures_util::StreamExt;
use timenav_core::ids::UserId;
use tokio::time::timeout;

use crate::request::network::Network;
use crate::response::problem::Failure;
use crate::shares::{Share, Shares, Spent};

/// Some programs write it before JSON, and a parser may ignore it (RFC 8259, section 8.1).
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
pub(crate) const LOOKUP_BODY_BYTES_MAX: usize = 64 * 1024;
/// Imports have no limit.
pub(crate) const CHANGE_BODY_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Maximum body of an unauthenticated request that is parsed for its timeline, in bytes.
pub(crate) const UNAUTHENTICATED_BODY_BYTES_MAX: usize = 64 * 1024;

/// Total size of all bodies in memory, in bytes. Values parsed from them may take as much again.
pub(crate) const BUFFERED_BODY_BYTES_MAX: usize = 256 << 20;
pub(crate) const BUFFERED_BODY_BYTES_PER_USER_MAX: usize = 64 << 20;
pub(crate) const BUFFERED_UNAUTHENTICATED_BYTES_MAX: usize = 16 << 20;
pub(crate) const BUFFERED_UNAUTHENTICATED_BYTES_PER_NETWORK_MAX: usize = 1 << 20;

/// How long a body may take to arrive, including the wait for memory.
pub(crate) const BODY_WAIT: Duration = Duration::from_secs(30);
/// How long a body waits for memory.
const ROOM_WAIT: Duration = Duration::from_secs(5);
const STRANGER_BODY_WAIT: Duration = Duration::from_secs(5);
const DRAIN_WAIT: Duration = Duration::from_secs(1);
/// Bytes of a rejected body that are read and discarded: a client that is still sending does not read its response.
pub(crate) const DRAINED_BYTES_MAX: u64 = 4 << 20;

/// Granularity of memory accounting, in bytes.
const UNIT_BYTES: usize = 1 << 10;
/// Memory reserved initially for a body of unknown length, in bytes.
const FIRST_BYTES: usize = 64 * 1024;

/// Memory that parsed JSON values take per syntax character, in bytes. An object with one field is nearly as large as
/// one with eleven.
const OBJECT_BYTES: usize = 640;
const FIELD_BYTES: usize = 112;
const LIST_BYTES: usize = 64;
const ITEM_BYTES: usize = 40;

#[derive(Clone, Debug, Default)]
pub(crate) struct WholeBody(pub(crate) Bytes);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Sender {
    User(UserId),
    Stranger(Option<Network>),
}

/// Limit of the responses in memory that clients have not read yet, in bytes, of all users.
pub(crate) const BUFFERED_RESPONSE_BYTES_MAX: usize = 256 << 20;
pub(crate) const BUFFERED_RESPONSE_BYTES_PER_USER_MAX: usize = 32 << 20;
/// Shorter responses are not counted: concurrent requests are limited.
const RESPONSE_COUNTED_BYTES_MIN: u64 = 64 << 10;

pub(crate) struct Rooms {
    users: Arc<Shares<Sender>>,
    /// Separate from the budget for body bytes. A body that waits here already holds its bytes, so it only waits for
    /// requests that do not wait themselves.
    values: Arc<Shares<Sender>>,
    strangers: Arc<Shares<Sender>>,
    responses: Arc<Shares<Sender>>,
    /// Responses that wait for memory occupy memory too.
    waiting_responses: Arc<Shares<Sender>>,
}

/// Response bytes, accounted for until the last one is sent.
struct CountedBytes {
    bytes: Bytes,
    _share: Share<Sender>,
}

impl AsRef<[u8]> for CountedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// A body in memory, and its memory budget until the request is answered.
pub(crate) struct Held {
    pub(crate) body: WholeBody,
    _room: Vec<Share<Sender>>,
}

impl Rooms {
    pub(crate) fn new() -> Self {
        let shares = |all: usize, each: usize| Shares::new(all / UNIT_BYTES, each / UNIT_BYTES);
        Self {
            users: shares(BUFFERED_BODY_BYTES_MAX, BUFFERED_BODY_BYTES_PER_USER_MAX),
            values: shares(BUFFERED_BODY_BYTES_MAX, BUFFERED_BODY_BYTES_PER_USER_MAX),
            strangers: shares(BUFFERED_UNAUTHENTICATED_BYTES_MAX, BUFFERED_UNAUTHENTICATED_BYTES_PER_NETWORK_MAX),
            responses: shares(BUFFERED_RESPONSE_BYTES_MAX, BUFFERED_RESPONSE_BYTES_PER_USER_MAX),
            waiting_responses: shares(BUFFERED_RESPONSE_BYTES_MAX, BUFFERED_RESPONSE_BYTES_PER_USER_MAX),
        }
    }

    /// Accounts for a whole response until its last byte is sent. Fails if no memory became free within [`ROOM_WAIT`]
    /// or as many bytes are waiting already: the client reads too slowly.
    pub(crate) async fn hold_response(&self, user_id: UserId, response: Response) -> Result<Response, Failure> {
        let exact = response.body().size_hint().exact();
        let Some(bytes) = exact.filter(|bytes| *bytes >= RESPONSE_COUNTED_BYTES_MIN) else { return Ok(response) };
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        let count = units(bytes).min(units(BUFFERED_RESPONSE_BYTES_PER_USER_MAX));
        let full = |spent| Failure::Full { what: "response bytes in memory", spent, retry_after_seconds: 1 };
        let sender = Sender::User(user_id);
        let share = if let Ok(share) = self.responses.take(&sender, count) {
            share
        } else {
            let _waiting = self.waiting_responses.take(&sender, count).map_err(full)?;
            self.responses.take_within(&sender, count, ROOM_WAIT).await.map_err(full)?
        };
        let (parts, body) = response.into_parts();
        let bytes = to_bytes(body, bytes).await.map_err(|_| Failure::BodyLost)?;
        let body = Body::from(Bytes::from_owner(CountedBytes { bytes, _share: share }));
        Ok(Response::from_parts(parts, body))
    }

    pub(crate) async fn read(&self, user_id: &UserId, body: Body, bytes_max: usize) -> Result<Held, Failure> {
        let sender = Sender::User(user_id.clone());
        let mut room = Room { shares: &self.users, sender, wait: ROOM_WAIT, taken: Vec::new(), bytes: 0 };
        let read = timeout(BODY_WAIT, read(&mut room, body, bytes_max)).await.map_err(|_| Failure::BodyLost)??;
        let values_bytes = values_bytes(&read);
        if values_bytes > BUFFERED_BODY_BYTES_PER_USER_MAX {
            return Err(Failure::TooManyValues { bytes_max: BUFFERED_BODY_BYTES_PER_USER_MAX });
        }
        let Room { sender, mut taken, .. } = room;
        if values_bytes > 0 {
            let values = self.values.take_within(&sender, units(values_bytes), ROOM_WAIT).await;
            taken.push(values.map_err(full)?);
        }
        Ok(Held { body: WholeBody(read.into()), _room: taken })
    }

    /// Reads the body of an unauthenticated request, if it is short.
    pub(crate) async fn read_of_stranger(&self, network: Option<Network>, body: Body) -> Result<Held, Failure> {
        let (sender, wait) = (Sender::Stranger(network), Duration::ZERO);
        let mut room = Room { shares: &self.strangers, sender, wait, taken: Vec::new(), bytes: 0 };
        let read = timeout(STRANGER_BODY_WAIT, read(&mut room, body, UNAUTHENTICATED_BODY_BYTES_MAX)).await;
        let read = read.map_err(|_| Failure::BodyLost)??;
        Ok(Held { body: WholeBody(read.into()), _room: room.taken })
    }
}

struct Room<'a> {
    shares: &'a Arc<Shares<Sender>>,
    sender: Sender,
    wait: Duration,
    taken: Vec<Share<Sender>>,
    bytes: usize,
}

impl Room<'_> {
    /// Grows the budget to `bytes` in total.
    async fn grow(&mut self, bytes: usize) -> Result<(), Failure> {
        let more = bytes.saturating_sub(self.bytes);
        if more == 0 {
            return Ok(());
        }
        let share = if self.wait.is_zero() {
            self.shares.take(&self.sender, units(more))
        } else {
            self.shares.take_within(&self.sender, units(more), self.wait).await
        };
        self.taken.push(share.map_err(full)?);
        self.bytes = bytes;
        Ok(())
    }
}

fn units(bytes: usize) -> u32 {
    u32::try_from(bytes.div_ceil(UNIT_BYTES)).unwrap_or(u32::MAX)
}

fn full(spent: Spent) -> Failure {
    Failure::Full { what: "request bodies in memory", spent, retry_after_seconds: 1 }
}

/// Reads a body. Memory is reserved before each part is read.
async fn read(room: &mut Room<'_>, body: Body, bytes_max: usize) -> Result<Vec<u8>, Failure> {
    if body.is_end_stream() {
        return Ok(Vec::new());
    }
    let size_hint = body.size_hint();
    if size_hint.lower() > bytes_max as u64 {
        return Err(Failure::TooLarge { bytes_max });
    }
    let size_hint = size_hint.exact().and_then(|bytes| usize::try_from(bytes).ok());
    room.grow(size_hint.unwrap_or(FIRST_BYTES.min(bytes_max))).await?;
    let mut whole = Vec::with_capacity(room.bytes);
    let mut frames = body.into_data_stream();
    while let Some(frame) = frames.next().await {
        let frame = frame.map_err(|_| Failure::BodyLost)?;
        let bytes = whole.len() + frame.len();
        if bytes > bytes_max {
            return Err(Failure::TooLarge { bytes_max });
        }
        if bytes > room.bytes {
            room.grow(bytes.next_power_of_two().min(bytes_max)).await?;
            whole.reserve_exact(room.bytes - whole.len());
        }
        whole.extend_from_slice(&frame);
    }
    if whole.starts_with(BYTE_ORDER_MARK) {
        whole.drain(..BYTE_ORDER_MARK.len());
    }
    Ok(whole)
}

/// Estimates the memory of parsed JSON, in bytes. Syntax characters in strings count too, so it cannot be evaded.
fn values_bytes(json: &[u8]) -> usize {
    let of = |byte: &u8| match byte {
        b'{' => OBJECT_BYTES,
        b':' => FIELD_BYTES,
        b'[' => LIST_BYTES,
        b',' => ITEM_BYTES,
        _ => 0,
    };
    json.iter().map(of).sum()
}

/// Reads and discards an unneeded body for a limited time.
pub(crate) async fn drain(body: Body) {
    drain_rest(body.into_data_stream()).await;
}

pub(crate) async fn drain_rest(mut frames: axum::body::BodyDataStream) {
    let mut bytes = 0;
    let reading = async {
        while bytes < DRAINED_BYTES_MAX
            && let Some(Ok(frame)) = frames.next().await
        {
            bytes += frame.len() as u64;
        }
    };
    // A client that sends nothing in that time is already waiting for the response.
    let _ = timeout(DRAIN_WAIT, reading).await;
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    fn user() -> UserId {
        UserId::new("ada").unwrap()
    }

    #[tokio::test]
    async fn request_body_is_read_up_to_its_limit() {
        let rooms = Rooms::new();
        let read = async |bytes: usize| rooms.read(&user(), Body::from(vec![b'x'; bytes]), 100_000).await;
        assert_eq!(read(100_000).await.ok().unwrap().body.0.len(), 100_000);
        assert!(matches!(read(100_001).await, Err(Failure::TooLarge { bytes_max: 100_000 })));
        // The same for a body of unknown length.
        let pieces = |count: usize| {
            let piece = |_| Ok::<_, std::io::Error>(vec![b'x'; 10_000]);
            Body::from_stream(futures_util::stream::iter((0..count).map(piece)))
        };
        assert_eq!(rooms.read(&user(), pieces(10), 100_000).await.ok().unwrap().body.0.len(), 100_000);
        let refused = rooms.read(&user(), pieces(11), 100_000).await;
        assert!(matches!(refused, Err(Failure::TooLarge { bytes_max: 100_000 })));
    }

    #[tokio::test(start_paused = true)]
    async fn request_bodies_per_user_are_limited() {
        let rooms = Rooms::new();
        let mut held = Vec::new();
        let size = CHANGE_BODY_BYTES_MAX;
        for _ in 0..BUFFERED_BODY_BYTES_PER_USER_MAX / size {
            held.push(rooms.read(&user(), Body::from(vec![b'x'; size]), size).await.ok().unwrap());
        }
        let refused = rooms.read(&user(), Body::from("x"), size).await;
        assert!(matches!(refused, Err(Failure::Full { spent: Spent::Own, .. })));
        let other = UserId::new("bob").unwrap();
        assert!(rooms.read(&other, Body::from("x"), size).await.is_ok());
        held.pop();
        assert!(rooms.read(&user(), Body::from("x"), size).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn response_bytes_per_user_are_counted_until_sent() {
        let rooms = Rooms::new();
        let hold = async |bytes: usize| {
            let response = Response::new(Body::from(vec![b'x'; bytes]));
            rooms.hold_response(user(), response).await
        };
        let size = 4 << 20;
        let mut sent = Vec::new();
        for _ in 0..BUFFERED_RESPONSE_BYTES_PER_USER_MAX / size {
            let body = hold(size).await.ok().unwrap().into_body();
            assert_eq!(body.size_hint().exact(), Some(size as u64));
            // The bytes are accounted for, not the body: after the body is read they wait in the connection's buffers.
            sent.push(to_bytes(body, size).await.unwrap());
        }
        assert!(matches!(hold(size).await, Err(Failure::Full { spent: Spent::Own, .. })));
        assert!(hold(1_000).await.is_ok(), "short ones are not counted");
        let other = Response::new(Body::from(vec![b'x'; size]));
        assert!(rooms.hold_response(UserId::new("bob").unwrap(), other).await.is_ok());
        sent.pop();
        assert!(hold(size).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn responses_waiting_for_room_are_limited() {
        let rooms = Rooms::new();
        let response = |bytes: usize| Response::new(Body::from(vec![b'x'; bytes]));
        let all = BUFFERED_RESPONSE_BYTES_PER_USER_MAX;
        let first = rooms.hold_response(user(), response(all)).await.ok().unwrap();
        let mut waiting = Box::pin(rooms.hold_response(user(), response(all)));
        assert!(waiting.as_mut().now_or_never().is_none());
        let rejected = rooms.hold_response(user(), response(all / 2)).now_or_never();
        assert!(rejected.unwrap().is_err(), "at once");
        drop(first);
        assert!(waiting.await.is_ok());
    }

    #[tokio::test]
    async fn request_body_is_counted_by_its_parsed_size() {
        let rooms = Rooms::new();
        let objects = |count: usize| Body::from("{".repeat(count));
        let most = BUFFERED_BODY_BYTES_PER_USER_MAX / OBJECT_BYTES;
        assert!(rooms.read(&user(), objects(most), CHANGE_BODY_BYTES_MAX).await.is_ok());
        let refused = rooms.read(&user(), objects(most + 1), CHANGE_BODY_BYTES_MAX).await;
        assert!(matches!(refused, Err(Failure::TooManyValues { .. })));
    }

    #[tokio::test]
    async fn unauthenticated_bodies_per_network_are_limited() {
        let rooms = Rooms::new();
        let network = |text: &str| Some(Network::of(text.parse().unwrap()));
        let body = || Body::from(vec![b'x'; UNAUTHENTICATED_BODY_BYTES_MAX]);
        let mut held = Vec::new();
        for number in 0..BUFFERED_UNAUTHENTICATED_BYTES_PER_NETWORK_MAX / UNAUTHENTICATED_BODY_BYTES_MAX {
            let from = network(&format!("2001:db8::{number}"));
            held.push(rooms.read_of_stranger(from, body()).await.ok().unwrap());
        }
        let refused = rooms.read_of_stranger(network("2001:db8::ffff"), Body::from("x")).await;
        assert!(matches!(refused, Err(Failure::Full { spent: Spent::Own, .. })));
        assert!(rooms.read_of_stranger(network("192.0.2.1"), body()).await.is_ok());
        let longer = Body::from(vec![b'x'; UNAUTHENTICATED_BODY_BYTES_MAX + 1]);
        assert!(matches!(rooms.read_of_stranger(None, longer).await, Err(Failure::TooLarge { .. })));
    }
}
