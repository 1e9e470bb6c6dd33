use std::time::Duration;

use article_inbox::Error;
use tokio_postgres::error::SqlState;

/// Why a transaction has not committed, as far as is known.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The driver or the server reports it.
    Driver(tokio_postgres::Error),
    /// A row that was just read is gone: the transaction is tried again.
    Vanished,
    /// A cause of our own.
    Ours(Error),
}

impl Fault {
    /// Whether the same transaction may succeed at once: the server chose it as the victim of a conflict, or a row is gone.
    pub(crate) fn may_be_retried(&self) -> bool {
        match self {
            Self::Driver(error) => matches!(
                error.code(),
                Some(&SqlState::T_R_SERIALIZATION_FAILURE | &SqlState::T_R_DEADLOCK_DETECTED)
            ),
            Self::Vanished => true,
            Self::Ours(_) => false,
        }
    }

    /// Whether a value of the call was refused, so that other calls of the same transaction may succeed without it.
    pub(crate) fn is_of_the_values(&self) -> bool {
        let class =
            |error: &tokio_postgres::Error| error.code().map(|code| code.code()[..2].to_owned());
        match self {
            // Data exceptions, constraints, and a program's limits, such as a key that is too long for its index.
            Self::Driver(error) => {
                class(error).is_some_and(|class| ["22", "23", "54"].contains(&class.as_str()))
            }
            Self::Vanished => false,
            Self::Ours(error) => error.is_invalid(),
        }
    }
}

impl From<tokio_postgres::Error> for Fault {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Driver(error)
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Ours(error)
    }
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Driver(error) => of_statement(&error),
            Fault::Vanished => Self::unavailable("the entry changes too often: try again"),
            Fault::Ours(error) => error,
        }
    }
}

/// The error of a statement. The server's own text may quote a value, so only its code is told.
fn of_statement(error: &tokio_postgres::Error) -> Error {
    let Some(code) = error.code() else {
        return Error::unavailable("the connection to PostgreSQL is lost")
            .because(error.to_string());
    };
    let told = match *code {
        SqlState::LOCK_NOT_AVAILABLE => {
            "a transaction of another program holds the entry: end it".to_owned()
        }
        SqlState::QUERY_CANCELED => {
            "PostgreSQL took too long, or an administrator cancelled the statement".to_owned()
        }
        SqlState::DISK_FULL => "the disk of PostgreSQL is full: make room".to_owned(),
        SqlState::READ_ONLY_SQL_TRANSACTION => {
            "PostgreSQL allows no writing: connect to the primary server".to_owned()
        }
        _ => return of_code(code),
    };
    Error::unavailable(format!("{told} (SQLSTATE {})", code.code()))
}

fn of_code(code: &SqlState) -> Error {
    let code = code.code();
    match &code[..2] {
        "42" => Error::unusable(format!(
            "PostgreSQL refuses a statement (SQLSTATE {code}): the tables of the inbox or the rights of its role were \
             changed; undo that"
        )),
        "22" | "23" | "54" => {
            Error::invalid(format!("PostgreSQL cannot store a value (SQLSTATE {code})"))
        }
        _ => Error::unavailable(format!("PostgreSQL refuses a statement (SQLSTATE {code})")),
    }
}

/// The error of a connection that could not be made. The server's own text names the role and the database, and no
/// password.
pub(crate) fn of_connecting(error: &tokio_postgres::Error) -> Error {
    let Some(answer) = error.as_db_error() else {
        let cause = std::error::Error::source(error).map(ToString::to_string);
        let cause = cause.map_or_else(|| error.to_string(), |cause| format!("{error}: {cause}"));
        return Error::unavailable(
            "PostgreSQL cannot be reached: start it, or correct the host and the port of the URL",
        )
        .because(cause);
    };
    let mend = match *answer.code() {
        SqlState::INVALID_PASSWORD | SqlState::INVALID_AUTHORIZATION_SPECIFICATION => {
            "correct the role and the password of the URL, or pg_hba.conf"
        }
        SqlState::INVALID_CATALOG_NAME => "create the database, or correct its name in the URL",
        SqlState::TOO_MANY_CONNECTIONS => "raise max_connections, or make the pools smaller",
        SqlState::CANNOT_CONNECT_NOW => "it is starting or stopping: try again",
        _ => "correct the URL or the server",
    };
    let message = format!("PostgreSQL refuses the connection: {}: {mend}", answer.message());
    match answer.code().code() {
        "28P01" | "28000" | "3D000" | "42501" => Error::unusable(message),
        _ => Error::unavailable(message),
    }
}

/// The error of something that took longer than it may.
pub(crate) fn late(what: &str, than: Duration) -> Error {
    Error::unavailable(format!("{what} took longer than {} seconds", than.as_secs()))
}
