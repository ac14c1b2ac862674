#[derive(Clone, Copy, Debug)]
pub(super) struct Negation {
    pub(super) event: u32,
    /// Whether the event has not been restored since.
    pub(super) is_active: bool,
}
