//! Decoding of text in Windows-1252, also known as ANSI.

use std::io::{self, BufRead, BufReader, Read};

use crate::limits::BUFFER_BYTES;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Encoding {
    #[default]
    Utf8,
    /// The characters of Western Europe, including ISO 8859-1.
    Windows1252,
}

/// From 0x80 to 0x9F (<https://encoding.spec.whatwg.org/index-windows-1252.txt>); the others equal Unicode.
const FROM_80: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8D}', 'Ž', '\u{8F}', '\u{90}', '‘', '’',
    '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9D}', 'ž', 'Ÿ',
];

impl Encoding {
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name.to_ascii_lowercase().as_str() {
            "utf-8" | "utf8" => Some(Self::Utf8),
            // As in browsers, Latin-1 is treated as its superset.
            "windows-1252" | "cp1252" | "iso-8859-1" | "latin1" | "latin-1" => Some(Self::Windows1252),
            _ => None,
        }
    }

    pub(crate) fn windows_1252(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| character(*byte)).collect()
    }
}

fn character(byte: u8) -> char {
    byte.checked_sub(0x80).and_then(|place| FROM_80.get(usize::from(place))).copied().unwrap_or(char::from(byte))
}

pub(crate) fn decoded<R: Read>(input: R) -> impl Read {
    Decoded { input: BufReader::with_capacity(BUFFER_BYTES, input), rest: [0; 4], rest_bytes: (0, 0) }
}

struct Decoded<R> {
    input: BufReader<R>,
    /// A partly returned character.
    rest: [u8; 4],
    /// The start and end of its remaining bytes.
    rest_bytes: (usize, usize),
}

impl<R: Read> Read for Decoded<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let mut written = 0;
        while written < out.len() {
            let (start, end) = self.rest_bytes;
            if start < end {
                out[written] = self.rest[start];
                self.rest_bytes.0 += 1;
                written += 1;
                continue;
            }
            // Return what is available before waiting for more.
            if written > 0 && self.input.buffer().is_empty() {
                break;
            }
            let available = self.input.fill_buf()?;
            let ascii = available.iter().take(out.len() - written).take_while(|byte| byte.is_ascii()).count();
            if ascii > 0 {
                out[written..written + ascii].copy_from_slice(&available[..ascii]);
                written += ascii;
                self.input.consume(ascii);
            } else if let Some(byte) = available.first() {
                self.rest_bytes = (0, character(*byte).encode_utf8(&mut self.rest).len());
                self.input.consume(1);
            } else {
                break;
            }
        }
        Ok(written)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decoded_text_is_independent_of_the_chunk_size() {
        let text: String = (0..=255).map(character).collect();
        assert!(text.contains("€") && text.contains("Ÿ") && text.ends_with("ýþÿ"));
        let bytes: Vec<u8> = (0..=255).collect();
        assert_eq!(Encoding::windows_1252(&bytes), text);
        for length in [1, 2, 3, 7, 1_000] {
            let mut reader = decoded(bytes.as_slice());
            let (mut all, mut piece) = (Vec::new(), vec![0; length]);
            loop {
                let count = reader.read(&mut piece).unwrap();
                if count == 0 {
                    break;
                }
                all.extend_from_slice(&piece[..count]);
            }
            assert_eq!(String::from_utf8(all).unwrap(), text);
        }
    }
}
