use crate::{
    CheckFinding, Verdict,
    cases::Expectation,
    endpoint::Endpoint,
    http::{Observed, Response},
};

/// A shorter secret is not searched for, because any text may contain it by chance.
const SHORTEST_SECRET: usize = 8;

/// Findings that need more than one response.
pub(crate) fn overall_findings(
    endpoint: &Endpoint,
    all: &[(Expectation, Observed)],
) -> Vec<CheckFinding> {
    let responses: Vec<_> = all.iter().filter_map(|(_, observed)| observed.response()).collect();
    let unauthorized = observed(all, Expectation::Refused(401));
    let unauthorized: Vec<_> = unauthorized.into_iter().filter_map(Observed::response).collect();
    vec![
        one_refusal_for_all(&unauthorized),
        no_secret(endpoint, &responses),
        no_redirect(&responses),
        in_time(&observed(all, Expectation::Accepted)),
    ]
}

fn observed(all: &[(Expectation, Observed)], wanted: Expectation) -> Vec<&Observed> {
    let wanted = all.iter().filter(|(expect, _)| *expect == wanted);
    wanted.map(|(_, observed)| observed).collect()
}

fn one_refusal_for_all(unauthorized: &[&Response]) -> CheckFinding {
    // A 2xx here has a finding of its own.
    let refused = unauthorized.iter().filter(|response| !(200..300).contains(&response.status));
    let mut kinds: Vec<_> =
        refused.map(|response| (response.status, response.body.clone())).collect();
    kinds.sort();
    kinds.dedup();
    CheckFinding {
        name: "strangers are told nothing",
        verdict: if kinds.len() <= 1 { Verdict::Pass } else { Verdict::Advice },
        sent: "nothing more",
        expected: "the same response to every wrong token".to_owned(),
        why: "responses that differ tell a stranger what was wrong with the token",
        received: format!("{} different responses", kinds.len()),
        fix: "answer 401 with one constant body, whatever is wrong with Authorization",
    }
}

fn no_secret(endpoint: &Endpoint, responses: &[&Response]) -> CheckFinding {
    let secret =
        if endpoint.secret().len() < SHORTEST_SECRET { &endpoint.token } else { endpoint.secret() };
    let secret = secret.as_bytes();
    let holds = |text: &[u8]| text.windows(secret.len()).any(|window| window == secret);
    let (count, received) = if secret.len() < SHORTEST_SECRET {
        (0, "not looked for: a token this short is in any text by chance".to_owned())
    } else {
        let with_secret =
            responses.iter().filter(|response| holds(&response.head) || holds(&response.body));
        let count = with_secret.count();
        (count, format!("{count} responses"))
    };
    CheckFinding {
        name: "no answer holds the secret",
        verdict: if count == 0 { Verdict::Pass } else { Verdict::Fail },
        sent: "nothing more",
        expected: "0 responses with the token in them".to_owned(),
        why: "senders and proxies log responses, and with the token from such a log deliveries can be forged",
        received,
        fix: "answer with constant texts, without headers of the request and without configuration",
    }
}

fn no_redirect(responses: &[&Response]) -> CheckFinding {
    let redirects =
        responses.iter().filter(|response| (300..400).contains(&response.status)).count();
    CheckFinding {
        name: "no redirect",
        verdict: if redirects == 0 { Verdict::Pass } else { Verdict::Fail },
        sent: "nothing more",
        expected: "0 redirects".to_owned(),
        why: "a 3xx is not followed but counts as failed, and a redirect may carry the token to another host",
        received: format!("{redirects} redirects"),
        fix: "configure the service with the final URL: scheme, host and trailing slash included",
    }
}

/// The service does not document its timeout. Responses within 5 s are safe with any sender, and the check
/// waits no longer.
fn in_time(deliveries: &[&Observed]) -> CheckFinding {
    let responses = deliveries.iter().filter_map(|observed| observed.response());
    let slowest = responses.map(|response| response.after).max();
    let late = deliveries.iter().filter(|observed| matches!(observed, Observed::TimedOut)).count();
    let received = match slowest {
        Some(slowest) if late == 0 => format!("the slowest in {} ms", slowest.as_millis()),
        _ => format!("{late} responses did not come"),
    };
    let is_in_time = late == 0 && slowest.is_some();
    CheckFinding {
        name: "answers within 5 s",
        verdict: if is_in_time { Verdict::Pass } else { Verdict::Fail },
        sent: "nothing more",
        expected: "a response to each delivery within 5 s".to_owned(),
        why: "a sender that timed out sends the article again, and after the fourth attempt never again",
        received,
        fix: "store the delivery, answer, and process it afterwards",
    }
}
