mod pooler;
#[cfg(feature = "tls")]
mod tls;

use std::{io, time::Duration};

use article_webhook_inbox::Error;
use tokio_postgres::error::SqlState;

/// A server that answers, and is the wrong one. A failover ends this by itself.
const READ_ONLY: &str = "PostgreSQL allows no writing, because it is a standby or default_transaction_read_only is on: \
    connect to the primary server, or turn that setting off for the role";

const UNREACHABLE: &str =
    "PostgreSQL cannot be reached: start it, or correct the host and the port of the URL";

const NO_PASSWORD: &str = "PostgreSQL asks for a password, and the URL has none: write \
    postgresql://USER:PASSWORD@HOST:PORT/DATABASE";

/// What the connection says that is asked to send the password as it is.
pub(crate) const CLEARTEXT_PASSWORD: &str = "PostgreSQL asks for the password in clear text, and the connection to its machine is \
    not encrypted: use TLS, without sslmode=disable in the URL, or scram-sha-256 in pg_hba.conf";

pub(crate) const NO_NUMBER: &str = "PostgreSQL has no number left for a new row";

pub(crate) const SET_SEQUENCE: &str = "set the sequence to the largest id in the tables, by the statement on the guide's page \
    postgres_operations";

/// Why a transaction has not committed, as far as is known.
///
/// What an operator must change refuses a start ([`refusal`](Self::refusal)). Later it is an outage like any other, which
/// ends by itself once it was changed: a password that is rotated, a database that is being restored, a right that is given
/// again.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The driver or the server reports it of a statement.
    Driver(tokio_postgres::Error),
    /// No connection could be made.
    Connecting(tokio_postgres::Error),
    /// The server, its settings or the tables are not what the inbox needs. The text says what to change.
    Unsuitable(String),
    /// The server allows no writing.
    ReadOnly,
    /// An answer of the server lacks a row that it always has.
    Vanished,
    /// A row that was just read is another one now, or a trigger or a rule keeps it as it was.
    NotWritten,
    /// A cause of our own.
    Ours(Error),
}

impl Fault {
    /// How often a transaction with this fault is tried in all. One that was the victim of a conflict, or has lost a row that it
    /// had just read, may succeed at once: each time another transaction has come further.
    pub(crate) fn attempts(&self) -> u32 {
        match self {
            Self::Driver(error) => match error.code() {
                Some(&SqlState::T_R_SERIALIZATION_FAILURE | &SqlState::T_R_DEADLOCK_DETECTED) => 3,
                _ => 1,
            },
            Self::NotWritten => 3,
            Self::Connecting(_)
            | Self::Unsuitable(_)
            | Self::ReadOnly
            | Self::Vanished
            | Self::Ours(_) => 1,
        }
    }

    /// Whether a value of the call was refused: that says nothing of the store.
    pub(crate) fn is_of_the_values(&self) -> bool {
        self.error().is_invalid()
    }

    /// Whether a statement failed with a code of this class.
    fn is_of_class(&self, class: &str) -> bool {
        matches!(self, Self::Driver(error) if error.code().is_some_and(|code| code.code().starts_with(class)))
    }

    /// Whether a statement names an object that is not there, such as a role.
    pub(crate) fn is_undefined_object(&self) -> bool {
        matches!(self, Self::Driver(error) if error.code() == Some(&SqlState::UNDEFINED_OBJECT))
    }

    /// Whether the server, the database or the role has as many connections as it may have.
    pub(crate) fn is_too_many_connections(&self) -> bool {
        matches!(self, Self::Connecting(error) if error.code() == Some(&SqlState::TOO_MANY_CONNECTIONS))
    }

    /// Whether a transaction of another program held a row for too long.
    pub(crate) fn is_locked(&self) -> bool {
        matches!(self, Self::Driver(error) if error.code() == Some(&SqlState::LOCK_NOT_AVAILABLE))
    }

    /// Whether one call of several may be the cause: the others may succeed without it.
    pub(crate) fn may_be_of_one_call(&self) -> bool {
        let is_unreadable = matches!(self, Self::Driver(error) if is_unreadable(error));
        // Something that cannot be read, or a constraint of others.
        let is_of_a_row = is_unreadable || self.is_of_class("XX") || self.is_of_class("23");
        self.is_locked() || is_of_a_row || self.is_of_the_values()
    }

    /// A host that cannot be found.
    pub(crate) fn unreachable(error: io::Error) -> Self {
        Self::Ours(Error::unavailable(UNREACHABLE).because(error))
    }

