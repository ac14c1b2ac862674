//! An agent: a client of the protocol that knows nothing of the program's types.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

use crate::cli::command;
use crate::service::Service;

/// How long an answer may take: much longer than any does.
const PATIENCE: Duration = Duration::from_mins(2);

/// A running `timenav mcp`, and who talks to it.
pub(super) struct Agent {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    next_id: u64,
    /// Messages that nobody has asked for yet.
    kept: Vec<Value>,
    /// All that was told.
    told: String,
}

impl Agent {
    /// Starts a session.
    pub(super) fn begun(service: &Service, arguments: &[&str]) -> Self {
        let mut agent = Self::unbegun(service, arguments);
        agent.begin("2025-06-18");
        agent
    }

    /// Starts the program, and says nothing to it.
    pub(super) fn unbegun(service: &Service, arguments: &[&str]) -> Self {
        let mut command = command(service, &[&["mcp"], arguments].concat());
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
        Self { child, stdin, lines, next_id: 0, kept: Vec::new(), told: String::new() }
    }

    /// Begins the session, and returns what the server says of itself.
    pub(super) fn begin(&mut self, version: &str) -> Value {
        let about = json!({ "name": "test", "version": "1" });
        let asked = json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": about });
        let begun = self.ask("initialize", &asked)["result"].clone();
        self.write(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        begun
    }

    /// Sends a request and returns its id.
    pub(super) fn sent(&mut self, method: &str, params: &Value) -> Value {
        self.next_id += 1;
        self.write(&json!({ "jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params }));
        self.next_id.into()
    }

    /// Sends a request and returns the whole answer.
    pub(super) fn ask(&mut self, method: &str, params: &Value) -> Value {
        let id = self.sent(method, params);
        self.answer(&id)
    }

    /// Waits for the answer to a request.
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

    /// Calls a tool that does what it is asked, and returns its answer.
    #[track_caller]
    pub(super) fn done(&mut self, tool: &str, arguments: &Value) -> Value {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], false, "{tool} {arguments}: {result}");
        result["structuredContent"].clone()
    }

    /// Calls a tool that does not do what it is asked, and returns what it says.
    #[track_caller]
    pub(super) fn refused(&mut self, tool: &str, arguments: &Value) -> String {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], true, "{tool} {arguments}: {result}");
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }

    /// Returns the names of the tools, and the tools.
    pub(super) fn tools(&mut self) -> (Vec<String>, Vec<Value>) {
        let tools = self.ask("tools/list", &json!({}))["result"]["tools"].as_array().unwrap().clone();
        (tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect(), tools)
    }

    /// Returns whether a request was answered, as far as everything that was told goes.
    pub(super) fn is_answered(&self, id: &Value) -> bool {
        self.told.lines().any(|line| serde_json::from_str::<Value>(line).is_ok_and(|message| message["id"] == *id))
    }

    /// Writes a message.
    pub(super) fn write(&mut self, message: &Value) {
        self.write_bytes(format!("{message}\n").as_bytes());
    }

    /// Writes whatever it is.
    pub(super) fn write_bytes(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(bytes).unwrap();
        stdin.flush().unwrap();
    }

    /// Ends the session as a host does, and returns all that was told on stdout and on stderr.
    pub(super) fn ended(mut self) -> (String, String) {
        drop(self.stdin.take());
        let status = self.child.wait().unwrap();
        let mut said = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert!(status.success(), "{status}: {said}");
        while let Ok(line) = self.lines.recv() {
            self.told += &line;
            self.told.push('\n');
        }
        (std::mem::take(&mut self.told), said)
    }

    #[track_caller]
    fn wait(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        if let Some(index) = self.kept.iter().position(&is_it) {
            return self.kept.remove(index);
        }
        loop {
            let line = self.lines.recv_timeout(PATIENCE).expect("the program answers");
            self.told += &line;
            self.told.push('\n');
            let message: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
            if is_it(&message) {
                return message;
            }
            self.kept.push(message);
        }
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        // One that has ended stays so.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
