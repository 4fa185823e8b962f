//! What ends a command early, and with which exit code.

use std::fmt;
use std::process::ExitCode;

/// A sentence for a person and an exit code for a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    message: String,
    code: Code,
}

/// The documented exit codes. What a user can cause has one; the rest is 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Code {
    /// Anything else.
    Other = 1,
    /// The command line does not make sense.
    Usage = 2,
    /// No cell fits the filters.
    NothingSelected = 4,
    /// Some cells failed; the others have figures.
    CellsFailed = 100,
    /// A worker could not be built.
    BuildFailed = 101,
}

impl Problem {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), code: Code::Other }
    }

    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self { message: message.into(), code: Code::Usage }
    }

    pub(crate) fn with(self, code: Code) -> Self {
        Self { code, ..self }
    }

    pub(crate) fn print(&self) {
        crate::remark(&format!("error: {}", self.message));
    }

    pub(crate) fn code(&self) -> ExitCode {
        ExitCode::from(self.code as u8)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Problem {}

/// Adds what was being done to an error.
pub(crate) trait Context<T> {
    fn context(self, what: impl FnOnce() -> String) -> Result<T, Problem>;
}

impl<T, E: fmt::Display> Context<T> for Result<T, E> {
    fn context(self, what: impl FnOnce() -> String) -> Result<T, Problem> {
        self.map_err(|error| Problem::new(format!("{}: {error}", what())))
    }
}
