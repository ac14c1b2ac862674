//! A minimal HTTP/1.1 implementation: requests are sent exactly as written, and responses are parsed strictly, without
//! a lenient library.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

use rustix::net::{self, AddressFamily, SocketType};
use serde_json::Value;

/// Read timeout: generous, so that no result depends on it.
const PATIENCE: Duration = Duration::from_mins(5);

/// A request to send.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) target: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Option<Vec<u8>>,
    /// Whether the fixture adds no credentials.
    pub(crate) as_it_is: bool,
}

impl Request {
    pub(crate) fn new(method: &str, target: &str) -> Self {
        Self { method: method.to_owned(), target: target.to_owned(), headers: Vec::new(), body: None, as_it_is: false }
    }

    pub(crate) fn get(target: &str) -> Self {
        Self::new("GET", target)
    }

    pub(crate) fn post(target: &str) -> Self {
        Self::new("POST", target)
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Uses this key instead of the operator's.
    pub(crate) fn key(mut self, key: &str) -> Self {
        self.as_it_is = true;
        self.header("Authorization", &format!("Bearer {key}"))
    }

    /// Uses a session cookie instead, like a page of the service.
    pub(crate) fn session(self, cookie: &str) -> Self {
        self.cookie(cookie).header("Sec-Fetch-Site", "same-origin")
    }

    /// Uses a cookie without the headers that identify the page.
    pub(crate) fn cookie(mut self, cookie: &str) -> Self {
        self.as_it_is = true;
        self.header("Cookie", cookie)
    }

    /// Sends no credentials.
    pub(crate) fn anonymous(mut self) -> Self {
        self.as_it_is = true;
        self
    }

    pub(crate) fn json(self, body: &Value) -> Self {
        self.body("application/json", body.to_string().as_bytes())
    }

    pub(crate) fn body(mut self, content_type: &str, body: &[u8]) -> Self {
        self.body = Some(body.to_vec());
        self.header("Content-Type", content_type)
    }

    /// Sends a body without a media type.
    pub(crate) fn untyped(mut self, body: &[u8]) -> Self {
        self.body = Some(body.to_vec());
        self
    }

    pub(crate) fn idempotent(self, key: &str) -> Self {
        self.header("Idempotency-Key", key)
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut bytes = format!("{} {} HTTP/1.1\r\n", self.method, self.target).into_bytes();
        if !self.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
            bytes.extend_from_slice(b"Host: timenav.test\r\n");
        }
        for (name, value) in &self.headers {
            bytes.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
        }
        if let Some(body) = &self.body {
            bytes.extend_from_slice(format!("Content-Length: {}\r\n", body.len()).as_bytes());
        }
        bytes.extend_from_slice(b"\r\n");
        bytes.extend_from_slice(self.body.as_deref().unwrap_or_default());
        bytes
    }
}

/// A complete response.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    /// Returns a header that occurs once.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.headers.iter().filter(|(given, _)| given.eq_ignore_ascii_case(name));
        let first = found.next().map(|(_, value)| value.as_str());
        assert!(found.next().is_none(), "{name} stands there twice: {:?}", self.headers);
        first
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.body.clone()).expect("an answer is UTF-8")
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self}"))
    }

    /// Returns the body, or null if it is not JSON.
    pub(crate) fn json_or_null(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// Asserts the status and returns the body.
    #[track_caller]
    pub(crate) fn expect(self, status: u16) -> Value {
        assert_eq!(self.status, status, "{self}");
        self.json()
    }

    /// Asserts the status and the error code, and returns the error.
    #[track_caller]
    pub(crate) fn refused(self, status: u16, code: &str) -> Value {
        let text = self.to_string();
        let body = self.expect(status);
        assert_eq!(body["code"], code, "{text}");
        assert!(body["status"].as_str().is_some_and(|text| text.ends_with('.')), "{text}");
        assert!(body["detail"].as_str().is_some_and(|text| !text.is_empty()), "{text}");
        assert!(body["request_id"].as_str().is_some_and(|text| !text.is_empty()), "{text}");
        assert!(body["errors"].is_array(), "{text}");
        body
    }
}

impl std::fmt::Display for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {:?}\n{}", self.status, self.headers, String::from_utf8_lossy(&self.body))
    }
}

/// A persistent connection.
pub(crate) struct Connection {
    reader: BufReader<TcpStream>,
}

impl Connection {
    pub(crate) fn open(address: SocketAddr) -> io::Result<Self> {
        Self::over(TcpStream::connect(address)?)
    }

    /// Opens a connection from a local address.
    pub(crate) fn open_from(source: Ipv4Addr, address: SocketAddr) -> io::Result<Self> {
        let socket = net::socket(AddressFamily::INET, SocketType::STREAM, None)?;
        net::bind(&socket, &SocketAddr::from((source, 0)))?;
        net::connect(&socket, &address)?;
        Self::over(socket.into())
    }

    fn over(stream: TcpStream) -> io::Result<Self> {
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        stream.set_nodelay(true)?;
        Ok(Self { reader: BufReader::new(stream) })
    }

    pub(crate) fn exchange(&mut self, request: &Request) -> io::Result<Answer> {
        self.send(&request.bytes())?;
        self.answer(request.method == "HEAD")
    }

    /// Sends a request without reading its response.
    pub(crate) fn send_request(&mut self, request: &Request) {
        self.send(&request.bytes()).expect("the service reads");
    }

    /// Shuts down the sending side.
    pub(crate) fn shut_down_writing(&mut self) {
        self.reader.get_mut().shutdown(Shutdown::Write).expect("the connection is open");
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.reader.get_mut().write_all(bytes)
    }

