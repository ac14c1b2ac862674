//! Requests that can be sent twice and are carried out once.

use timenav_core::time::Span;

#[derive(Clone, Copy, Debug)]
pub struct Idempotency {
    /// Digest of user, method, route and the caller's key.
    pub key: [u8; 32],
    pub fingerprint: [u8; 32],
}

impl Idempotency {
    /// How long an outcome is stored, in host time: 24 hours.
    pub const RETENTION: Span = Span::from_micros(24 * 3_600 * 1_000_000);
    /// Maximum difference between the time in an outcome and that of its entry: a group takes a moment, and the host's
    /// clock may be set.
    pub(crate) const RETENTION_DIFFERENCE_MAX: Span = Span::from_micros(10 * 60 * 1_000_000);
    /// Any repetition of such a request gets the stored response, so that nothing is done twice.
    pub const FINGERPRINT_FORGOTTEN: [u8; 32] = [0; 32];
}
