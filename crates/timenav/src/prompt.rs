//! Prompts for passwords and keys, which are not echoed and never part of a command line.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write as _};

use anyhow::{Context as _, bail};
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use timenav_core::limits::PASSWORD_BYTES_MAX;
use zeroize::Zeroizing;

/// Maximum length of a line, in bytes. Longer input is not a valid password; the service rejects it.
const LINE_BYTES_MAX: u64 = 2 * PASSWORD_BYTES_MAX as u64;

/// Fails if the line is empty.
pub(crate) fn line_of_stdin() -> anyhow::Result<Zeroizing<String>> {
    line_of(io::stdin().lock(), "stdin")
}

/// Prompts twice. Fails if the two passwords differ or there is no terminal.
pub(crate) fn new_password(user_id: &str) -> anyhow::Result<Zeroizing<String>> {
    let mut terminal = Terminal::open().context("no terminal for a prompt; give the password with --stdin")?;
    let first = terminal.ask(&format!("New password for {user_id}: "))?;
    let second = terminal.ask("Repeat it: ")?;
    if *first != *second {
        bail!("the passwords differ; nothing was changed");
    }
    Ok(first)
}

pub(crate) fn api_key(profile: &str) -> anyhow::Result<Zeroizing<String>> {
    let mut terminal =
        Terminal::open().context("no terminal for a prompt; give the key with --key - or --key @FILE")?;
    terminal.ask(&format!("API key of {profile}: "))
}

/// Prompts twice for a new key; fails if the two differ.
pub(crate) fn encryption_key(is_new: bool) -> anyhow::Result<Zeroizing<String>> {
    let mut terminal = Terminal::open().context("no terminal for a prompt; give the key with --key-file")?;
    let first = terminal.ask("Encryption key: ")?;
    if is_new && *first != *terminal.ask("Repeat it: ")? {
        bail!("the keys differ; nothing was sealed");
    }
    Ok(first)
}

/// The controlling terminal, even if stdin is redirected. Echo is restored on drop.
struct Terminal {
    reader: BufReader<File>,
    before: Termios,
}

impl Terminal {
    fn open() -> io::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).open("/dev/tty")?;
        let before = tcgetattr(&file)?;
        let mut silent = before.clone();
        silent.local_modes.remove(LocalModes::ECHO);
        silent.local_modes.insert(LocalModes::ECHONL);
        tcsetattr(&file, OptionalActions::Flush, &silent)?;
        Ok(Self { reader: BufReader::new(file), before })
    }

    fn ask(&mut self, question: &str) -> anyhow::Result<Zeroizing<String>> {
        self.reader.get_mut().write_all(question.as_bytes()).context("the terminal cannot be written")?;
        line_of(&mut self.reader, "the terminal")
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // There is no other place to report a failure.
        let _ = tcsetattr(self.reader.get_ref(), OptionalActions::Flush, &self.before);
    }
}

fn line_of(reader: impl BufRead, from: &str) -> anyhow::Result<Zeroizing<String>> {
    let mut line = Zeroizing::new(String::new());
    reader.take(LINE_BYTES_MAX).read_line(&mut line).with_context(|| format!("{from} cannot be read"))?;
    let length = line.trim_end_matches(['\r', '\n']).len();
    line.truncate(length);
    if line.is_empty() {
        bail!("nothing was given on {from}");
    }
    Ok(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompt_line_keeps_blanks_without_the_line_end() {
        let check = |input: &str, expected: Option<&str>| {
            let line = line_of(input.as_bytes(), "stdin").ok();
            assert_eq!(line.as_ref().map(|line| line.as_str()), expected, "{input:?}");
        };
        check("open sesame\n", Some("open sesame"));
        check("open sesame\r\nmore\n", Some("open sesame"));
        check(" open sesame ", Some(" open sesame "));
        check("", None);
        check("\n", None);
    }
}
