//! The frames of a file that was packed with zstd, one after the other.

use std::io::{self, BufRead, Read};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use crate::limits::UNPACKED_WINDOW_BYTES_MAX;

/// Reads what is in the frames. Those that hold something else are passed over (RFC 8878, section 3.1.2).
pub(super) struct Frames<R> {
    input: Remembered<R>,
    frame: FrameDecoder,
    /// Whether a frame has begun that is not over.
    is_inside: bool,
    has_begun: bool,
}

/// An input that keeps its error, which a decoder would make another of.
struct Remembered<R> {
    input: R,
    error: Option<io::Error>,
}

impl<R: BufRead> Read for Remembered<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.input.read(out) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    let kind = error.kind();
                    self.error = Some(error);
                    return Err(kind.into());
                }
                Ok(bytes) => return Ok(bytes),
            }
        }
    }
}

impl<R: BufRead> Frames<R> {
    pub(super) fn new(input: R) -> Self {
        let mut frame = FrameDecoder::new();
        frame.set_max_window_size(UNPACKED_WINDOW_BYTES_MAX);
        Self { input: Remembered { input, error: None }, frame, is_inside: false, has_begun: false }
    }

    /// Begins the next frame, and returns whether there is one.
    fn begin(&mut self) -> io::Result<bool> {
        loop {
            if self.has_begun && self.input.input.fill_buf()?.is_empty() {
                return Ok(false);
            }
            self.has_begun = true;
            match self.frame.reset(&mut self.input) {
                Ok(()) => {
                    self.is_inside = true;
                    return Ok(true);
                }
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                    let skipped = io::copy(&mut (&mut self.input).take(length.into()), &mut io::sink())?;
                    if skipped < length.into() {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                }
                Err(error) => return Err(self.told(&error)),
            }
        }
    }

    fn told(&mut self, error: &FrameDecoderError) -> io::Error {
        if let Some(error) = self.input.error.take() {
            return error;
        }
        let detail = match error {
            FrameDecoderError::WindowSizeTooBig { requested, .. } => {
                format!("it was packed with a window of {requested} bytes, and {UNPACKED_WINDOW_BYTES_MAX} are kept")
            }
            other => format!("this is not zstd, or damaged: {other}"),
        };
        io::Error::new(io::ErrorKind::InvalidData, detail)
    }

    /// Ends a frame whose content was read.
    fn end(&mut self) -> io::Result<()> {
        self.is_inside = false;
        match self.frame.get_checksum_from_data() {
            written @ Some(_) if written != self.frame.get_calculated_checksum() => {
                Err(io::Error::new(io::ErrorKind::InvalidData, "its checksum does not match; it is damaged"))
            }
            Some(_) | None => Ok(()),
        }
    }
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            if !self.is_inside && !self.begin()? {
                return Ok(0);
            }
            while self.frame.can_collect() == 0 && !self.frame.is_finished() {
                let decoded = self.frame.decode_blocks(&mut self.input, BlockDecodingStrategy::UptoBlocks(1));
                decoded.map_err(|error| self.told(&error))?;
            }
            let bytes = self.frame.read(out)?;
            if bytes > 0 || out.is_empty() {
                return Ok(bytes);
            }
            self.end()?;
        }
    }
}
