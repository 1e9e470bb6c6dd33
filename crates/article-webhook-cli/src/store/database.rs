//! An inbox in PostgreSQL.

use std::time::Duration;

use article_webhook_inbox::{Error, Inbox};
use article_webhook_postgres::{Inboxes, PostgresSettings, PostgresStore, Protection};
use tokio::time::timeout;
use tokio_postgres::{SimpleQueryMessage, SimpleQueryRow};
use zeroize::Zeroizing;

use super::place::{name, parameters};
use crate::failure::{Failure, SEE_HELP};

/// How long a look at the server may take.
const TIMEOUT: Duration = Duration::from_secs(10);

/// How many connections serve a command. A change in bulk uses them all.
const CONNECTIONS: usize = 4;

/// A database, by its URL, which may have a password.
pub(crate) struct Database {
    url: Zeroizing<String>,
    schema: String,
}

impl Database {
    /// `schema` in the URL names the schema of the inbox's tables. PostgreSQL has no such parameter.
    pub(crate) fn new(url: &str) -> Result<Self, Failure> {
        let (of_inbox, of_server): (Vec<_>, Vec<_>) =
            parameters(url).partition(|parameter| name(parameter) == "schema");
        let schema = of_inbox.last().and_then(|parameter| parameter.split_once('='));
        let (place, _) = url.split_once('?').unwrap_or((url, ""));
        let server = if of_server.is_empty() { "" } else { "?" };
        let database = Self {
            url: Zeroizing::new(format!("{place}{server}{}", of_server.join("&"))),
            schema: schema.map_or("public", |(_, schema)| schema).to_owned(),
        };
        database.settings()?;
        Ok(database)
    }

    pub(crate) fn schema(&self) -> &str {
        &self.schema
    }

    fn settings(&self) -> Result<PostgresSettings, Failure> {
        let settings = PostgresSettings::new(&self.url)
            .and_then(|settings| settings.schema(&self.schema))
            .and_then(|settings| settings.working_connections(CONNECTIONS));
        settings.map_err(|error| Failure::of_setting(&error.to_string(), SEE_HELP))
    }

    pub(crate) fn protection(&self) -> Result<Protection, Failure> {
        Ok(self.settings()?.protection())
    }

    /// Makes the tables of the inbox, and gives a role the rights that it needs.
    pub(crate) async fn migrate(&self, role: Option<&str>) -> Result<(), Failure> {
        Ok(self.settings()?.migrate(role).await?)
    }

    /// The SQL that does it.
    pub(crate) fn migration_sql(&self, role: Option<&str>) -> Result<String, Failure> {
        Ok(self.settings()?.migration_sql(role))
    }

    /// Opens the inbox. Makes its tables if they are not there.
    pub(crate) async fn open(&self) -> Result<Inbox, Failure> {
        Ok(Inbox::new(PostgresStore::connect(self.settings()?).await?))
    }

    /// Opens the inbox if its tables are there.
    pub(crate) async fn existing(&self) -> Result<Inbox, Failure> {
        self.check_tables().await?;
        self.open().await
    }

    /// Opens the inbox to read it, with the rights to read alone, if its tables are there.
    pub(crate) async fn read(&self) -> Result<Inbox, Failure> {
        self.check_tables().await?;
        Ok(Inbox::new(PostgresStore::connect(self.settings()?.read_only()).await?))
    }

    async fn check_tables(&self) -> Result<(), Failure> {
        let inboxes = self.inboxes().await?;
        if inboxes.is_here { Ok(()) } else { Err(self.without_tables(&inboxes)) }
    }

    /// An inbox elsewhere may be the one that is meant, after its schema was renamed.
    pub(crate) fn without_tables(&self, Inboxes { elsewhere, .. }: &Inboxes) -> Failure {
        let what = format!("the database has no inbox in the schema {}", self.schema);
        if elsewhere.is_empty() {
            return Failure::from(Error::unusable(what)).fix(
                "check the URL, and ?schema=NAME; `inbox migrate` makes the tables, and so does a receiver whose role may",
            );
        }
        Failure::from(Error::unusable(format!("{what}, and has one in {elsewhere}"))).fix(
            "rename its schema back, or name that with ?schema=NAME; `inbox migrate` makes an empty inbox",
        )
    }

    pub(crate) async fn inboxes(&self) -> Result<Inboxes, Failure> {
        let settings = self.settings()?;
        answered(settings.inboxes()).await
    }

    /// The row that a statement returns. It runs on a connection of its own, without what the inbox sets.
    pub(crate) async fn row(&self, statement: &str) -> Result<SimpleQueryRow, Failure> {
        let settings = self.settings()?;
        let asked = async {
            let client = settings.client().await?;
            let answer = client.simple_query(statement).await;
            answer.map_err(|error| Error::unavailable(NOT_ASKED).because(error))
        };
        let mut rows = answered(asked).await?.into_iter().filter_map(|message| match message {
            SimpleQueryMessage::Row(row) => Some(row),
            _ => None,
        });
        rows.next().ok_or_else(|| Error::unavailable("PostgreSQL answers without a row").into())
    }
}

const NOT_ASKED: &str = "PostgreSQL cannot be queried";

/// The answer of the server, if it comes soon.
async fn answered<T>(asked: impl Future<Output = Result<T, Error>>) -> Result<T, Failure> {
    let answer = timeout(TIMEOUT, asked).await.map_err(|_| {
        let what = format!("{NOT_ASKED}, and has not answered within 10 seconds");
        Failure::from(Error::unavailable(what)).fix(
            "check the host and the port of the URL, and whether a firewall drops what is sent there",
        )
    })?;
    Ok(answer?)
}
