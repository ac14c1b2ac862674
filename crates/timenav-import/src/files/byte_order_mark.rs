//! Byte order marks, and the signatures of files that are not text.

use std::io::{self, Cursor, Read};

const BYTE_ORDER_MARK: [u8; 3] = [0xEF, 0xBB, 0xBF];

/// Signatures of files that are often sent instead of text, and what to do about it.
const OTHERS: [(&[u8], &str); 7] = [
    (&[0x1F, 0x8B], "it is packed with gzip; end its name in `.gz`, or send it with `Content-Encoding: gzip`"),
    (&[0x28, 0xB5, 0x2F, 0xFD], "it is packed with zstd; unpack it with `zstd -d`"),
    (b"PK\x03\x04", "it is a ZIP archive, or a spreadsheet file; unpack it, or save it as CSV"),
    (&[0xFD, b'7', b'z', b'X', b'Z'], "it is packed with xz; unpack it"),
    (b"BZh", "it is packed with bzip2; unpack it"),
    (&[0xFF, 0xFE], "it is UTF-16; save it as UTF-8"),
    (&[0xFE, 0xFF], "it is UTF-16; save it as UTF-8"),
];
const START_BYTES: u64 = 5;

/// Returns the input without a leading byte order mark, and its type if it is not text.
pub(crate) fn without<R: Read>(mut input: R) -> io::Result<(impl Read, Option<&'static str>)> {
    let mut start = Vec::new();
    input.by_ref().take(START_BYTES).read_to_end(&mut start)?;
    let other = other_than_text(&start);
    if start.starts_with(&BYTE_ORDER_MARK) {
        start.drain(..BYTE_ORDER_MARK.len());
    }
    Ok((Cursor::new(start).chain(input), other))
}

/// Returns the type of a file with that start, and what to do with it, if it is known not to be text.
pub(crate) fn other_than_text(start: &[u8]) -> Option<&'static str> {
    OTHERS.into_iter().find(|(magic, _)| start.starts_with(magic)).map(|(_, what)| what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_leading_mark_is_removed() {
        let check = |given: &[u8], expected: &[u8]| {
            let mut bytes = Vec::new();
            without(given).unwrap().0.read_to_end(&mut bytes).unwrap();
            assert_eq!(bytes, expected);
        };
        check(b"", b"");
        check(b"ab", b"ab");
        check(b"abcd", b"abcd");
        check(b"\xEF\xBB", b"\xEF\xBB");
        check(b"\xEF\xBB\xBF", b"");
        check(b"\xEF\xBB\xBF\xEF\xBB\xBFa", b"\xEF\xBB\xBFa");
        check(b"\xEF\xBB\xBFabc", b"abc");
    }

    #[test]
    fn other_file_types_are_recognized() {
        assert_eq!(other_than_text(b"BZ,h"), None);
        assert_eq!(other_than_text(b"\x1F\x8B\x08"), Some(OTHERS[0].1));
        assert_eq!(without(&b"PK\x03\x04\x14"[..]).unwrap().1, Some(OTHERS[2].1));
    }
}
