//! An inbox in a file.

use std::path::Path;

use article_webhook_inbox::{Inbox, SqliteLocation, SqliteStore};

use super::{
    super::disk,
    content::{Opened, content, refused},
};
use crate::{
    command::doctor::finding::Finding,
    context::Context,
    failure::Failure,
    store::{blocking, fix_of_missing, shared_file},
    text::command::quoted,
};

/// The next start repairs indexes, and refuses what it cannot repair.
const OF_DAMAGE: &str = "article-webhook collect --inbox INBOX JOB for each job that is named, once a worker has found its entry \
     corrupt; for all else, stop the receiver and start it again, which builds indexes again, or says what to do";

pub(super) async fn examine(file: &Path, context: &Context) -> Result<Vec<Finding>, Failure> {
    let place = match SqliteLocation::inspect(file) {
        Ok(place) => place,
        Err(error) => return Ok(vec![refused(error.into())]),
    };
    let folder = place.path.parent().unwrap_or(&place.path).to_owned();
    let mut findings = blocking(move || disk::examine(&folder)).await?;
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
    findings.push(match settings(&store).await {
        Ok(finding) => finding,
        Err(error) => refused(error.into()),
    });
    let bytes = place.path.metadata().map_or(0, |file| file.len());
    let name = place.path.display().to_string();
    let opened = Opened { inbox: Inbox::new(store), name: &name, bytes, of_damage: OF_DAMAGE };
    findings.extend(content(&opened, context).await);
    Ok(findings)
}

fn open_to_others(place: &SqliteLocation) -> Option<Finding> {
    let first = place.open_to_others.first()?;
    let found = format!("others than the owner have rights on {}", first.display());
    let files = place.open_to_others.iter().map(|file| quoted(&file.display().to_string()));
    let files = files.collect::<Vec<_>>().join(" ");
    let fix = format!("chmod go= {files}; a receiver does it when it starts");
    Some(
        Finding::warn("inbox.open_to_others", found)
            .because("bodies of articles are stored as they came")
            .fix(fix),
    )
}

async fn settings(store: &SqliteStore) -> Result<Finding, article_webhook_inbox::Error> {
    let settings = store.settings().await?;
    let shown: Vec<_> = settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let version = SqliteStore::sqlite_version();
    let found = format!("SQLite {version} has the settings of an inbox: {}", shown.join(" "));
    Ok(Finding::ok("inbox.opened", found))
}
