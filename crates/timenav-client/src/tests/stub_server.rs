//! A server with scripted responses, for failures that a real service does not produce on demand.

use std::fmt::Write as _;
use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// Sends one response after the other, each on its own connection. An empty response closes the connection.
pub(super) struct StubServer {
    address: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl StubServer {
    pub(super) async fn start(responses: Vec<String>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let requests: Arc<Mutex<Vec<String>>> = Arc::default();
        let received = Arc::clone(&requests);
        tokio::spawn(async move {
            for response in responses {
                let (mut connection, _) = listener.accept().await.unwrap();
                let request = read(&mut connection).await;
                received.lock().push(request);
                connection.write_all(response.as_bytes()).await.unwrap();
                connection.shutdown().await.unwrap();
            }
        });
        Self { address, requests }
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(super) fn requests(&self) -> Vec<String> {
        self.requests.lock().clone()
    }
}

pub(super) async fn read(connection: &mut TcpStream) -> String {
    let mut text = String::new();
    loop {
        let mut bytes = [0; 4096];
        let count = connection.read(&mut bytes).await.unwrap();
        text.push_str(std::str::from_utf8(&bytes[..count]).unwrap());
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length =
            head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
        if count == 0 || body.len() >= length.unwrap_or(0) {
            return text;
        }
    }
}

pub(super) fn response(status: u16, headers: &[(&str, &str)], body: &Value) -> String {
    let body = body.to_string();
    let mut text = format!("HTTP/1.1 {status} Status\r\nContent-Length: {}\r\nConnection: close\r\n", body.len());
    for (name, value) in headers {
        let _ = write!(text, "{name}: {value}\r\n");
    }
    text + "\r\n" + &body
}
