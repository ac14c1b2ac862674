//! Files that were packed with gzip (RFC 1952).

use std::io::{self, Read};

use flate2::read::MultiGzDecoder;

use crate::limits::{UNPACKED_BYTES_FREE, UNPACKED_RATIO_MAX};

/// Returns what is packed in the input, member after member.
///
/// Nothing of it is kept, so that a small input that unpacks into a large one costs time only; it
/// ends with an error where it is more than [`UNPACKED_RATIO_MAX`] times as large.
pub fn unpacked(input: impl Read) -> impl Read {
    Unpacked { members: MultiGzDecoder::new(Counted { input, bytes: 0 }), bytes: 0 }
}

struct Unpacked<R> {
    members: MultiGzDecoder<Counted<R>>,
    bytes: u64,
}

struct Counted<R> {
    input: R,
    bytes: u64,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let bytes = self.input.read(out)?;
        self.bytes += bytes as u64;
        Ok(bytes)
    }
}

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let bytes = self.members.read(out)?;
        self.bytes += bytes as u64;
        if self.bytes > UNPACKED_BYTES_FREE + self.members.get_ref().bytes * UNPACKED_RATIO_MAX {
            let detail = format!("it unpacks to more than {UNPACKED_RATIO_MAX} times its size");
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, detail));
        }
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn packed(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn members_are_unpacked_one_after_the_other() {
        let check = |file: &[u8], expected: &str| {
            let mut text = String::new();
            unpacked(file).read_to_string(&mut text).unwrap();
            assert_eq!(text, expected);
        };
        check(&packed(b""), "");
        check(&packed(b"a\nb"), "a\nb");
        check(&[packed(b"a\n"), packed(b"b")].concat(), "a\nb");
    }

    #[test]
    fn what_is_damaged_is_told() {
        let whole = packed("text ".repeat(1_000).as_bytes());
        for end in 1..whole.len() {
            assert!(io::copy(&mut unpacked(&whole[..end]), &mut io::sink()).is_err(), "cut at {end}");
        }
        assert!(io::copy(&mut unpacked(&b"time\n"[..]), &mut io::sink()).is_err());
    }

    #[test]
    fn a_bomb_is_no_more_than_its_fuse() {
        let bomb = packed(&vec![0; 64 << 20]);
        let mut sink = CountingSink(0);
        let error = io::copy(&mut unpacked(bomb.as_slice()), &mut sink).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
        assert!(sink.0 <= UNPACKED_BYTES_FREE + bomb.len() as u64 * UNPACKED_RATIO_MAX);
        // As much as everybody may have.
        let small = packed(&vec![0; usize::try_from(UNPACKED_BYTES_FREE).unwrap()]);
        assert!(io::copy(&mut unpacked(small.as_slice()), &mut io::sink()).is_ok());
    }

    struct CountingSink(u64);

    impl Write for CountingSink {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len() as u64;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
}
