//! The server that the tests of a process share.

use std::{env, panic::catch_unwind, sync::OnceLock, thread};

use article_webhook_postgres::PostgresSettings;

use super::Server;

/// Names a server that is there, by the URL of a superuser, as [`FORM`] says.
pub(super) const URL: &str = "ARTICLE_TEST_POSTGRES_URL";

/// Tests add parameters to it, and put other databases and other roles in it, of which none has a password; and the tool takes
/// no password in its arguments. So the server trusts every role.
const FORM: &str = "postgresql://postgres@HOST:PORT/DATABASE";

/// The URL of the server that tests share, and the server if it is a private one; an error if it cannot be used.
#[allow(dead_code, reason = "a test may need a server of its own alone")]
type Shared = Result<Option<(String, Option<Server>)>, ()>;

/// The URL of the server that the tests of this process share. `None` if there are no programs to start one, which is reported.
#[allow(dead_code, reason = "a test may need a server of its own alone")]
pub(crate) fn shared_url() -> Option<String> {
    static SHARED: OnceLock<Shared> = OnceLock::new();
    // A server that does not start is not tried again by each test.
    let shared = SHARED.get_or_init(|| {
        catch_unwind(|| {
            if let Ok(url) = env::var(URL) {
                check(&url);
                return Some((url, None));
            }
            let server = Server::start(&[])?;
            Some((server.url(), Some(server)))
        })
        .map_err(drop)
    });
    let shared = shared.as_ref().expect("there is a server, or the first test reported why not");
    shared.as_ref().map(|(url, _)| url.clone())
}

/// A server that tests cannot use is refused at once, and not by a test that fails for another reason.
fn check(url: &str) {
    let place = url.strip_prefix("postgresql://postgres@").and_then(|rest| rest.split_once('/'));
    let fits = place.is_some_and(|(host, database)| {
        let is_plain = |part: &str| !part.is_empty() && !part.contains(['@', '/', '?', '#']);
        is_plain(host) && is_plain(database)
    });
    assert!(fits, "{URL} must be of the form {FORM}, without a password and without parameters");
    // A test may be in a runtime of its own.
    let settings = PostgresSettings::new(url).unwrap();
    let look = move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async move {
            let client = settings.client().await.map_err(|error| error.to_string())?;
            let role = "SELECT rolsuper FROM pg_roles WHERE rolname = session_user";
            let role = client.query_one(role, &[]).await.map_err(|error| error.to_string())?;
            if role.get(0) { Ok(()) } else { Err("its role is not a superuser".to_owned()) }
        })
    };
    let looked = thread::spawn(look).join().expect("it says what is wrong");
    looked.unwrap_or_else(|why: String| panic!("the server of {URL} cannot be used: {why}"));
}
