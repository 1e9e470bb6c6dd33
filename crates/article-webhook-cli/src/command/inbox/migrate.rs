use clap::Args;

use crate::{
    context::Context,
    failure::{Exit, Failure},
    store::{At, InboxArgument},
};
#[cfg(feature = "postgres")]
use crate::{store::Database, text::escape};

pub(super) const HELP: &str = "\
The role of the URL owns the tables. Receivers and workers need no right to create: grant their role its rights with --grant, also when you add a \
role later. Nodes of the previous version keep working.";

#[derive(Debug, Args)]
pub(super) struct MigrateArguments {
    /// The inbox: a PostgreSQL URL, or env:NAME for a variable with one
    #[arg(value_name = "INBOX")]
    inbox: InboxArgument,
    /// Grant this role every right that receivers and workers need
    #[arg(long, value_name = "ROLE")]
    grant: Option<String>,
    /// Only print the SQL that creates the tables if there are none
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
    match &place.at {
        At::File(_) => {
            let what = "an inbox in a file is brought up to this version by its receiver";
            Err(Failure::usage(what)
                .fix("name a PostgreSQL URL, or env:NAME for a variable with one"))
        }
        #[cfg(feature = "postgres")]
        At::Postgres(database) => in_database(database, &arguments, context).await,
    }
}

#[cfg(feature = "postgres")]
async fn in_database(
    database: &Database,
    arguments: &MigrateArguments,
    context: &Context,
) -> Result<Exit, Failure> {
    let (schema, role) = (database.schema(), arguments.grant.as_deref());
    let mut done = serde_json::json!({ "schema": schema, "granted_to": role });
    let line = if arguments.sql {
        let sql = database.migration_sql(role)?;
        done["sql"] = sql.as_str().into();
        sql.trim_end().to_owned()
    } else {
        let inboxes = database.inboxes().await?;
        let (is_here, elsewhere) = (inboxes.is_here, inboxes.elsewhere);
        context.output.during("migrating", database.migrate(role)).await?;
        done["made"] = (!is_here).into();
        let mut line = match is_here {
            true => format!("the tables were in the schema {schema}, and are of this version"),
            false => format!("the tables were made in the schema {schema}"),
        };
        if let Some(role) = role {
            line += &format!(", and {} may use them", escape::line(role));
        }
        let warning = (!is_here && !elsewhere.is_empty()).then(|| {
            format!(
                "this inbox is empty, and there is one in {elsewhere}: if that is the one that is meant, name it with \
                 ?schema=NAME"
            )
        });
        if let Some(warning) = &warning {
            line += &format!("\nwarning: {}", escape::line(warning));
        }
        done["warning"] = warning.into();
        line
    };
    context.output.done("migration", &done, &line)
}
