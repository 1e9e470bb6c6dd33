use crate::Error;

/// The first SQLite version in which two connections may write in WAL mode. In earlier versions, a rare race loses
/// committed changes.
const MIN_VERSION_FOR_TWO_WRITERS: (i32, &str) = (3_051_003, "3.51.3");

/// What needs a second connection that writes, and what can be done without one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SecondWriter {
    pub(crate) needs: &'static str,
    pub(crate) otherwise: &'static str,
}

/// Returns an error if the linked SQLite is too old for a second connection that writes.
pub(crate) fn check_two_writers(writer: SecondWriter) -> Result<(), Error> {
    check_version(writer, rusqlite::version_number(), rusqlite::version())
}

fn check_version(writer: SecondWriter, number: i32, version: &str) -> Result<(), Error> {
    let SecondWriter { needs, otherwise } = writer;
    let (least, least_version) = MIN_VERSION_FOR_TWO_WRITERS;
    if number >= least {
        return Ok(());
    }
    Err(Error::unusable(format!(
        "{needs} needs SQLite {least_version}, and this program is linked to {version}, in which a second writer \
         can lose what the first has committed: update rusqlite, and the crate that may hold it back, such as sqlx \
         0.8; or {otherwise}",
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_sqlite_may_not_have_two_writers() {
        let completion = SecondWriter { needs: "a completion", otherwise: "do without" };
        assert!(check_version(completion, 3_051_003, "3.51.3").is_ok());
        let error = check_version(completion, 3_051_002, "3.51.2").unwrap_err();
        assert_eq!(
            error.to_string(),
            "a completion needs SQLite 3.51.3, and this program is linked to 3.51.2, in which a second writer can \
             lose what the first has committed: update rusqlite, and the crate that may hold it back, such as sqlx 0.8; \
             or do without"
        );
        assert!(!error.is_transient());
    }
}
