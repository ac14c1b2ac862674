//! How names are compared: in small ASCII letters, whatever script and accents they came in.

/// How much of a text is compared, in bytes. No name in the tables comes near it.
const TEXT_BYTES_MAX: usize = 256;

/// Returns the name as it is looked up: transliterated to ASCII, in small letters, with single
/// spaces for whatever else is between them.
///
/// `São Paulo`, `SAO PAULO` and `são-paulo` are one; so are `U.S.A.` and `usa`. The signs of
/// apostrophes vanish (`Xi'an` is `xian`). Of a long text the first 256 bytes are compared.
#[must_use]
pub fn normalized(text: &str) -> String {
    let end = text.floor_char_boundary(TEXT_BYTES_MAX);
    let ascii = deunicode::deunicode(text.get(..end).unwrap_or_default());
    let mut name = String::with_capacity(ascii.len());
    // Letters since the last space or dot: the dots of initials join them, one after a word ends it.
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
