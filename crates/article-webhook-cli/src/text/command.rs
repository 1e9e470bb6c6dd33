//! Commands that are shown to be copied. Words from outside stand in them: a job id may look like an option, or like a
//! command of a shell. So they are quoted, and what begins with a dash stands behind `--`, or behind the `=` of an option.

use super::escape::is_unsafe;

/// A word of a shell's command line that means itself. What a terminal must not get is in the escapes of the shell.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./:@%+,".contains(&byte);
    if word.contains(is_unsafe) {
        let escaped = |character: char| match character {
            '\\' | '\'' => format!("\\{character}"),
            _ if is_unsafe(character) => format!("\\U{:08x}", u32::from(character)),
            _ => character.to_string(),
        };
        return format!("$'{}'", word.chars().map(escaped).collect::<String>());
    }
    match !word.is_empty() && !word.starts_with('-') && word.bytes().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

fn command(fixed: &str, words: &[&str]) -> String {
    // What looks like an option is one, unless it stands behind two dashes.
    let dashes = if words.iter().any(|word| word.starts_with('-')) { "-- " } else { "" };
    let words: Vec<_> = words.iter().map(|word| quoted(word)).collect();
    format!("article-webhook {fixed} {dashes}{}", words.join(" "))
}

pub(crate) fn list(inbox: &str) -> String {
    command("inbox list", &[inbox])
}

/// The entries in a state, by the name of that.
pub(crate) fn list_in(inbox: &str, state: &str) -> String {
    command(&format!("inbox list --state={state}"), &[inbox])
}

/// The entries in a state for one reason.
pub(crate) fn requeue_group(inbox: &str, state: &str, cause: &str) -> String {
    command(&format!("inbox requeue --state={state} --cause={}", quoted(cause)), &[inbox])
}

pub(crate) fn status(inbox: &str) -> String {
    command("inbox status", &[inbox])
}

pub(crate) fn full_status(inbox: &str) -> String {
    command("inbox status --full", &[inbox])
}

pub(crate) fn show_body(inbox: &str, job: &str) -> String {
    command("inbox show --body", &[inbox, job])
}

pub(crate) fn discard(inbox: &str, job: &str) -> String {
    command("inbox discard", &[inbox, job])
}

pub(crate) fn erase(inbox: &str, job: &str) -> String {
    command("inbox erase", &[inbox, job])
}

pub(crate) fn get(job: &str) -> String {
    command("get --wait", &[job])
}

/// The receiver is a URL, which is no option.
pub(crate) fn send(receiver: &str) -> String {
    format!("article-webhook send {}", quoted(receiver))
}

pub(crate) fn listen(inbox: &str) -> String {
    format!("article-webhook listen --inbox={}", quoted(inbox))
}

pub(crate) fn collect(inbox: &str) -> String {
    format!("article-webhook collect --inbox={}", quoted(inbox))
}

/// `JOB` is a job that the reader names.
pub(crate) fn collect_job(inbox: &str) -> String {
    format!("{} JOB", collect(inbox))
}

/// `TOPIC` is what the reader orders an article about.
pub(crate) fn order(inbox: &str, intent: &str) -> String {
    format!("article-webhook order --inbox={} --intent={} TOPIC", quoted(inbox), quoted(intent))
}

pub(crate) fn order_again(inbox: &str, intent: &str) -> String {
    order(inbox, intent).replacen(" order ", " order --again ", 1)
}

pub(crate) fn doctor(receiver: &str) -> String {
    format!("article-webhook doctor --url={}", quoted(receiver))
}
