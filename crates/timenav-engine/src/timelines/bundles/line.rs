//! The lines of a bundle, as defined in `docs/specs/bundle.md`.

use std::borrow::Cow;

use data_encoding::{BASE64, HEXLOWER};
use serde::{Deserialize, Serialize};
use timenav_core::data::SealedData;

use crate::ledger::payload::LayerErased;
use crate::ports::rows::DataRecord;
use crate::requests::json::json;

/// Name and version of the format: the `format` of the first line.
pub const BUNDLE_FORMAT: &str = "timenav-bundle/v1";

/// The same for a bundle with adopted layers, in which `layer_erased` entries may explain erasures.
pub const BUNDLE_FORMAT_OF_LAYERS: &str = "timenav-bundle/v2";

/// Maximum length of a line including its line end, in bytes: a sealed record of the maximum size, or the largest
/// payload with every character escaped, with some reserve.
pub const BUNDLE_LINE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// One line: an object with one member, whose name is the kind of line. Members are in ascending order of their names,
/// so that a line has one canonical form (RFC 8785).
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Line<'a> {
    #[serde(borrow)]
    Bundle(Header<'a>),
    Layer(LayerLine<'a>),
    Entry(EntryLine<'a>),
    Data(DataLine<'a>),
    Rotation(NoteLine<'a>),
    Checkpoint(NoteLine<'a>),
    Erasure(LayerErased<'a>),
    End(EndLine<'a>),
}

/// Metadata of the bundle, which is not verified by itself.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Header<'a> {
    pub(super) created_at: Cow<'a, str>,
    pub(super) format: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) layers: Vec<LayerLine<'a>>,
    pub(super) origin: Cow<'a, str>,
    pub(super) service_version: Cow<'a, str>,
    pub(super) timeline_id: Cow<'a, str>,
    pub(super) verifier_key: Cow<'a, str>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LayerLine<'a> {
    pub(super) size: u64,
    pub(super) timeline_id: Cow<'a, str>,
}

/// An entry. Salt and payload are empty if they were erased.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EntryLine<'a> {
    pub(super) leaf: Cow<'a, str>,
    pub(super) payload: Cow<'a, str>,
    pub(super) salt: Cow<'a, str>,
}

/// The sealed record of the preceding entry. Four members are empty if it was erased.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DataLine<'a> {
    pub(super) ciphertext: Cow<'a, str>,
    pub(super) commitment: Cow<'a, str>,
    pub(super) data_id: Cow<'a, str>,
    pub(super) erased_by: Option<u64>,
    pub(super) format: u8,
    pub(super) kdf: u8,
    pub(super) nonce: Cow<'a, str>,
    pub(super) salt: Cow<'a, str>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NoteLine<'a> {
    pub(super) note: Cow<'a, str>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EndLine<'a> {
    pub(super) data: u64,
    pub(super) entries: u64,
    pub(super) sha256: Cow<'a, str>,
}

impl<'a> Line<'a> {
    pub(super) fn to_text(&self) -> String {
        json(self) + "\n"
    }

    /// Parses the exact output of [`Line::to_text`].
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self, String> {
        let text = bytes.strip_suffix(b"\n").ok_or("the last line has no line end: the file is cut off")?;
        let line: Self =
            serde_json::from_slice(text).map_err(|error| format!("this is not a line of a bundle: {error}"))?;
        if json(&line).as_bytes() != text {
            return Err("the line is not in canonical form".to_owned());
        }
        Ok(line)
    }

    pub(super) const fn name(&self) -> &'static str {
        match self {
            Self::Bundle(_) => "bundle",
            Self::Layer(_) => "layer",
            Self::Entry(_) => "entry",
            Self::Data(_) => "data",
            Self::Rotation(_) => "rotation",
            Self::Checkpoint(_) => "checkpoint",
            Self::Erasure(_) => "erasure",
            Self::End(_) => "end",
        }
    }
}

impl DataLine<'_> {
    pub(super) fn of(record: &DataRecord) -> Self {
        let text = |bytes: &[u8]| Cow::Owned(BASE64.encode(bytes));
        let SealedData { format, kind, salt, nonce, commitment, ciphertext } = &record.sealed;
        Self {
            ciphertext: text(ciphertext),
            commitment: text(commitment),
            data_id: Cow::Owned(record.data_id.to_string()),
            erased_by: record.erased,
            format: *format,
            kdf: *kind,
            nonce: text(nonce),
            salt: text(salt),
        }
    }

    pub(super) fn sealed(&self) -> Result<SealedData, String> {
        Ok(SealedData {
            format: self.format,
            kind: self.kdf,
            salt: base64(&self.salt)?,
            nonce: base64(&self.nonce)?,
            commitment: base64(&self.commitment)?,
            ciphertext: base64(&self.ciphertext)?,
        })
    }
}

pub(super) fn hex(text: &str) -> Result<Vec<u8>, String> {
    HEXLOWER.decode(text.as_bytes()).map_err(|_| "a salt must be written in lower-case hexadecimal digits".to_owned())
}

fn base64(text: &str) -> Result<Vec<u8>, String> {
    // The decoder would also accept concatenated padded pieces.
    let decoded = BASE64.decode(text.as_bytes()).ok().filter(|bytes| BASE64.encode(bytes) == text);
    decoded.ok_or_else(|| "a sealed record must be written in base64".to_owned())
}
