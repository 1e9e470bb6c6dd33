use article_webhook_inbox::Error;
use clap::Args;
use serde_json::Value;

use crate::{
    failure::Failure,
    output::{Output, Table},
    store::Place,
    text::command,
};

/// How many are read at once when all are listed.
const PAGE: u32 = 500;

/// How much of a list is shown.
#[derive(Debug, Args)]
pub(super) struct PagingArguments {
    /// How many to list
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    limit: u32,
    /// List those after this id, which is printed below the previous page
    #[arg(long, value_name = "ID", default_value_t = 0)]
    after: i64,
    /// List all
    #[arg(long, conflicts_with = "limit")]
    all: bool,
}

/// What fixes a selection of nothing.
pub(super) fn what_there_is(place: &Place) -> String {
    format!("see what there is: {}", command::status(place.shown()))
}

/// What a list is of.
pub(super) struct Kind<T> {
    /// The type of a line of JSON.
    pub(super) name: &'static str,
    pub(super) json: fn(&T) -> Value,
    pub(super) table: fn(&[T]) -> Table,
}

impl PagingArguments {
    /// Shows one page, or all. `read` gets the id after which a page begins and its length, and returns the page and the id
    /// after which the next one begins. Returns whether there was any.
    pub(super) async fn show<T>(
        &self,
        kind: &Kind<T>,
        output: &Output,
        read: impl AsyncFn(i64, u32) -> Result<(Vec<T>, Option<i64>), Error>,
    ) -> Result<bool, Failure> {
        let (mut after, limit) = (self.after, if self.all { PAGE } else { self.limit });
        let mut is_empty = true;
        loop {
            let (items, next) = read(after, limit).await?;
            if items.is_empty() {
                break;
            }
            is_empty = false;
            if output.is_json() {
                for item in &items {
                    output.json(kind.name, &(kind.json)(item))?;
                }
            } else {
                (kind.table)(&items).write(output)?;
            }
            let Some(next) = next else { break };
            if !self.all {
                output.note(&format!("\nThere are more: --after {next}, or --all"));
                break;
            }
            after = next;
        }
        Ok(!is_empty)
    }
}
