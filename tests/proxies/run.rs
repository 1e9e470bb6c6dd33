//! Tries situations at each site of a proxy.

use std::{
    collections::BTreeMap,
    io::{self, Write},
    net::Ipv4Addr,
    time::Duration,
};

use article_webhook_tests::serve::Framework;

use crate::{
    configuration::{self, Form, Site},
    program::{Program, Proxy},
    record::Record,
    situation::{DELIVERY, Outcome, Situation},
};

const TIMEOUT: Duration = Duration::from_secs(5);

/// A proxy, and the receivers behind it.
pub(crate) struct Run {
    program: Program,
    proxy: Proxy,
    sites: Vec<Site>,
    record: Record,
    sent: usize,
    disagreements: Vec<String>,
    /// How often a long body was refused with which answer.
    long_refusals: BTreeMap<&'static str, usize>,
}

impl Run {
    /// A site for each form of the configuration and each receiver. `None` if the proxy is not installed.
    pub(crate) fn start(program: Program, forms: &[Form]) -> Option<Self> {
        if !program.is_installed() {
            return None;
        }
        let folder = tempfile::tempdir().expect("there is a folder for temporary files");
        let record = Record::default();
        let receivers =
            Framework::ALL.map(|framework| (framework, framework.serve(record.clone())));
        // On an address of the loopback that nothing else uses, the ports are free.
        let ip = Ipv4Addr::new(127, fastrand::u8(1..255), fastrand::u8(..), fastrand::u8(1..255));
        let (mut sites, mut port) = (Vec::new(), 8000);
        for &form in forms {
            for (framework, receiver) in receivers {
                let address = (ip, port).into();
                sites.push(Site { form, address, framework, receiver });
                port += 1;
            }
        }
        let proxy = Proxy::start(program, folder, &configuration::file(program, &sites));
        sites.iter().for_each(|site| proxy.wait_for(site.address));
        let (sent, disagreements, long_refusals) = (0, Vec::new(), BTreeMap::new());
        Some(Self { program, proxy, sites, record, sent, disagreements, long_refusals })
    }

    /// Tries them at each site.
    pub(crate) fn try_all(&mut self, situations: &[Situation]) {
        for site in self.sites.clone() {
            for situation in situations {
                self.try_one(site, situation);
                if situation.is_long_refusal() {
                    // A connection that was closed with an unread body spoils nothing that comes later.
                    self.try_one(site, &DELIVERY);
                }
            }
        }
    }

    fn try_one(&mut self, site: Site, situation: &Situation) {
        self.sent += 1;
        let job_id = format!("job_{}", self.sent);
        let body = situation.body(&job_id);
        let request = situation.request(&job_id, &body);
        let status = situation.status(site.address, &request);
        let is_long = situation.is_long_refusal();
        if is_long {
            let answer = match status {
                None => "no answer",
                Some(502) => "502",
                Some(_) => "the receiver's answer",
            };
            *self.long_refusals.entry(answer).or_default() += 1;
        }
        // Of a receiver that closes before it has read the body, the proxy may say that it is a bad gateway.
        let is =
            |expected| status == Some(expected) || (is_long && matches!(status, None | Some(502)));
        let taken = self.record.take(&job_id);
        let is_right = match situation.outcome {
            Outcome::Stored => status == Some(200) && taken == [body],
            Outcome::Refused(expected) => {
                // The proxy may answer before the receiver does.
                is(expected) && taken.is_empty() && self.record.is_notified_of(&job_id, TIMEOUT)
            }
            Outcome::Unauthorized => is(401) && taken.is_empty(),
            Outcome::RefusedByEither => {
                status.is_some_and(|status| status >= 400) && taken.is_empty()
            }
            Outcome::NotAcknowledged => {
                status.is_none_or(|status| status >= 400) && taken.is_empty()
            }
        };
        if !is_right {
            let (form, framework, situation) = (site.form.name, site.framework, situation.name);
            let taken: Vec<_> = taken.iter().map(|body| body.len()).collect();
            self.disagreements
                .push(format!("{form}, {framework:?}: {situation}: {status:?}, stored {taken:?}"));
        }
    }

    /// Everything was as it must be, and nothing else reached a sink. Returns the figure of the run.
    pub(crate) fn end(self) -> String {
        let program = self.program.name();
        let (found, others) = (self.disagreements.join("\n"), self.record.others());
        assert!(found.is_empty(), "{program}:\n{found}\n{}", self.proxy.log());
        assert_eq!(others, [""; 0], "{program}: a sink got more than was sent");
        let (sent, sites) = (self.sent, self.sites.len());
        let mut line = format!("{program}: {sent} requests at {sites} sites");
        for (answer, count) in self.long_refusals {
            line += &format!("; a long refused body got {answer} {count} times");
        }
        line
    }
}

/// Unlike what `println!` writes, it is seen when the tests pass.
pub(crate) fn say(line: &str) {
    writeln!(io::stdout(), "proxies: {line}").expect("there is an output");
}
