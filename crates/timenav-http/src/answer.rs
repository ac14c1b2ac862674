//! What every answer is made of.

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::{HeaderName, HeaderValue, StatusCode};
use serde::Serialize;
use timenav_engine::LedgerPosition;
use utoipa::ToSchema;

/// An answer that says only that all is well.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct StatusBody {
    /// What happened, in a sentence.
    pub(crate) status: String,
}

/// Where a write stands in the ledger of its timeline, and the signed tree that holds it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LedgerBody {
    /// Position of the last entry the request wrote, counted from 0.
    pub(crate) position: u64,
    /// Entries in the signed tree.
    pub(crate) size: u64,
    /// The root of the tree: 64 hexadecimal digits.
    pub(crate) root: String,
}

impl From<LedgerPosition> for LedgerBody {
    fn from(ledger: LedgerPosition) -> Self {
        Self { position: ledger.position, size: ledger.size, root: ledger.root.to_hex() }
    }
}

/// The answer to a change: a status, a body, and whether it repeats an earlier answer.
pub(crate) struct Changed<T> {
    status: StatusCode,
    replayed: bool,
    body: T,
}

impl<T> Changed<T> {
    pub(crate) const fn ok(body: T, replayed: bool) -> Self {
        Self { status: StatusCode::OK, replayed, body }
    }

    pub(crate) const fn created(body: T, replayed: bool) -> Self {
        Self { status: StatusCode::CREATED, replayed, body }
    }
}

impl<T: Serialize> IntoResponse for Changed<T> {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(self.body)).into_response();
        if self.replayed {
            let name = HeaderName::from_static("idempotency-replayed");
            response.headers_mut().insert(name, HeaderValue::from_static("true"));
        }
        response
    }
}
