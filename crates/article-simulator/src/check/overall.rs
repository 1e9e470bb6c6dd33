use super::{
    finding::{Finding, Verdict},
    heard::{Answer, Heard},
    judge::Expect,
    site::Site,
};

/// A text of fewer bytes stands in an answer by chance.
const SHORTEST: usize = 8;

/// What no single answer shows.
pub(super) fn overall(site: &Site, all: &[(Expect, Heard)]) -> Vec<Finding> {
    let every: Vec<_> = all.iter().filter_map(|(_, heard)| heard.answer()).collect();
    let strangers = heard(all, Expect::Refused(401));
    let strangers: Vec<_> = strangers.into_iter().filter_map(Heard::answer).collect();
    vec![
        alike(&strangers),
        silent(site, &every),
        direct(&every),
        prompt(&heard(all, Expect::Taken)),
    ]
}

fn heard(all: &[(Expect, Heard)], wanted: Expect) -> Vec<&Heard> {
    let wanted = all.iter().filter(|(expect, _)| *expect == wanted);
    wanted.map(|(_, heard)| heard).collect()
}

fn alike(strangers: &[&Answer]) -> Finding {
    // One that was let in is found out elsewhere.
    let refused = strangers.iter().filter(|answer| !(200..300).contains(&answer.status));
    let mut kinds: Vec<_> = refused.map(|answer| (answer.status, answer.body.clone())).collect();
    kinds.sort();
    kinds.dedup();
    Finding {
        name: "strangers are told nothing",
        verdict: if kinds.len() <= 1 { Verdict::Pass } else { Verdict::Advice },
        sent: "nothing more",
        expected: "one answer to every stranger".to_owned(),
        why: "answers that differ tell a stranger what was wrong with the token",
        came: format!("{} different answers", kinds.len()),
        fix: "answer 401 with one constant body, whatever is wrong with Authorization",
    }
}

fn silent(site: &Site, answers: &[&Answer]) -> Finding {
    let secret =
        if site.secret().len() < SHORTEST { &site.token } else { site.secret() }.as_bytes();
    let holds = |text: &[u8]| text.windows(secret.len()).any(|window| window == secret);
    let told = answers.iter().filter(|answer| holds(&answer.head) || holds(&answer.body)).count();
    let (told, came) = if secret.len() < SHORTEST {
        (0, "not looked for: so short a token is found in any text".to_owned())
    } else {
        (told, format!("{told} answers"))
    };
    Finding {
        name: "no answer holds the secret",
        verdict: if told == 0 { Verdict::Pass } else { Verdict::Fail },
        sent: "nothing more",
        expected: "0 answers with the token in them".to_owned(),
        why: "answers are logged by senders and proxies, and whoever reads the token can forge deliveries",
        came,
        fix: "answer with constant texts: no header and no configuration in them",
    }
}

fn direct(answers: &[&Answer]) -> Finding {
    let redirects = answers.iter().filter(|answer| (300..400).contains(&answer.status)).count();
    Finding {
        name: "no redirect",
        verdict: if redirects == 0 { Verdict::Pass } else { Verdict::Fail },
        sent: "nothing more",
        expected: "0 redirects".to_owned(),
        why: "a 3xx is not followed but counts as failed, and the token may go where it does not belong",
        came: format!("{redirects} redirects"),
        fix: "configure the service with the final URL: scheme, host and slash at the end included",
    }
}

/// The service's time-out is not documented: an answer within this is safe with any sender. It is as long as
/// the check is patient.
fn prompt(deliveries: &[&Heard]) -> Finding {
    let answers = deliveries.iter().filter_map(|heard| heard.answer());
    let slowest = answers.map(|answer| answer.after).max();
    let late = deliveries.iter().filter(|heard| matches!(heard, Heard::Late)).count();
    let came = match slowest {
        Some(slowest) if late == 0 => format!("the slowest in {} ms", slowest.as_millis()),
        _ => format!("{late} answers did not come"),
    };
    let is_prompt = late == 0 && slowest.is_some();
    Finding {
        name: "answers within 5 s",
        verdict: if is_prompt { Verdict::Pass } else { Verdict::Fail },
        sent: "nothing more",
        expected: "each delivery is answered within 5 s".to_owned(),
        why: "a sender that gave up sends the article again, and gives up for good after the fourth time",
        came,
        fix: "store the delivery, answer, and work on it afterwards",
    }
}
