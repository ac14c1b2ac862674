//! An agent: a client of the protocol, independent of the program's types.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

use crate::cli::command;
use crate::support::service::Service;

/// Response timeout: generous.
const PATIENCE: Duration = Duration::from_mins(2);

/// A running `timenav mcp` with a client.
pub(super) struct Agent {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    next_id: u64,
    /// Received messages that were not requested yet.
    unread: Vec<Value>,
    /// Everything received.
    output: String,
}

impl Agent {
    /// Starts a session.
    pub(super) fn begun(service: &Service, arguments: &[&str]) -> Self {
        let mut agent = Self::unbegun(service, arguments);
        agent.begin("2025-06-18");
        agent
    }

    /// Starts the program without a session.
    pub(super) fn unbegun(service: &Service, arguments: &[&str]) -> Self {
        Self::spawn(&mut command(service, &[&["mcp"], arguments].concat()))
    }

    /// Starts the program with a command.
    pub(super) fn spawn(command: &mut Command) -> Self {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in stdout.lines() {
                let Ok(line) = line else { return };
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let stdin = child.stdin.take();
        Self { child, stdin, lines, next_id: 0, unread: Vec::new(), output: String::new() }
    }

    /// Initializes the session and returns the server information.
    pub(super) fn begin(&mut self, version: &str) -> Value {
        let about = json!({ "name": "test", "version": "1" });
        let request = json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": about });
        let begun = self.ask("initialize", &request)["result"].clone();
        self.write(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        begun
    }

    /// Sends a request and returns its id.
    pub(super) fn sent(&mut self, method: &str, params: &Value) -> Value {
        self.next_id += 1;
        self.write(&json!({ "jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params }));
        self.next_id.into()
    }

    /// Sends a request and returns the complete response.
    pub(super) fn ask(&mut self, method: &str, params: &Value) -> Value {
        let id = self.sent(method, params);
        self.answer(&id)
    }

    /// Waits for the response to a request.
    pub(super) fn answer(&mut self, id: &Value) -> Value {
        self.wait(|message| message["id"] == *id)
    }

    /// Waits for a notification.
    pub(super) fn notified(&mut self, method: &str) -> Value {
        self.wait(|message| message["method"] == method)
    }

    /// Calls a tool and returns the result.
    #[track_caller]
    pub(super) fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let answer = self.ask("tools/call", &json!({ "name": tool, "arguments": arguments }));
        assert!(answer["error"].is_null(), "{tool} {arguments}: {answer}");
        answer["result"].clone()
    }

    /// Calls a tool that succeeds and returns its response.
    #[track_caller]
    pub(super) fn done(&mut self, tool: &str, arguments: &Value) -> Value {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], false, "{tool} {arguments}: {result}");
        result["structuredContent"].clone()
    }

    /// Calls a tool that fails and returns its message.
    #[track_caller]
    pub(super) fn refused(&mut self, tool: &str, arguments: &Value) -> String {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], true, "{tool} {arguments}: {result}");
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }

    /// Returns whether a response to the request is among the received messages.
    pub(super) fn is_answered(&self, id: &Value) -> bool {
        self.output.lines().any(|line| serde_json::from_str::<Value>(line).is_ok_and(|message| message["id"] == *id))
    }

    /// Writes a message.
    pub(super) fn write(&mut self, message: &Value) {
        self.write_bytes(format!("{message}\n").as_bytes());
    }

    /// Writes arbitrary bytes.
    pub(super) fn write_bytes(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(bytes).unwrap();
        stdin.flush().unwrap();
    }

    /// Ends the session like a host does. Returns all output on stdout and stderr.
    pub(super) fn ended(mut self) -> (String, String) {
        drop(self.stdin.take());
        let status = self.child.wait().unwrap();
        let mut stderr = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        assert!(status.success(), "{status}: {stderr}");
        while let Ok(line) = self.lines.recv() {
            self.output += &line;
            self.output.push('\n');
        }
        (std::mem::take(&mut self.output), stderr)
    }

    #[track_caller]
    fn wait(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        if let Some(index) = self.unread.iter().position(&is_it) {
            return self.unread.remove(index);
        }
        loop {
            let line = self.lines.recv_timeout(PATIENCE).expect("the program answers");
            self.output += &line;
            self.output.push('\n');
            let message: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
            if is_it(&message) {
                return message;
            }
            self.unread.push(message);
        }
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        // It may have exited already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
