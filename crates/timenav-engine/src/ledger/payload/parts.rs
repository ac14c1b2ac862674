/// Parses 32 bytes from hexadecimal digits.
pub(super) fn digest(text: &str) -> Option<[u8; 32]> {
    data_encoding::HEXLOWER.decode(text.as_bytes()).ok()?.try_into().ok()
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde requires this signature")]
pub(super) const fn is_not(flag: &bool) -> bool {
    !*flag
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde requires this signature")]
pub(super) const fn is_nothing(number: &u64) -> bool {
    *number == 0
}
