use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use super::*;
use crate::limits::UNPACKED_WINDOW_BYTES_MAX;

fn packed(packing: Packing, text: &[u8]) -> Vec<u8> {
    match packing {
        Packing::Gzip => {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
            encoder.write_all(text).unwrap();
            encoder.finish().unwrap()
        }
        Packing::Zstd => compress_to_vec(text, CompressionLevel::Fastest),
    }
}

#[test]
fn members_are_unpacked_one_after_the_other() {
    for packing in Packing::ALL {
        let check = |file: &[u8], expected: &str| {
            let mut text = String::new();
            unpacked(packing, file).read_to_string(&mut text).unwrap();
            assert_eq!(text, expected);
        };
        let packed = |text: &str| packed(packing, text.as_bytes());
        check(&packed(""), "");
        check(&packed("a\nb"), "a\nb");
        check(&[packed("a\n"), packed("b")].concat(), "a\nb");
        let long = (0..200_000).map(|number: u32| number.to_string()).collect::<Vec<_>>().join(" ");
        check(&packed(&long), &long);
    }
    // A frame of something else, four bytes long.
    let skipped = [&[0x50, 0x2A, 0x4D, 0x18, 4, 0, 0, 0, 1, 2, 3, 4][..], &packed(Packing::Zstd, b"a")].concat();
    let mut text = String::new();
    unpacked(Packing::Zstd, skipped.as_slice()).read_to_string(&mut text).unwrap();
    assert_eq!(text, "a");
    assert!(io::copy(&mut unpacked(Packing::Zstd, &skipped[..10]), &mut io::sink()).is_err());
}

#[test]
fn what_is_damaged_is_told() {
    for packing in Packing::ALL {
        let whole = packed(packing, "text ".repeat(1_000).as_bytes());
        for end in 0..whole.len() {
            let outcome = io::copy(&mut unpacked(packing, &whole[..end]), &mut io::sink());
            assert!(outcome.is_err() || (end == 0 && packing == Packing::Gzip), "{packing:?} cut at {end}");
        }
        assert!(io::copy(&mut unpacked(packing, &b"time\n"[..]), &mut io::sink()).is_err());
    }
    let mut wrong = packed(Packing::Zstd, b"text");
    *wrong.last_mut().unwrap() ^= 1;
    let error = io::copy(&mut unpacked(Packing::Zstd, wrong.as_slice()), &mut io::sink()).unwrap_err();
    assert_eq!(error.to_string(), "its checksum does not match; it is damaged");
}

#[test]
fn an_input_that_fails_is_told_as_that() {
    struct Fails;
    impl Read for Fails {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::new(io::ErrorKind::TimedOut, "nothing came"))
        }
    }
    let start = packed(Packing::Zstd, "text ".repeat(1_000).as_bytes());
    let error = io::copy(&mut unpacked(Packing::Zstd, start[..8].chain(Fails)), &mut io::sink()).unwrap_err();
    assert_eq!((error.kind(), error.to_string().as_str()), (io::ErrorKind::TimedOut, "nothing came"));
}

#[test]
fn a_window_has_a_largest_size() {
    // A frame with a window descriptor (RFC 8878, section 3.1.1.1.2), and an empty last block.
    let frame = |exponent: u8| [0x28, 0xB5, 0x2F, 0xFD, 0, exponent << 3, 1, 0, 0];
    let read = |exponent: u8| io::copy(&mut unpacked(Packing::Zstd, frame(exponent).as_slice()), &mut io::sink());
    assert_eq!(1 << 23, UNPACKED_WINDOW_BYTES_MAX);
    assert_eq!(read(23 - 10).unwrap(), 0);
    let error = read(24 - 10).unwrap_err();
    assert_eq!(error.to_string(), "it was packed with a window of 16777216 bytes, and 8388608 are kept");
}

#[test]
fn a_bomb_is_no_more_than_its_fuse() {
    for packing in Packing::ALL {
        let bomb = packed(packing, &vec![0; 64 << 20]);
        let mut sink = CountingSink(0);
        let error = io::copy(&mut unpacked(packing, bomb.as_slice()), &mut sink).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
        assert!(sink.0 <= UNPACKED_BYTES_FREE + bomb.len() as u64 * UNPACKED_RATIO_MAX);
        // As much as everybody may have.
        let small = packed(packing, &vec![0; usize::try_from(UNPACKED_BYTES_FREE).unwrap()]);
        assert!(io::copy(&mut unpacked(packing, small.as_slice()), &mut io::sink()).is_ok());
    }
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
