//! Normalization of names: lower-case ASCII, independent of script and accents.

/// How much of a text is compared, in bytes. All names in the tables are much shorter.
const TEXT_BYTES_MAX: usize = 256;

/// Returns the form of a name that is looked up: transliterated to lower-case ASCII, with single spaces in place of
/// everything else.
///
/// `São Paulo`, `SAO PAULO` and `são-paulo` are equal, and so are `U.S.A.` and `usa`. Apostrophes are dropped (`Xi'an`
/// is `xian`). Only the first 256 bytes of a text are used.
#[must_use]
pub fn normalized(text: &str) -> String {
    let end = text.floor_char_boundary(TEXT_BYTES_MAX);
    let ascii = deunicode::deunicode(text.get(..end).unwrap_or_default());
    let mut name = String::with_capacity(ascii.len());
    // Letters since the last space or dot: dots join initials, but end words of several letters.
    let mut letters = 0;
    let mut is_gap = false;
    for byte in ascii.bytes() {
        if byte.is_ascii_alphanumeric() {
            if is_gap && !name.is_empty() {
                name.push(' ');
            }
            letters = if is_gap { 1 } else { letters + 1 };
            is_gap = false;
            name.push(char::from(byte.to_ascii_lowercase()));
        } else if byte == b'.' && letters == 1 {
            letters = 0;
        } else if !matches!(byte, b'\'' | b'`' | b'"') {
            is_gap = true;
        }
    }
    name
}