    /// The error of a start: not transient, if an operator must change something.
    pub(crate) fn refusal(&self) -> Error {
        if self.needs_an_operator() {
            Error::unusable(self.error().to_string())
        } else {
            self.error()
        }
    }

    /// The error of a call.
    pub(crate) fn error(&self) -> Error {
        match self {
            Self::Driver(error) => of_statement(error),
            Self::Connecting(error) => of_connecting(error),
            Self::Unsuitable(what) => Error::unavailable(what),
            Self::ReadOnly => Error::unavailable(READ_ONLY),
            Self::Vanished => Error::unavailable("PostgreSQL gave an answer without a row"),
            Self::NotWritten => Error::unavailable(
                "PostgreSQL has not written a row of the inbox: another program changes the row at the same time, or a trigger or a \
                 rule prevents it: drop that trigger or rule",
            ),
            Self::Ours(error) => error.clone(),
        }
    }

    /// How much it says, of several hosts that refuse a connection.
    pub(crate) fn weight(&self) -> u8 {
        let answers = match self {
            Self::Connecting(error) => {
                error.as_db_error().is_some() || is_read_only(error) || lacks_a_password(error)
            }
            other => matches!(other, Self::ReadOnly),
        };
        u8::from(answers) + 2 * u8::from(self.needs_an_operator())
    }

    fn needs_an_operator(&self) -> bool {
        match self {
            // A role without a right, a table that is not there.
            Self::Driver(error) => {
                self.is_of_class("42") || error.as_db_error().is_some_and(pooler::needs_an_operator)
            }
            Self::Connecting(error) => {
                let codes = ["28P01", "28000", "3D000", "42501"];
                lacks_a_password(error)
                    || asks_for_cleartext(error)
                    || error.code().is_some_and(|code| codes.contains(&code.code()))
                    || error.as_db_error().is_some_and(pooler::needs_an_operator)
            }
            Self::Unsuitable(_) => true,
            Self::ReadOnly | Self::Vanished | Self::NotWritten | Self::Ours(_) => false,
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
            Fault::Ours(error) => error,
            fault => fault.error(),
        }
    }
}

/// The error of a statement. The server's own sentence is reported where it is about names, rights and room, and not where it may
/// quote a value.
fn of_statement(error: &tokio_postgres::Error) -> Error {
    let Some(answer) = error.as_db_error() else {
        if is_unreadable(error) {
            return Error::unavailable(
                "PostgreSQL has stored a value that cannot be read: undo what was changed in the tables",
            )
            .because(error.to_string());
        }
        return Error::unavailable("the connection to PostgreSQL is lost")
            .because(error.to_string());
    };
    if let Some(refused) = pooler::refusal(answer) {
        return Error::unavailable(refused);
    }
    let (code, sentence) = (answer.code().code(), answer.message());
    let message = match (answer.code(), &code[..2]) {
        (&SqlState::LOCK_NOT_AVAILABLE, _) => {
            "another transaction holds the entry: if it is of another program, end it; if it is a COMMIT of the inbox, bring back \
             the standby that it waits for"
                .to_owned()
        }
        (&SqlState::QUERY_CANCELED, _) => {
            "PostgreSQL took too long, or an administrator cancelled the statement".to_owned()
        }
        (&SqlState::DISK_FULL, _) => {
            format!("the disk of PostgreSQL is full: {sentence}: make room")
        }
        (&SqlState::READ_ONLY_SQL_TRANSACTION, _) => READ_ONLY.to_owned(),
        (
            &SqlState::ADMIN_SHUTDOWN | &SqlState::CRASH_SHUTDOWN | &SqlState::IDLE_SESSION_TIMEOUT,
            _,
        ) => {
            "PostgreSQL has ended the connection, because it stops, or because an administrator wants it".to_owned()
        }
        (&SqlState::SEQUENCE_GENERATOR_LIMIT_EXCEEDED, _) => {
            format!("{NO_NUMBER}: {sentence}: {SET_SEQUENCE}")
        }
        // A dump that was restored without the sequence, or a logical replica.
        (&SqlState::UNIQUE_VIOLATION, _) if is_of_the_inbox(answer.constraint()) => {
            format!("PostgreSQL gives a new row a number that another row has: {sentence}: {SET_SEQUENCE}")
        }
        (_, "42" | "55") => format!(
            "PostgreSQL refuses a statement: {sentence}: undo what was changed in the tables, or in the rights of the role"
        ),
        (_, "23") => format!(
            "PostgreSQL refuses a row of the inbox: {sentence}: drop the constraint, which is not of the inbox"
        ),
        (_, "3F") => {
            "the schema of the inbox is not there, or the role may not use it: restore it, or grant USAGE"
                .to_owned()
        }
        (_, "P0") => {
            "PostgreSQL has not written a row of the inbox: drop the trigger or the rule that prevents it"
                .to_owned()
        }
        (_, "XX") => {
            "PostgreSQL cannot read what it has stored: restore the server from a backup, or fail over to a standby"
                .to_owned()
        }
        (_, "53") => {
            format!("PostgreSQL refuses a statement: {sentence}: look at its log and its limits")
        }
        (_, "22" | "54") => {
            return Error::invalid(format!("PostgreSQL cannot store a value (SQLSTATE {code})"));
        }
        _ => "PostgreSQL refuses a statement".to_owned(),
    };
    Error::unavailable(format!("{message} (SQLSTATE {code})"))
}

