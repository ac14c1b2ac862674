//! Authenticated cursors, which mark the end of a page.

use data_encoding::BASE64URL_NOPAD;
use timenav_core::time::Instant;

use crate::engine::Engine;
use crate::ports::rows::EventPlace;
use crate::requests::caller::Caller;
use crate::requests::refusal::Refusal;

const VERSION: u8 = 1;
/// A cursor over layers stores the layer above the position, which needs fewer bits than this.
const LAYER_SHIFT: u32 = 48;
const POSITION_MASK: u64 = (1 << LAYER_SHIFT) - 1;
const FIELDS_BYTES: usize = 25;
const MAC_BYTES: usize = 16;
const LABEL: &str = "timenav cursor v1";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cursor {
    pub(crate) as_of: u64,
    /// Time of the last item in microseconds since 1970, for items ordered by time.
    pub(crate) micros: i64,
    pub(crate) position: u64,
}

/// Returns a layer and a position on it as one number.
pub(crate) const fn place(layer: usize, position: u64) -> u64 {
    (layer as u64) << LAYER_SHIFT | position
}

impl Cursor {
    /// Returns the layer and position of the last item, for items on layers.
    pub(crate) fn place(self) -> (usize, u64) {
        let layer = usize::try_from(self.position >> LAYER_SHIFT).unwrap_or(usize::MAX);
        (layer, self.position & POSITION_MASK)
    }

    pub(crate) fn event_place(self) -> Option<EventPlace> {
        let (layer, position) = self.place();
        Some((Instant::from_micros(self.micros)?, layer, position))
    }
}

impl Engine {
    /// Returns a cursor that only works for this caller and query.
    pub(crate) fn cursor(&self, caller: &Caller, query: &str, as_of: u64, micros: i64, position: u64) -> String {
        let mut bytes = Vec::with_capacity(FIELDS_BYTES + MAC_BYTES);
        bytes.push(VERSION);
        bytes.extend_from_slice(&as_of.to_be_bytes());
        bytes.extend_from_slice(&micros.to_be_bytes());
        bytes.extend_from_slice(&position.to_be_bytes());
        let mac = self.cursor_mac(caller, query, &bytes);
        bytes.extend_from_slice(&mac);
        BASE64URL_NOPAD.encode(&bytes)
    }

    /// Returns a cursor of a query for events, which continues after the event at that place.
    pub(crate) fn events_cursor(&self, caller: &Caller, query: &str, as_of: u64, last: EventPlace) -> String {
        let (time, layer, position) = last;
        self.cursor(caller, query, as_of, time.micros(), place(layer, position))
    }

    pub(crate) fn open_cursor(&self, caller: &Caller, query: &str, text: &str) -> Result<Cursor, Refusal> {
        let bytes = BASE64URL_NOPAD.decode(text.as_bytes()).map_err(|_| Refusal::Cursor)?;
        if bytes.len() != FIELDS_BYTES + MAC_BYTES || bytes[0] != VERSION {
            return Err(Refusal::Cursor);
        }
        let (fields, mac) = bytes.split_at(FIELDS_BYTES);
        // The comparison need not be constant-time: a forged cursor would give its caller nothing that they cannot
        // query anyway.
        if self.cursor_mac(caller, query, fields) != mac {
            return Err(Refusal::Cursor);
        }
        let field = |at: usize| {
            let mut eight = [0; 8];
            eight.copy_from_slice(&fields[at..at + 8]);
            u64::from_be_bytes(eight)
        };
        Ok(Cursor { as_of: field(1), micros: field(9).cast_signed(), position: field(17) })
    }

    fn cursor_mac(&self, caller: &Caller, query: &str, fields: &[u8]) -> [u8; MAC_BYTES] {
        let mut message = fields.to_vec();
        message.extend_from_slice(caller.user_id.as_str().as_bytes());
        message.push(b'\n');
        message.extend_from_slice(query.as_bytes());
        let mut mac = [0; MAC_BYTES];
        mac.copy_from_slice(&self.ports().signer.authenticate(LABEL, &message)[..MAC_BYTES]);
        mac
    }
}
