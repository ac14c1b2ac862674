//! A minimal HTTP/2 implementation (RFC 9113, RFC 7541) that sends arbitrary frames, including those that a library
//! would reject.

use std::io::{self, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// Read timeout: generous, so that no result depends on it.
const PATIENCE: Duration = Duration::from_mins(2);

pub(crate) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

pub(crate) const DATA: u8 = 0;
pub(crate) const HEADERS: u8 = 1;
pub(crate) const RST_STREAM: u8 = 3;
pub(crate) const SETTINGS: u8 = 4;
pub(crate) const PING: u8 = 6;
pub(crate) const GOAWAY: u8 = 7;

pub(crate) const ACK: u8 = 1;
pub(crate) const END_STREAM: u8 = 1;
pub(crate) const END_HEADERS: u8 = 4;

pub(crate) const FRAME_SIZE_ERROR: u32 = 6;
pub(crate) const REFUSED_STREAM: u32 = 7;
pub(crate) const ENHANCE_YOUR_CALM: u32 = 11;

/// A frame sent by the service.
#[derive(Debug)]
pub(crate) struct Frame {
    pub(crate) kind: u8,
    pub(crate) flags: u8,
    pub(crate) stream: u32,
    pub(crate) payload: Vec<u8>,
}

impl Frame {
    /// Returns the error code of a frame: the last four bytes of `RST_STREAM`, the second four of `GOAWAY`.
    pub(crate) fn error(&self) -> u32 {
        let at = if self.kind == GOAWAY { 4 } else { 0 };
        u32::from_be_bytes(self.payload[at..at + 4].try_into().expect("four bytes"))
    }

    /// Returns the settings in a SETTINGS frame.
    pub(crate) fn settings(&self) -> Vec<(u16, u32)> {
        let setting = |six: &[u8]| {
            let value = u32::from_be_bytes(six[2..].try_into().expect("four bytes"));
            (u16::from_be_bytes([six[0], six[1]]), value)
        };
        self.payload.chunks(6).map(setting).collect()
    }
}

/// Encodes a frame.
pub(crate) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).expect("a frame is short");
    [&length.to_be_bytes()[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// Encodes fields as a HEADERS payload of literals.
pub(crate) fn fields(fields: &[(&str, &str)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (name, value) in fields {
        bytes.push(0);
        for text in [name, value] {
            match u8::try_from(text.len()) {
                Ok(length) if length < 127 => bytes.push(length),
                // Integers with a 7-bit prefix continue in 7-bit bytes (RFC 7541 §5.1).
                _ => {
                    bytes.push(127);
                    let mut rest = text.len() - 127;
                    while rest >= 128 {
                        bytes.extend(u8::try_from(rest % 128 + 128));
                        rest /= 128;
                    }
                    bytes.extend(u8::try_from(rest));
                }
            }
            bytes.extend_from_slice(text.as_bytes());
        }
    }
    bytes
}

/// Encodes the fields of a request, and additional ones.
pub(crate) fn request(method: &str, path: &str, more: &[(&str, &str)]) -> Vec<u8> {
    let usual = [(":method", method), (":scheme", "http"), (":path", path), (":authority", "timenav.test")];
    fields(&[&usual, more].concat())
}

/// An HTTP/2 connection.
pub(crate) struct Connection {
    reader: BufReader<TcpStream>,
}

impl Connection {
    /// Opens a connection and sends only the mandatory preface.
    pub(crate) fn open(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).expect("the service accepts connections");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout can be set");
        stream.set_write_timeout(Some(PATIENCE)).expect("a timeout can be set");
        stream.set_nodelay(true).expect("it can be set");
        let mut connection = Self { reader: BufReader::new(stream) };
        let first = [PREFACE, &frame(SETTINGS, 0, 0, &[])].concat();
        connection.send(&first).expect("the service reads");
        connection
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.reader.get_mut().write_all(bytes)
    }

    /// Returns the next frame, or `None` if the service has closed the connection.
    pub(crate) fn next(&mut self) -> Option<Frame> {
        let mut head = [0; 9];
        match self.reader.read_exact(&mut head) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => panic!("nothing came: {error}"),
            Err(_) => return None,
        }
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
        let mut payload = vec![0; length];
        self.reader.read_exact(&mut payload).ok()?;
        let stream = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
        Some(Frame { kind: head[3], flags: head[4], stream, payload })
    }

    /// Returns the next frame of a type. Answers settings and pings in the meantime.
    pub(crate) fn wait_for(&mut self, kind: u8) -> Option<Frame> {
        loop {
            let next = self.next()?;
            if matches!(next.kind, SETTINGS | PING) && next.flags & ACK == 0 {
                let payload = if next.kind == PING { next.payload.as_slice() } else { &[] };
                // If the connection is closed, the next read reports it.
                let _ = self.send(&frame(next.kind, ACK, 0, payload));
            }
            if next.kind == kind {
                return Some(next);
            }
        }
    }

    /// Waits until the service closes the connection. Returns the error code of GOAWAY, if any.
    pub(crate) fn end(&mut self) -> Option<u32> {
        let mut goaway_code = None;
        while let Some(next) = self.next() {
            if next.kind == GOAWAY {
                goaway_code = Some(next.error());
            }
        }
        goaway_code
    }
}
