//! The mark that some programs put before UTF-8.

use std::io::{self, Cursor, Read};

const BYTE_ORDER_MARK: [u8; 3] = [0xEF, 0xBB, 0xBF];

/// Returns the input without a leading byte order mark.
pub(crate) fn without<R: Read>(mut input: R) -> io::Result<impl Read> {
    let mut start = Vec::with_capacity(BYTE_ORDER_MARK.len());
    let start_bytes = u64::try_from(BYTE_ORDER_MARK.len()).unwrap_or(0);
    input.by_ref().take(start_bytes).read_to_end(&mut start)?;
    if start == BYTE_ORDER_MARK {
        start.clear();
    }
    Ok(Cursor::new(start).chain(input))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_leading_mark_is_left_out() {
        let check = |given: &[u8], expected: &[u8]| {
            let mut bytes = Vec::new();
            without(given).unwrap().read_to_end(&mut bytes).unwrap();
            assert_eq!(bytes, expected);
        };
        check(b"", b"");
        check(b"ab", b"ab");
        check(b"abcd", b"abcd");
        check(b"\xEF\xBB", b"\xEF\xBB");
        check(b"\xEF\xBB\xBF", b"");
        check(b"\xEF\xBB\xBF\xEF\xBB\xBFa", b"\xEF\xBB\xBFa");
    }
}