/// Whether a constraint is one of the inbox's own, by its name.
fn is_of_the_inbox(constraint: Option<&str>) -> bool {
    constraint.is_some_and(|name| name.starts_with("article_inbox_"))
}

/// The error of a connection that could not be made. The server's own text names the role and the database, and no
/// password.
fn of_connecting(error: &tokio_postgres::Error) -> Error {
    #[cfg(feature = "tls")]
    if let Some(failure) = tls::tls_failure(error) {
        return Error::unavailable(failure).because(error.to_string());
    }
    let Some(answer) = error.as_db_error() else {
        if is_read_only(error) {
            return Error::unavailable(READ_ONLY);
        }
        if lacks_a_password(error) {
            return Error::unavailable(NO_PASSWORD);
        }
        if asks_for_cleartext(error) {
            return Error::unavailable(CLEARTEXT_PASSWORD);
        }
        let cause = std::error::Error::source(error).map(ToString::to_string);
        let cause = cause.map_or_else(|| error.to_string(), |cause| format!("{error}: {cause}"));
        return Error::unavailable(UNREACHABLE).because(cause);
    };
    if let Some(refused) = pooler::refusal(answer) {
        return Error::unavailable(refused);
    }
    let remedy = match *answer.code() {
        SqlState::INVALID_PASSWORD | SqlState::INVALID_AUTHORIZATION_SPECIFICATION => {
            "correct the role and the password of the URL, or pg_hba.conf"
        }
        SqlState::INVALID_CATALOG_NAME => "create the database, or correct its name in the URL",
        SqlState::TOO_MANY_CONNECTIONS => {
            "raise max_connections, or the limit of the role or the database, or make the pools smaller"
        }
        SqlState::CANNOT_CONNECT_NOW => "try again, because it is starting or stopping",
        _ => "correct the URL or the server",
    };
    Error::unavailable(format!("PostgreSQL refuses the connection: {}: {remedy}", answer.message()))
}

/// The driver's own finding about a server that it has reached, where the URL asks for one that allows writing. It has no
/// number, which the system's would have.
fn is_read_only(error: &tokio_postgres::Error) -> bool {
    let source = std::error::Error::source(error);
    source.and_then(|source| source.downcast_ref::<io::Error>()).is_some_and(|found| {
        found.kind() == io::ErrorKind::PermissionDenied && found.raw_os_error().is_none()
    })
}

/// Whether the server has answered, and a value of its answer is none of its type.
fn is_unreadable(error: &tokio_postgres::Error) -> bool {
    let cause = std::error::Error::source(error);
    let is_of_the_connection =
        error.is_closed() || cause.is_some_and(<dyn std::error::Error>::is::<io::Error>);
    error.code().is_none() && !is_of_the_connection
}

/// Whether the server asked for a password that the URL does not have. The driver has no other sign of it.
fn lacks_a_password(error: &tokio_postgres::Error) -> bool {
    is_caused_by(error, "password missing")
}

fn asks_for_cleartext(error: &tokio_postgres::Error) -> bool {
    is_caused_by(error, CLEARTEXT_PASSWORD)
}

fn is_caused_by(error: &tokio_postgres::Error, text: &str) -> bool {
    std::error::Error::source(error).is_some_and(|cause| cause.to_string() == text)
}

/// The error of something that took longer than it may.
pub(crate) fn late(what: &str, than: Duration) -> Error {
    match than.as_secs() {
        0 | 1 => Error::unavailable(format!("{what} took longer than a second")),
        seconds => Error::unavailable(format!("{what} took longer than {seconds} seconds")),
    }
}
