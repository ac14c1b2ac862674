use crate::schema::ToSchema;
use axum::Json;
use http::Uri;
use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::value::RawValue;
use timenav_core::data::{ENCRYPTION, EncryptionKey, Plaintext};
use timenav_core::ids::{DataId, EventId, TimelineId};
use timenav_engine::{Action, ErasureRequest};
use zeroize::Zeroizing;

use super::parameters::timeline;
use crate::request::call::Change;
use crate::request::entity_tag::expect_timeline;
use crate::response::answer::{Changed, LedgerBody, created_first};
use crate::response::problem::Failure;
use crate::route::Route;
use crate::wire::Text;

const TAG: &str = "data";

/// Parameters that are rejected in URLs, because URLs are logged along the way.
const SECRETS: [&str; 2] = ["encryption_key", "data"];

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::change(
            "/encrypt-data",
            "encrypt_data",
            "Encrypts and stores data that only its key decrypts",
            encrypt_data,
        )
        .takes::<EncryptRequest>()
        .gives::<EncryptedBody>()
        .heeds_if_there()
        .tag(TAG),
        Route::change("/decrypt-data", "decrypt_data", "Decrypts stored data with its key", decrypt_data)
            .takes::<DecryptRequest>()
            .gives::<DecryptedBody>()
            .anew()
            .tag(TAG),
        Route::change("/erase-data", "erase_data", "Erases sealed data, or the content of an event", erase_data)
            .takes::<EraseRequest>()
            .either("data_id", "event_id")
            .gives::<ErasedBody>()
            .tag(TAG),
    ]
}

/// Data to encrypt.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EncryptRequest {
    /// The timeline.
    #[schema(value_type = String, format = "changeable-timeline-id", example = "main")]
    timeline_id: Text<TimelineId>,
    /// The data: an object of at most 1,048,576 bytes.
    #[schema(value_type = Object)]
    #[serde(deserialize_with = "object")]
    data: Plaintext,
    /// The key: 32 random bytes as 64 hexadecimal digits or 44 characters of base64, or a passphrase. The service does
    /// not store it.
    #[schema(value_type = String, min_length = 1, max_length = 1_024, format = Password)]
    #[serde(deserialize_with = "key")]
    encryption_key: EncryptionKey,
}

/// A record to decrypt.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DecryptRequest {
    /// The record.
    #[schema(value_type = String, format = "id")]
    data_id: Text<DataId>,
    /// The key that the record was encrypted with.
    #[schema(value_type = String, min_length = 1, max_length = 1_024, format = Password)]
    #[serde(deserialize_with = "key")]
    encryption_key: EncryptionKey,
    /// The timeline, as an extra check. Defaults to the record's own.
    #[schema(value_type = Option<String>, format = "timeline-id", example = "main")]
    timeline_id: Option<Text<TimelineId>>,
}

/// A record or an event to erase.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_field_names, reason = "the fields have their names in JSON")]
pub(crate) struct EraseRequest {
    /// The record.
    #[schema(value_type = Option<String>, format = "id")]
    data_id: Option<Text<DataId>>,
    /// The event.
    #[schema(value_type = Option<String>, format = "id")]
    event_id: Option<Text<EventId>>,
    /// The event's timeline. Defaults to the API key's. Not needed for a record.
    #[schema(value_type = Option<String>, format = "changeable-timeline-id", example = "main")]
    timeline_id: Option<Text<TimelineId>>,
}

/// A record that was created.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EncryptedBody {
    /// A sentence that says what happened.
    status: String,
    /// The id of the record.
    data_id: String,
    /// The algorithm.
    encryption: &'static str,
    /// The timeline.
    timeline_id: String,
    /// `true` if this request created the timeline. Absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    timeline_created: Option<bool>,
    /// Its place in the ledger.
    ledger: LedgerBody,
}

/// The decrypted record.
#[derive(Serialize, ToSchema)]
pub(crate) struct DecryptedBody {
    /// A sentence that says what happened.
    status: &'static str,
    /// The data.
    #[schema(value_type = Object)]
    data: Box<RawValue>,
}

/// An erasure.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ErasedBody {
    /// A sentence that says what happened.
    status: String,
    /// The timeline.
    timeline_id: String,
    /// Position of the entry whose content was erased. Its leaf and all proofs remain.
    position: u64,
    /// The erasure's place in the ledger.
    ledger: LedgerBody,
}

