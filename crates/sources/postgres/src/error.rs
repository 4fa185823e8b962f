//! What was being done, what the server said, and what to do about it.

use std::error::Error as _;
use std::fmt::Write;

use postgres::error::SqlState;
use wiremark_core::{Error, ErrorKind};

/// A URL that cannot be read. It is not shown: who makes a mistake in it has put a password
/// where we do not look for one.
#[cold]
pub(crate) fn is_no_url() -> Error {
    Error::data(
        "PostgreSQL's URL cannot be read (it is not shown, as it may hold a password): expected \
         `postgresql://user:password@host:port/database`, with %40 for an @ in the password",
    )
}

#[cold]
pub(crate) fn doing(what: &str, error: postgres::Error) -> Error {
    let mut message = format!("PostgreSQL cannot {what}: ");
    if let Some(said) = error.as_db_error() {
        message.push_str(said.message());
        for more in [said.detail(), said.hint()].into_iter().flatten() {
            let _ = write!(message, "; {more}");
        }
    } else {
        let _ = write!(message, "{error}");
        let mut cause = error.source();
        while let Some(deeper) = cause {
            let _ = write!(message, ": {deeper}");
            cause = deeper.source();
        }
    }
    if let Some(cure) = cure(what, error.code()) {
        let _ = write!(message, " ({cure})");
    }
    let kind = match error.code() {
        // Class 22 are data that no column takes, class 23 what the table's rules forbid.
        Some(code) if matches!(code.code().get(..2), Some("22" | "23")) => {
            ErrorKind::Data
        }
        _ => ErrorKind::Io,
    };
    Error::wrap(kind, error).saying(message)
}

fn cure(what: &str, code: Option<&SqlState>) -> Option<&'static str> {
    let Some(code) = code else {
        return (what == "connect").then_some(
            "is a server listening at the URL's host and port? TLS is not spoken here",
        );
    };
    let cures = [
        (SqlState::INVALID_PASSWORD, "the URL's user or password is wrong"),
        (
            SqlState::INVALID_AUTHORIZATION_SPECIFICATION,
            "the URL's user is wrong, or pg_hba.conf does not let it in without TLS",
        ),
        (SqlState::INVALID_CATALOG_NAME, "`createdb` makes the database of the URL"),
        (
            SqlState::INSUFFICIENT_PRIVILEGE,
            "`grant create on database … to …` lets the URL's user make a schema",
        ),
        (SqlState::TOO_MANY_CONNECTIONS, "try again when others have left"),
    ];
    cures.into_iter().find(|(known, _)| known == code).map(|(_, cure)| cure)
}
