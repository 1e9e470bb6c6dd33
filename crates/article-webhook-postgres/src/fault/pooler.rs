//! What a pooler before PostgreSQL answers in its own name.

use tokio_postgres::error::{DbError, SqlState};

/// What a pooler has refused, by parts of its sentence.
const WRONG_DATABASE: &[&str] = &["no such database"];
const WRONG_LOGIN: &[&str] =
    &["authentication failed", "auth failed", "no such user", "login rejected"];
const STATEMENT_POOLING: &[&str] = &["statement pooling"];
const NO_SERVER: &[&str] = &["server login", "cannot connect to server", "server conn crashed"];

fn says(answer: &DbError, parts: &[&str]) -> bool {
    parts.iter().any(|part| answer.message().contains(part))
}

/// Whether the sentence is a pooler's own. PgBouncer has one code for nearly all that it says, with which PostgreSQL answers no
/// statement of the inbox; later versions say that they have no such database with PostgreSQL's code, and in their own words.
fn is_of_a_pooler(answer: &DbError) -> bool {
    *answer.code() == SqlState::PROTOCOL_VIOLATION || says(answer, WRONG_DATABASE)
}

/// What a pooler says, that it says it, and what to do.
pub(super) fn refusal(answer: &DbError) -> Option<String> {
    if !is_of_a_pooler(answer) {
        return None;
    }
    let remedy = if says(answer, WRONG_DATABASE) {
        "add the database to those of the pooler, or correct its name in the URL"
    } else if says(answer, NO_SERVER) {
        "start PostgreSQL, or correct the host and the login that the pooler has for it; its log says more"
    } else if says(answer, WRONG_LOGIN) {
        "correct the role and the password of the URL, or those that the pooler knows, such as in its auth_file"
    } else if says(answer, STATEMENT_POOLING) {
        "set pool_mode to transaction or session"
    } else {
        "look at its log and its settings"
    };
    Some(format!("the pooler before PostgreSQL refuses: {}: {remedy}", answer.message()))
}

/// Whether it goes on refusing until something is corrected.
pub(super) fn needs_an_operator(answer: &DbError) -> bool {
    let wrong = [WRONG_DATABASE, WRONG_LOGIN, STATEMENT_POOLING];
    is_of_a_pooler(answer)
        && wrong.iter().any(|parts| says(answer, parts))
        && !says(answer, NO_SERVER)
}
