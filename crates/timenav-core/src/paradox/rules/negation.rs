#[derive(Clone, Copy, Debug)]
pub(in crate::paradox) struct Negation {
    pub(in crate::paradox) event: u32,
    /// Whether the event has not been restored since.
    pub(in crate::paradox) is_active: bool,
}
