use crate::Error;

/// The first SQLite version in which two connections may write in WAL mode. In earlier versions, a rare race loses
/// committed changes.
const TWO_WRITERS: (i32, &str) = (3_051_003, "3.51.3");

/// Returns an error if the linked SQLite is too old for a second connection that writes.
pub(crate) fn check_two_writers(what: &str) -> Result<(), Error> {
    check_version(what, rusqlite::version_number(), rusqlite::version())
}

fn check_version(what: &str, number: i32, version: &str) -> Result<(), Error> {
    let (least, least_version) = TWO_WRITERS;
    if number >= least {
        return Ok(());
    }
    Err(Error::unusable(format!(
        "{what} needs SQLite {least_version}, and this program is linked to {version}, in which a second writer \
         can lose what the first has committed: update rusqlite",
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_sqlite_may_not_have_two_writers() {
        assert!(check_version("a completion", 3_051_003, "3.51.3").is_ok());
        let error = check_version("a completion", 3_051_002, "3.51.2").unwrap_err();
        assert_eq!(
            error.to_string(),
            "a completion needs SQLite 3.51.3, and this program is linked to 3.51.2, in which a second writer can \
             lose what the first has committed: update rusqlite"
        );
        assert!(!error.is_transient());
    }
}
