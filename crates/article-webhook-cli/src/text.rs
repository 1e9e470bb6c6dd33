//! What is shown, as text.

pub(crate) mod command;
pub(crate) mod escape;
pub(crate) mod moment;

pub(crate) fn entries(count: u64) -> String {
    counted(count, "entry", "entries")
}

/// How many there are of what a noun names.
pub(crate) fn counted(count: u64, one: &str, more: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { more })
}
