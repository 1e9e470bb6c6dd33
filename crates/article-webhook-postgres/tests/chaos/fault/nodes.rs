use std::{thread, time::Duration};

use super::shared;
use crate::{database::Database, form::Form, trial};

/// Nodes are killed. What they held is handed out again when its lease ends.
pub(crate) fn killed(form: Form) -> Option<()> {
    let server = shared()?;
    trial::run("node", Database::fresh(&[server.port]), |trial| {
        let kills = form.choose(6, 200);
        for kill in 0..kills {
            thread::sleep(Duration::from_millis(fastrand::u64(20..500)));
            trial.kill(kill % 2);
        }
        format!("{kills} nodes killed")
    });
    Some(())
}
