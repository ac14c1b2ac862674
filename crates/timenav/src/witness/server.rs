use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use http::{StatusCode, header};
use timenav_core::ledger::{ADD_CHECKPOINT_BYTES_MAX, AddCheckpoint, WitnessRefusal};

use super::{Unwitnessed, Witness};

/// The media type of the size in a conflict response (C2SP tlog-witness).
const SIZE_TYPE: &str = "text/x.tlog.size";
const TEXT: &str = "text/plain; charset=utf-8";

pub(crate) fn router(witness: Arc<Witness>) -> Router {
    Router::new()
        .route("/", get(welcome))
        .route("/healthz", get(healthz))
        .route("/add-checkpoint", post(add_checkpoint))
        .route("/{origin_hash}/checkpoint", get(checkpoint))
        .with_state(witness)
}

async fn welcome(State(witness): State<Arc<Witness>>) -> Response {
    plain(StatusCode::OK, format!("This is a witness (C2SP tlog-witness). Its key:\n{}\n", witness.key()))
}

async fn healthz() -> Response {
    plain(StatusCode::OK, "The witness is running.\n".to_owned())
}

async fn add_checkpoint(State(witness): State<Arc<Witness>>, body: Body) -> Response {
    let Ok(body) = to_bytes(body, ADD_CHECKPOINT_BYTES_MAX).await else {
        let detail = format!("the body can have at most {ADD_CHECKPOINT_BYTES_MAX} bytes\n");
        return plain(StatusCode::PAYLOAD_TOO_LARGE, detail);
    };
    let request = match AddCheckpoint::parse(&body) {
        Ok(request) => request,
        Err(error) => return plain(StatusCode::BAD_REQUEST, format!("{error}\n")),
    };
    // The write completes even if the client disconnects.
    let cosigned = tokio::task::spawn_blocking(move || witness.add_checkpoint(&request)).await;
    match cosigned {
        Ok(Ok(line)) => plain(StatusCode::OK, format!("{line}\n")),
        Ok(Err(refusal)) => refused(&refusal),
        Err(_) => plain(StatusCode::INTERNAL_SERVER_ERROR, "the witness failed\n".to_owned()),
    }
}

fn refused(refusal: &Unwitnessed) -> Response {
    let status = match refusal {
        Unwitnessed::UnknownLog => StatusCode::NOT_FOUND,
        Unwitnessed::TooOften | Unwitnessed::PrefixTooOften { .. } => StatusCode::TOO_MANY_REQUESTS,
        Unwitnessed::TooLong => StatusCode::PAYLOAD_TOO_LARGE,
        Unwitnessed::NotStored(_) => StatusCode::SERVICE_UNAVAILABLE,
        Unwitnessed::Refused(WitnessRefusal::Conflict { recorded, .. }) => {
            return (StatusCode::CONFLICT, [(header::CONTENT_TYPE, SIZE_TYPE)], format!("{recorded}\n"))
                .into_response();
        }
        Unwitnessed::Refused(WitnessRefusal::Malformed(_) | WitnessRefusal::Reversed { .. }) => StatusCode::BAD_REQUEST,
        Unwitnessed::PrefixFull { .. } | Unwitnessed::Refused(WitnessRefusal::Unsigned(_)) => StatusCode::FORBIDDEN,
        Unwitnessed::Refused(WitnessRefusal::NotEmpty | WitnessRefusal::Inconsistent(_)) => {
            StatusCode::UNPROCESSABLE_ENTITY
        }
    };
    plain(status, format!("{refusal}\n"))
}

async fn checkpoint(State(witness): State<Arc<Witness>>, Path(origin_hash): Path<String>) -> Response {
    let note = tokio::task::spawn_blocking(move || witness.checkpoint(&origin_hash)).await;
    match note {
        Ok(Some(note)) => plain(StatusCode::OK, note.to_string()),
        Ok(None) | Err(_) => plain(StatusCode::NOT_FOUND, "no checkpoint of such a log was cosigned\n".to_owned()),
    }
}

fn plain(status: StatusCode, text: String) -> Response {
    (status, [(header::CONTENT_TYPE, TEXT)], text).into_response()
}
