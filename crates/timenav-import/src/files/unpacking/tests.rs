use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::*;

fn packed(packing: Packing, text: &[u8]) -> Vec<u8> {
    match packing {
        Packing::Gzip => {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
            encoder.write_all(text).unwrap();
            encoder.finish().unwrap()
        }
    }
}

#[test]
fn concatenated_members_are_unpacked_in_order() {
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
}

#[test]
fn damaged_archive_is_an_error() {
    for packing in Packing::ALL {
        let whole = packed(packing, "text ".repeat(1_000).as_bytes());
        for end in 0..whole.len() {
            let outcome = io::copy(&mut unpacked(packing, &whole[..end]), &mut io::sink());
            assert!(outcome.is_err() || end == 0, "{packing:?} cut at {end}");
        }
        assert!(io::copy(&mut unpacked(packing, &b"time\n"[..]), &mut io::sink()).is_err());
    }
    let mut wrong = packed(Packing::Gzip, b"text");
    // The checksum precedes the four-byte length (RFC 1952 §2.3.1).
    let checksum = wrong.len() - 5;
    wrong[checksum] ^= 1;
    assert!(io::copy(&mut unpacked(Packing::Gzip, wrong.as_slice()), &mut io::sink()).is_err());
}

#[test]
fn failing_input_keeps_its_error() {
    struct Fails;
    impl Read for Fails {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::new(io::ErrorKind::TimedOut, "nothing came"))
        }
    }
    let start = packed(Packing::Gzip, "text ".repeat(1_000).as_bytes());
    let error = io::copy(&mut unpacked(Packing::Gzip, start[..20].chain(Fails)), &mut io::sink()).unwrap_err();
    assert_eq!((error.kind(), error.to_string().as_str()), (io::ErrorKind::TimedOut, "nothing came"));
}

#[test]
fn decompression_bomb_is_limited() {
    for packing in Packing::ALL {
        let bomb = packed(packing, &vec![0; 64 << 20]);
        let mut sink = CountingSink(0);
        let error = io::copy(&mut unpacked(packing, bomb.as_slice()), &mut sink).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
        assert!(sink.0 <= UNPACKED_BYTES_FREE + bomb.len() as u64 * UNPACKED_RATIO_MAX);
        // The size allowed at any ratio.
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
