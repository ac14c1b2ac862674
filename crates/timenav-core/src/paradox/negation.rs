//! Events that interventions take away.

/// That an intervention takes an event away.
#[derive(Clone, Copy, Debug)]
pub(super) struct Negation {
    pub(super) event: u32,
    /// Whether the event was not put back since.
    pub(super) is_active: bool,
}
