use clap::Args;
use serde_json::json;

use crate::{
    context::Context,
    exit::Exit,
    failure::Failure,
    store::{At, InboxArgument},
    text::escape,
};

pub(super) const HELP: &str = "\
The role of the URL owns the tables. Receivers and workers need no right to create: give theirs with --grant, also to a role that \
is added later. Nodes of the version before work on.";

#[derive(Debug, Args)]
pub(super) struct MigrateArguments {
    /// The inbox: a PostgreSQL URL, or env:NAME for a variable with one
    #[arg(value_name = "INBOX")]
    inbox: InboxArgument,
    /// Give this role every right that receivers and workers need
    #[arg(long, value_name = "ROLE")]
    grant: Option<String>,
    /// Print the SQL that makes the tables where there are none, and do nothing
    #[arg(long)]
    sql: bool,
}

impl MigrateArguments {
    /// Whether it only prints.
    pub(super) fn only_prints(&self) -> bool {
        self.sql
    }
}

pub(super) async fn run(arguments: MigrateArguments, context: &Context) -> Result<Exit, Failure> {
    let place = arguments.inbox.place(&context.environment)?;
    let role = arguments.grant.as_deref();
    match &place.at {
        At::File(_) => {
            Err(Failure::usage("an inbox in a file is brought up to this version by its receiver")
                .fix("name a PostgreSQL URL, or env:NAME for a variable with one"))
        }
        #[cfg(feature = "postgres")]
        At::Postgres(database) if arguments.sql => {
            let sql = database.migration_sql(role)?;
            let json = json!({ "schema": database.schema(), "granted_to": role, "sql": sql });
            context.output.either(&json, sql.trim_end())?;
            Ok(Exit::Done)
        }
        #[cfg(feature = "postgres")]
        At::Postgres(database) => {
            let work = database.migrate(role);
            context.output.during("migrating", work).await?;
            let mut line =
                format!("the tables in the schema {} are of this version", database.schema());
            if let Some(role) = role {
                line = format!("{line}, and {} may use them", escape::line(role));
            }
            context
                .output
                .either(&json!({ "schema": database.schema(), "granted_to": role }), &line)?;
            Ok(Exit::Done)
        }
    }
}