    /// Sends the body in chunks without a length.
    pub(crate) fn send_chunked<'a>(
        &mut self,
        request: &Request,
        chunks: impl IntoIterator<Item = &'a [u8]>,
    ) -> io::Result<()> {
        assert!(request.body.is_none(), "the body is in the chunks");
        self.send(&request.clone().header("Transfer-Encoding", "chunked").bytes())?;
        for chunk in chunks {
            self.send(format!("{:x}\r\n", chunk.len()).as_bytes())?;
            self.send(chunk)?;
            self.send(b"\r\n")?;
        }
        self.send(b"0\r\n\r\n")
    }

    /// Reads one complete response.
    pub(crate) fn answer(&mut self, to_head: bool) -> io::Result<Answer> {
        let (status, headers) = self.head()?;
        let mut body = Vec::new();
        if !to_head && status != 204 && status != 304 {
            self.body(&headers).read_to_end(&mut body)?;
        }
        Ok(Answer { status, headers, body })
    }

    /// Reads the status and headers of a response.
    pub(crate) fn head(&mut self) -> io::Result<(u16, Vec<(String, String)>)> {
        let first = self.line()?;
        let wrong = || io::Error::new(io::ErrorKind::InvalidData, format!("no status line: {first:?}"));
        let status = first.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)).ok_or_else(wrong)?;
        let status = status.parse().map_err(|_| wrong())?;
        let mut headers = Vec::new();
        loop {
            let line = self.line()?;
            if line.is_empty() {
                return Ok((status, headers));
            }
            let (name, value) = line.split_once(':').expect("a header has a name");
            headers.push((name.to_owned(), value.trim().to_owned()));
        }
    }

    /// Returns a reader for the body that follows these headers.
    pub(crate) fn body(&mut self, headers: &[(String, String)]) -> Body<'_> {
        let header = |name: &str| {
            headers.iter().find(|(given, _)| given.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
        };
        let framing = match (header("transfer-encoding"), header("content-length")) {
            (Some("chunked"), None) => Framing::Chunked { left: 0, first: true, ended: false },
            (None, Some(length)) => Framing::Length(length.parse().expect("a length is a number")),
            (None, None) => Framing::Close,
            both => panic!("a body is framed in one way: {both:?}"),
        };
        Body { reader: &mut self.reader, framing }
    }

    /// Returns whether response data has arrived, without waiting or consuming it.
    pub(crate) fn is_answered(&self) -> bool {
        let stream = self.reader.get_ref();
        stream.set_nonblocking(true).expect("the connection is open");
        let peeked = stream.peek(&mut [0]);
        stream.set_nonblocking(false).expect("the connection is open");
        !self.reader.buffer().is_empty() || peeked.is_ok_and(|length| length > 0)
    }

    /// Returns whether the service has closed the connection.
    pub(crate) fn is_closed(&mut self) -> bool {
        match self.reader.fill_buf() {
            Ok(rest) => rest.is_empty(),
            Err(error) => error.kind() == io::ErrorKind::ConnectionReset,
        }
    }

    /// Reads until the service closes the connection.
    pub(crate) fn read_to_end(&mut self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        match self.reader.read_to_end(&mut bytes) {
            Err(error) if error.kind() != io::ErrorKind::ConnectionReset => Err(error),
            Ok(_) | Err(_) => Ok(bytes),
        }
    }

    fn line(&mut self) -> io::Result<String> {
        read_line(&mut self.reader)
    }
}

fn read_line(reader: &mut BufReader<TcpStream>) -> io::Result<String> {
    let mut line = Vec::new();
    if reader.read_until(b'\n', &mut line)? == 0 || line.pop() != Some(b'\n') {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    assert_eq!(line.pop(), Some(b'\r'), "a line ends with CR LF");
    String::from_utf8(line).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

enum Framing {
    Length(u64),
    Chunked { left: u64, first: bool, ended: bool },
    Close,
}

/// The body of a response.
pub(crate) struct Body<'a> {
    reader: &'a mut BufReader<TcpStream>,
    framing: Framing,
}

impl Read for Body<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.framing {
            Framing::Close => self.reader.read(buffer),
            Framing::Length(left) => {
                let read = Read::take(&mut *self.reader, *left).read(buffer)?;
                if read == 0 && *left > 0 && !buffer.is_empty() {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                *left -= read as u64;
                Ok(read)
            }
            Framing::Chunked { ended: true, .. } => Ok(0),
            Framing::Chunked { left, first, ended } => {
                if *left == 0 {
                    if !std::mem::take(first) {
                        assert_eq!(read_line(self.reader)?, "", "a chunk ends with a line end");
                    }
                    let size = read_line(self.reader)?;
                    *left = u64::from_str_radix(&size, 16).expect("a chunk says how long it is");
                    if *left == 0 {
                        assert_eq!(read_line(self.reader)?, "", "no trailers are sent");
                        *ended = true;
                        return Ok(0);
                    }
                }
                let read = Read::take(&mut *self.reader, *left).read(buffer)?;
                if read == 0 && !buffer.is_empty() {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                *left -= read as u64;
                Ok(read)
            }
        }
    }
}

/// Percent-encodes a text for a query string.
pub(crate) fn encoded(text: &str) -> String {
    use std::fmt::Write as _;
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

/// Returns a target with these query parameters.
pub(crate) fn target(path: &str, parameters: &[(&str, &str)]) -> String {
    let pairs: Vec<String> = parameters.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect();
    if pairs.is_empty() { path.to_owned() } else { format!("{path}?{}", pairs.join("&")) }
}
