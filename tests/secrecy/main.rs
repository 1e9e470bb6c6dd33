//! No token, no capability and no body is shown: not in a log at any level, by whatever crate, not in an
//! answer, not by `Debug` or `Display` of a public type, not in the message of a panic.
//!
//! Canaries stand where the secrets do, other ones in each test, and a detector looks for parts of
//! them in every form that a log may give them. Field names, valid job ids and event names may be
//! shown, so no canary is one.

mod canary;
mod client;
mod observe;
mod servers;
mod site;
mod situation;
mod types;

use std::{collections::BTreeSet, net::SocketAddr, sync::Arc};

use article_webhook_tests::connection::{Response, Silence};
use canary::Canaries;
use observe::{OTHER_FACADE, log, observe};
use site::Site;
use situation::situations;

/// The statuses that the situations at the sites come to, so that none is forgotten.
const STATUSES: [u16; 9] = [200, 400, 401, 405, 413, 415, 422, 500, 503];

#[test]
fn axum_shows_no_secret() {
    observe();
    let job_id = "job_axum";
    let canaries = canaries(job_id);
    let sites = Site::SINKS.into_iter().chain(Site::EXTRACTORS);
    let server = servers::axum(&canaries);
    let layered = Site::EXTRACTORS.into_iter().map(|site| (site, servers::LAYERED));
    let sites = sites.map(|site| (site, "")).chain(layered);
    assert_server_is_secret(&canaries, job_id, server, sites);
    assert!(log().contains(" axum::serve"), "the framework's own lines are missing");
}

#[test]
fn actix_web_shows_no_secret() {
    observe();
    let job_id = "job_actix_web";
    let canaries = Arc::new(canaries(job_id));
    let sites = Site::SINKS.into_iter().chain(Site::EXTRACTORS);
    let server = servers::actix_web(Arc::clone(&canaries));
    let layered = Site::EXTRACTORS.into_iter().map(|site| (site, servers::LAYERED));
    let sites = sites.map(|site| (site, "")).chain(layered);
    assert_server_is_secret(&canaries, job_id, server, sites);
    assert!(log().contains(" actix_http::"), "the framework's own lines are missing");
}

#[test]
fn tower_shows_no_secret() {
    observe();
    let job_id = "job_tower";
    let canaries = canaries(job_id);
    let sites = Site::SINKS.into_iter().chain([Site::Delivery]).map(|site| (site, ""));
    assert_server_is_secret(&canaries, job_id, servers::tower(&canaries), sites);
}

#[test]
fn no_public_type_and_no_error_shows_a_secret() {
    let canaries = canaries(types::JOB);
    let shown = types::shown(&canaries);
    assert!(shown.iter().all(|text| text.len() > 10), "{shown:#?}");
    for identity in types::IDENTITY_AND_SIZES {
        let is_shown = shown.iter().any(|text| text.starts_with(&format!("{identity} ")));
        assert!(is_shown, "{identity} is not in {shown:#?}");
    }
    assert_eq!(canaries.shown_in(&shown.join("\n")), [""; 0]);
}

/// With the code of a capability, which is as secret as the key that it was minted with.
fn canaries(job_id: &str) -> Canaries {
    let mut canaries = Canaries::new(job_id);
    let (_, segment) = Site::capability(&canaries);
    let code = segment.rsplit('.').next().expect("a capability ends in its code");
    canaries.watch("capability", code);
    canaries
}

fn assert_server_is_secret(
    canaries: &Canaries,
    job_id: &str,
    address: SocketAddr,
    sites: impl Iterator<Item = (Site, &'static str)>,
) {
    let (mut statuses, mut answers) = (BTreeSet::new(), String::new());
    for (site, below) in sites {
        let path = match site {
            Site::Capability => format!("/Capability/{}", Site::capability(canaries).1),
            site => format!("{below}/{site:?}"),
        };
        for situation in situations(canaries, job_id) {
            match client::send(address, &path, &situation) {
                Ok(Response { status, timeless, .. }) => {
                    statuses.insert(status);
                    answers += &timeless;
                }
                // A panic in a handler is the framework's to catch, and neither does.
                Err(Silence::Closed) if site == Site::ArticlePanics => {}
                Err(silence) => panic!("{site:?}: {silence:?}"),
            }
        }
    }
    assert_eq!(canaries.shown_in(&answers), [""; 0]);
    assert!(STATUSES.iter().all(|status| statuses.contains(status)), "{statuses:?}");
    assert_log_is_secret(canaries, job_id);
}

/// The log was written, also that of refusals and panics, and shows nothing.
fn assert_log_is_secret(canaries: &Canaries, job_id: &str) {
    let log = log();
    for marker in [
        "delivery accepted",
        "delivery refused",
        "request refused",
        "the sink panicked",
        site::BUG,
        OTHER_FACADE,
    ] {
        let mut lines = log.lines().filter(|line| line.contains(marker));
        assert!(lines.next().is_some(), "nothing of {marker:?} was logged");
    }
    let of_this_job = log.lines().filter(|line| line.contains(job_id)).count();
    assert!(of_this_job > 100, "{of_this_job} lines about {job_id}");
    assert_eq!(canaries.shown_in(&log), [""; 0]);
}
