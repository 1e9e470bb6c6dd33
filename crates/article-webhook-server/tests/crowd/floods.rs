//! Uploads beside floods of strangers: those that were let in end well, and how many are let in.

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

struct Trial {
    role: Role,
    attack: Attack,
    per_second: u32,
    /// How long the attack lasts before the first upload.
    lead: Duration,
    uploads: u32,
    /// The time over which the uploads begin.
    within: Duration,
    body: Duration,
}

/// 3,000 wrong tokens a second at the default number of connections, and in the short form 750 at 500, and 120 peers
/// a second that read no answer: neither ends an upload of three seconds.
pub(crate) fn uploads_that_were_let_in_end_well() {
    let wrong_tokens =
        if is_asked_for("--long") { (Role::Ours, 3_000) } else { (Role::Small, 750) };
    let floods = [
        (wrong_tokens.0, Attack::WrongToken, wrong_tokens.1, Duration::from_secs(1)),
        (Role::Small, Attack::Unread, 120, Duration::from_millis(4_500)),
    ];
    for (role, attack, per_second, lead) in floods {
        let uploads = Trial {
            role,
            attack,
            per_second,
            lead,
            uploads: 100,
            within: Duration::from_secs(3),
            body: Duration::from_secs(3),
        };
        let uploads = uploads.run();
        assert_eq!(uploads.cut, 0, "{uploads:?}");
        // How many are let in depends on the machine.
        assert!(uploads.stored > 0, "{uploads:?}");
    }
}

/// What share of uploads is let in within ten seconds: figures, and no promise.
pub(crate) fn shares() {
    let mut line = String::from(
        "crowd: shares: of 50 uploads beside 300, 1,000 and 3,000 strangers a second:",
    );
    for role in [Role::Small, Role::Ours] {
        for attack in [Attack::WrongToken, Attack::SlowHead] {
            line += &format!(" {} connections, {attack:?}", role.max_connections());
            for per_second in [300, 1_000, 3_000] {
                let uploads = Trial {
                    role,
                    attack,
                    per_second,
                    lead: Duration::from_secs(6),
                    uploads: 50,
                    within: Duration::from_secs(5),
                    body: Duration::from_secs(1),
                };
                let uploads = uploads.run();
                assert_eq!(uploads.cut, 0, "{uploads:?}");
                line += &format!(" {}", uploads.stored);
            }
            line.push(';');
        }
    }
    println!("{}", line.trim_end_matches(';'));
}

impl Trial {
    fn run(&self) -> Uploads {
        let server = self.role.start();
        let most = limit().saturating_sub(1_000);
        let flood = Arc::new(Flood::default());
        let attack = self.attack.start(server.address, self.per_second, most, flood.clone());
        let runtime = Runtime::new().expect("there are threads");
        let uploads = runtime.block_on(async {
            sleep(self.lead).await;
            Uploads::run(server.address, self.uploads, self.within, self.body).await
        });
        flood.is_over.store(true, Relaxed);
        attack.join().expect("the attack does not panic");
        let Trial { role, attack, per_second, .. } = self;
        println!(
            "flood: {} connections at most, {attack:?} at {per_second}/s ({} started, {} connected): \
             {} of {} uploads let in, waiting up to {:.1} s; stored {}, cut {}",
            role.max_connections(),
            flood.started.load(Relaxed),
            flood.connected.load(Relaxed),
            uploads.stored + uploads.cut,
            self.uploads,
            uploads.longest_wait.as_secs_f64(),
            uploads.stored,
            uploads.cut,
        );
        uploads
    }
}
