//! Requests that may be sent twice and happen once.

use timenav_core::time::Span;

/// What a request carries so that a repetition of it can be recognised.
#[derive(Clone, Copy, Debug)]
pub struct Idempotency {
    /// Digest of user, method, route and the caller's key.
    pub key: [u8; 32],
    /// Digest of the request.
    pub fingerprint: [u8; 32],
}

impl Idempotency {
    /// How long an outcome is kept, in host time: 24 hours.
    pub const KEPT: Span = Span::from_micros(24 * 3_600 * 1_000_000);
    /// By how much what an outcome says of when it was kept may differ from when its entry was recorded: a group takes a
    /// moment, and the host's clock may be set.
    pub(crate) const KEPT_DIFFERENCE_MAX: Span = Span::from_micros(10 * 60 * 1_000_000);
    /// Stands in an outcome whose request cannot be compared with another any more. Whoever repeats it is answered as
    /// before, so that nothing is done twice.
    pub const FINGERPRINT_FORGOTTEN: [u8; 32] = [0; 32];
}
