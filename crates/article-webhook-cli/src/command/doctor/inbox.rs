#[cfg(feature = "postgres")]
mod postgres;

use std::path::Path;

use article_webhook_inbox::{Error, Inbox, SqliteLocation, SqliteStore};

use super::{
    disk,
    finding::{Finding, Severity},
};
use crate::{
    context::Context,
    failure::Failure,
    output::Tone,
    store::{Access, At, Fact, Health, InboxArgument, blocking, fix_of_missing, shared_file},
    text::command::{self, quoted},
};

/// A larger inbox is not read to its end.
const MAX_CHECKED_BYTES: u64 = 64 << 20;

/// The fix of an error that names none.
const SEE_LOG: &str = "look into the log of the receiver; close other programs that write to the inbox; make room on the disk";

/// The next start of a receiver of a file repairs indexes, and refuses what it cannot repair.
const OF_DAMAGED_FILE: &str = "article-webhook collect --inbox INBOX JOB for each job that is named, once a worker has found its entry \
     corrupt; for all else, stop the receiver and start it again, which builds indexes again, or says what to do";

/// Looks at an inbox beside the receivers that work on it, if there are any.
pub(super) async fn examine(
    inbox: &InboxArgument,
    context: &Context,
) -> Result<Vec<Finding>, Failure> {
    let place = match inbox.place(&context.environment) {
        Ok(place) => place,
        Err(failure) => return Ok(vec![refused(failure)]),
    };
    match &place.at {
        At::File(file) => in_file(file, context).await,
        #[cfg(feature = "postgres")]
        At::Postgres(database) => Ok(postgres::examine(database, &place, context).await),
    }
}

fn refused(failure: Failure) -> Finding {
    const CODE: &str = "inbox.refused";
    let finding = match failure.fix {
        Some(fix) => Finding::fail(CODE, failure.what).fix(fix),
        None => Finding::of_message(CODE, &failure.what, SEE_LOG),
    };
    Finding { cause: failure.cause, ..finding }
}

async fn in_file(file: &Path, context: &Context) -> Result<Vec<Finding>, Failure> {
    let place = match SqliteLocation::inspect(file) {
        Ok(place) => place,
        Err(error) => return Ok(vec![refused(error.into())]),
    };
    let folder = place.path.parent().unwrap_or(&place.path).to_owned();
    let mut findings = blocking(move || disk::examine(&folder)).await?;
    if let Some(why) = place.easily_lost {
        let found = format!("{} {why}", place.path.display());
        let finding = Finding::of_message("disk.easily_lost", &found, SEE_LOG);
        let severity = if place.is_temporary { Severity::Fail } else { Severity::Warn };
        findings.push(Finding { severity, ..finding });
    }
    if !place.exists {
        let found = format!("{} does not exist", file.display());
        findings.push(Finding::warn("inbox.missing", found).fix(fix_of_missing(&place.path)));
        return Ok(findings);
    }
    findings.extend(open_to_others(&place));
    let store = match shared_file(&place.path).await {
        Ok(store) => store,
        Err(failure) => {
            findings.push(refused(failure));
            return Ok(findings);
        }
    };
    match settings(&store).await {
        Ok(settings) => findings.push(settings),
        Err(error) => {
            findings.push(refused(error.into()));
            return Ok(findings);
        }
    }
    let bytes = place.path.metadata().map_or(0, |file| file.len());
    let name = place.path.display().to_string();
    let opened =
        Opened { inbox: Inbox::new(store), name: &name, bytes, of_damage: OF_DAMAGED_FILE };
    findings.extend(opened.content(context).await);
    Ok(findings)
}

fn open_to_others(place: &SqliteLocation) -> Option<Finding> {
    let first = place.open_to_others.first()?;
    let found = format!("others than the owner have rights on {}", first.display());
    let files = place.open_to_others.iter().map(|file| quoted(&file.display().to_string()));
    let files = files.collect::<Vec<_>>().join(" ");
    let finding = Finding::warn("inbox.open_to_others", found);
    let finding = finding.because("bodies of articles are stored as they came");
    Some(finding.fix(format!("chmod go= {files}; a receiver does it when it starts")))
}

async fn settings(store: &SqliteStore) -> Result<Finding, Error> {
    let settings = store.settings().await?;
    let shown: Vec<_> = settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let version = SqliteStore::sqlite_version();
    let found = format!("SQLite {version} has the settings of an inbox: {}", shown.join(" "));
    Ok(Finding::ok("inbox.opened", found))
}

/// An inbox that is open.
struct Opened<'a> {
    inbox: Inbox,
    /// As the command line names it.
    name: &'a str,
    /// How large it is.
    bytes: u64,
    /// What is done about damage.
    of_damage: &'static str,
}

impl Opened<'_> {
    /// What an inbox has, wherever it is: what `inbox status` says of it.
    async fn content(&self, context: &Context) -> Vec<Finding> {
        let access = match context.environment.may_change_inbox() {
            Ok(()) => Access::Full,
            Err(_) => Access::ReadOnly,
        };
        let (mut findings, mut checked) = (Vec::new(), None);
        if self.bytes <= MAX_CHECKED_BYTES {
            match self.inbox.check().await {
                Ok(found) => checked = Some(found),
                Err(error) => findings.push(refused(error.into())),
            }
        } else {
            let found = format!("whether {} MiB are sound, which takes long", self.bytes >> 20);
            let finding = Finding::not_checked("inbox.sound", found);
            findings.push(finding.fix(command::full_status(self.name)));
        }
        match Health::of(&self.inbox, access, checked).await {
            Ok(health) => findings.extend(health.facts.iter().map(|fact| self.finding(fact))),
            Err(error) => findings.push(refused(error.into())),
        }
        findings
    }

    fn finding(&self, fact: &Fact) -> Finding {
        let severity = match fact.tone {
            Tone::Bad => Severity::Fail,
            Tone::Busy => Severity::Warn,
            Tone::Quiet => Severity::NotChecked,
            _ => Severity::Ok,
        };
        let finding = Finding::new(fact.code, severity, &fact.text);
        let finding = match (fact.fix, severity) {
            (Some(fix), _) => finding.fix(fix),
            (None, Severity::Ok | Severity::NotChecked) => finding,
            (None, _) if fact.code == "inbox.damage" => finding.fix(self.of_damage),
            (None, _) => Finding::of_message(fact.code, &fact.text, SEE_LOG),
        };
        Finding { severity, found: format!("{}: {}", fact.name(), finding.found), ..finding }
    }
}
