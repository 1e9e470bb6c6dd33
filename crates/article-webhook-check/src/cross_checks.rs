use crate::{
    CheckFinding, Verdict,
    cases::{Answer, Expectation},
    endpoint::Endpoint,
    http::{Observed, Response},
};

/// A shorter secret is not searched for, because any text may contain it by chance.
const SHORTEST_SECRET: usize = 8;

/// Findings that need more than one response.
pub(crate) fn overall_findings(endpoint: &Endpoint, all: &[Answer]) -> Vec<CheckFinding> {
    let responses: Vec<_> = all.iter().filter_map(|answer| answer.observed.response()).collect();
    let of = |expect| all.iter().filter(move |answer| answer.expect == expect);
    let unauthorized = of(Expectation::Refused(401));
    let unauthorized: Vec<_> =
        unauthorized.filter_map(|answer| answer.observed.response()).collect();
    vec![
        one_refusal_for_all(&unauthorized),
        no_secret(endpoint, &responses),
        no_redirect(&responses),
        in_time(&of(Expectation::Accepted).collect::<Vec<_>>()),
    ]
}

fn one_refusal_for_all(unauthorized: &[&Response]) -> CheckFinding {
    // A 2xx here has a finding of its own.
    let refused = unauthorized.iter().filter(|response| !(200..300).contains(&response.status));
    let mut kinds: Vec<_> =
        refused.map(|response| (response.status, response.body.clone())).collect();
    kinds.sort();
    kinds.dedup();
    CheckFinding {
        name: "strangers learn nothing",
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
fn in_time(deliveries: &[&Answer]) -> CheckFinding {
    let times = deliveries
        .iter()
        .filter_map(|answer| Some((answer.observed.response()?.after, answer.case)));
    let is_late = |answer: &&&Answer| matches!(answer.observed, Observed::TimedOut);
    let mut late: Vec<_> = deliveries.iter().filter(is_late).map(|answer| answer.case).collect();
    late.dedup();
    let (is_in_time, received) = match (times.max(), late.is_empty()) {
        (Some((slowest, case)), true) => {
            (true, format!("the slowest in {} ms: {case}", slowest.as_millis()))
        }
        (None, true) => (false, "no response".to_owned()),
        (_, false) => (false, format!("no response in time: {}", late.join(", "))),
    };
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
