//! Uploads beside floods of strangers: those that were let in end well.

use std::{
    sync::{Arc, atomic::Ordering::Relaxed},
    time::Duration,
};

use tokio::{runtime::Runtime, time::sleep};

use crate::{
    attack::{Attack, Flood},
    descriptors::limit,
    is_asked_for,
    role::Role,
    upload::Uploads,
};

/// 3,000 wrong tokens a second at the default number of connections, and in the short form 750 at 500, and 120 peers
/// a second that read no answer: neither ends an upload of three seconds.
pub(crate) fn uploads_that_were_let_in_end_well() {
    let wrong_tokens =
        if is_asked_for("--long") { (Role::Ours, 3_000) } else { (Role::Small, 750) };
    let most = limit().saturating_sub(1_000);
    for (role, attack, per_second, lead) in [
        (wrong_tokens.0, Attack::WrongToken, wrong_tokens.1, Duration::from_secs(1)),
        (Role::Small, Attack::Unread, 120, Duration::from_millis(4_500)),
    ] {
        let server = role.start();
        let flood = Arc::new(Flood::default());
        let attacking = attack.start(server.address, per_second, most, flood.clone());
        let runtime = Runtime::new().expect("there are threads");
        let uploads = runtime.block_on(async {
            sleep(lead).await;
            Uploads::run(server.address).await
        });
        flood.is_over.store(true, Relaxed);
        attacking.join().expect("the attack does not panic");
        println!(
            "flood: {} connections at most, {attack:?} at {per_second}/s ({} started, {} connected): {uploads:?}",
            role.max_connections(),
            flood.started.load(Relaxed),
            flood.connected.load(Relaxed),
        );
        assert_eq!(uploads.cut, 0, "{uploads:?}");
        // How many are let in depends on the machine.
        assert!(uploads.stored > 0, "{uploads:?}");
    }
}
