use std::{thread, time::Duration};

use super::shared;
use crate::{
    database::Database,
    form::Form,
    proxy::{Fate, Proxy},
    trial,
};

/// The server commits, and its answer is lost.
pub(crate) fn lost_commit(form: Form) -> Option<()> {
    let server = shared()?;
    let proxy = Proxy::before(server.port);
    let database = Database::fresh(&[server.port]).through(proxy.port);
    trial::run("lost_commit", database, |trial| {
        let wanted = form.choose(100, 1000);
        some(&proxy, wanted, || Fate::CutAnswer(0));
        trial.goes_on("after the losses");
        format!("{wanted} answers to COMMIT lost")
    });
    Some(())
}

/// Until that number of connections is cut, one commit in four has this fate.
pub(super) fn some(proxy: &Proxy, wanted: usize, fate: impl Fn() -> Fate + Send + 'static) {
    let before = proxy.cuts();
    proxy.fate(move || if fastrand::u32(..4) > 0 { Fate::Passed } else { fate() });
    while proxy.cuts() - before < wanted {
        thread::sleep(Duration::from_millis(10));
    }
    proxy.fate(|| Fate::Passed);
}
