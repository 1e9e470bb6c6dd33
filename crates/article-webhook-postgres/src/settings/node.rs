//! The name of a node.

use std::process;

/// What the server shows before the name of a node, for each of its connections. It cuts off what is longer than 63 bytes.
const APPLICATION: &str = "article_inbox ";
const MAX_BYTES: usize = 63 - APPLICATION.len();

/// The name of the machine and the id of this process.
pub(super) fn default() -> String {
    of(&whoami::hostname().unwrap_or_default(), process::id())
}

fn of(host: &str, process: u32) -> String {
    let process = format!(":{process}");
    let host = host.chars().filter(char::is_ascii_graphic);
    host.take(MAX_BYTES - process.len()).collect::<String>() + &process
}

/// Whether the server shows the name as it is.
pub(super) fn is_valid(name: &str) -> bool {
    (1..=MAX_BYTES).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_graphic())
}

/// The name of the connections of a node.
pub(super) fn application_name(node: &str) -> String {
    format!("{APPLICATION}{node}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_by_default_is_valid_whatever_the_machine_is_called() {
        assert_eq!(of("web-1", 42), "web-1:42");
        for host in ["", "web 1\n", "büro", &"a".repeat(300)] {
            let name = of(host, u32::MAX);
            assert!(is_valid(&name) && name.ends_with(":4294967295"), "{name}");
        }
        assert!(is_valid(&default()));
    }
}