async fn encrypt_data(
    uri: Uri,
    Change { app, caller, idempotency, headers, request }: Change<EncryptRequest>,
) -> Result<Changed<EncryptedBody>, Failure> {
    refuse_in_address(&uri)?;
    let EncryptRequest { timeline_id, data, encryption_key } = request;
    expect_timeline(&app, &headers, (&caller, &timeline_id.0), Action::EncryptData).await?;
    let made = app.engine.encrypt_data(&caller, timeline_id.0, data, encryption_key, idempotency).await?;
    let status = "The data is sealed; only its key opens it.".to_owned();
    let (status, timeline_created) = created_first(made.ledger, made.timeline_id.as_str(), status);
    let body = EncryptedBody {
        status,
        timeline_created,
        data_id: made.change.data_id.to_string(),
        encryption: ENCRYPTION,
        timeline_id: made.timeline_id.to_string(),
        ledger: made.ledger.into(),
    };
    Ok(Changed::ok(body, made.replayed))
}

/// Decrypted data is never stored, so a repeated request decrypts it again.
async fn decrypt_data(
    uri: Uri,
    Change { app, caller, request, .. }: Change<DecryptRequest>,
) -> Result<Json<DecryptedBody>, Failure> {
    refuse_in_address(&uri)?;
    let DecryptRequest { data_id, encryption_key, timeline_id } = request;
    let data = app.engine.decrypt_data(&caller, timeline(timeline_id), data_id.0, encryption_key).await?;
    Ok(Json(DecryptedBody { status: "The key opens the data.", data: raw(&data)? }))
}

async fn erase_data(
    Change { app, caller, idempotency, request, .. }: Change<EraseRequest>,
) -> Result<Changed<ErasedBody>, Failure> {
    let erasure = match (request.data_id, request.event_id) {
        (Some(data_id), None) => ErasureRequest::Data(timeline(request.timeline_id), data_id.0),
        (None, Some(event_id)) => ErasureRequest::Event(timeline(request.timeline_id), event_id.0),
        (Some(_), Some(_)) | (None, None) => {
            return Err(Failure::invalid("data_id", "give either `data_id` or `event_id`"));
        }
    };
    let erased = app.engine.erase_data(&caller, erasure, idempotency).await?;
    let position = erased.change.position;
    let body = ErasedBody {
        status: format!("The content of entry {position} was erased; its proofs remain valid."),
        timeline_id: erased.timeline_id.to_string(),
        position,
        ledger: erased.ledger.into(),
    };
    Ok(Changed::ok(body, erased.replayed))
}

fn refuse_in_address(uri: &Uri) -> Result<(), Failure> {
    let mut named = form_urlencoded::parse(uri.query().unwrap_or("").as_bytes()).map(|(name, _)| name);
    match named.find_map(|name| SECRETS.into_iter().find(|secret| *secret == name)) {
        Some(name) => Err(Failure::invalid(name, "send it in the body: URLs are logged in many places")),
        None => Ok(()),
    }
}

/// Reads a key. An invalid value is not repeated in the response: it may be a key with a typo.
fn key<'de, D: Deserializer<'de>>(deserializer: D) -> Result<EncryptionKey, D::Error> {
    let text = String::deserialize(deserializer).map(Zeroizing::new);
    let text = text.map_err(|_| de::Error::custom("a key must be a string"))?;
    EncryptionKey::new(text).map_err(de::Error::custom)
}

/// Reads an object as the exact text that was sent.
fn object<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Plaintext, D::Error> {
    let wrong = || de::Error::custom("data must be a JSON object");
    let raw = Box::<RawValue>::deserialize(deserializer).map_err(|_| wrong())?;
    let text = Zeroizing::new(String::from(Box::<str>::from(raw)));
    if text.starts_with('{') { Ok(Plaintext::new(text)) } else { Err(wrong()) }
}

/// Returns decrypted data as JSON. Only JSON is ever sealed.
fn raw(data: &Plaintext) -> Result<Box<RawValue>, Failure> {
    let raw = RawValue::from_string(data.as_str().to_owned());
    raw.map_err(|_| timenav_engine::Refusal::Damaged("sealed data is not JSON".to_owned()).into())
}
