//! Displays the clocks: redrawn in place on a terminal, one block per step elsewhere.

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use crate::exit::Failure;
use crate::output::{self, printable};

const STARTING: &str = "starting …";

pub(super) struct Picture {
    terminal: Option<Terminal>,
    names: Vec<&'static str>,
    states: Vec<String>,
}

struct Terminal {
    _lines: MultiProgress,
    step: ProgressBar,
    clocks: Vec<ProgressBar>,
}

impl Terminal {
    fn new(names: &[&'static str]) -> Self {
        let lines = MultiProgress::new();
        let styled = |template: &str| {
            let style = ProgressStyle::with_template(template);
            lines.add(ProgressBar::new_spinner()).with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()))
        };
        let step = styled("{msg:.bold}");
        let clocks = names.iter().map(|name| styled("  {prefix:12} {msg:.cyan}").with_prefix(*name)).collect();
        Self { _lines: lines, step, clocks }
    }
}

impl Picture {
    pub(super) fn new(names: Vec<&'static str>) -> Self {
        let is_terminal = std::io::IsTerminal::is_terminal(&std::io::stderr())
            && std::io::IsTerminal::is_terminal(&std::io::stdout());
        let terminal = is_terminal.then(|| Terminal::new(&names));
        let mut picture = Self { terminal, states: vec![STARTING.to_owned(); names.len()], names };
        for number in 0..picture.names.len() {
            picture.draw(number);
        }
        picture
    }

    /// Shows the latest line of a program: its time or an error.
    pub(super) fn take(&mut self, number: usize, line: &str) {
        let text = printable(line);
        if let Some(states) = self.states.get_mut(number)
            && *states != text
        {
            *states = text;
            self.draw(number);
        }
    }

    pub(super) fn is_complete(&self) -> bool {
        self.states.iter().all(|states| states != STARTING)
    }

    fn draw(&mut self, number: usize) {
        if let (Some(terminal), Some(states)) = (&self.terminal, self.states.get(number))
            && let Some(line) = terminal.clocks.get(number)
        {
            line.set_message(states.clone());
            line.tick();
        }
    }

    pub(super) fn begin(&self, step: &str) {
        if let Some(terminal) = &self.terminal {
            terminal.step.set_message(step.to_owned());
            terminal.step.tick();
        }
    }

    /// Prints the result of a step, if the display is not redrawn in place.
    pub(super) fn end(&self, step: &str) -> Result<(), Failure> {
        if self.terminal.is_some() {
            return Ok(());
        }
        let clocks = self.names.iter().zip(&self.states).map(|(name, states)| format!("  {name:12} {states}\n"));
        output::write(&format!("{step}\n{}", clocks.collect::<String>()))
    }

    pub(super) fn leave(&self) {
        if let Some(terminal) = &self.terminal {
            terminal.step.abandon();
            terminal.clocks.iter().for_each(ProgressBar::abandon);
        }
    }
}
