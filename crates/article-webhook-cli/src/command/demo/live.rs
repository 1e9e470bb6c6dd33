//! What `demo` does until Ctrl-C.

use article_inbox::stop_signal;
use serde_json::json;

use super::{running::Running, show::show};
use crate::{failure::Failure, output::Output};

/// Orders one article, and shows what happens.
pub(super) async fn run(running: &mut Running, output: &Output) -> Result<(), Failure> {
    let line = "The article service, simulated, and an application that orders from it. A minute passes in a second. \
                Ctrl-C ends it.\n";
    output.either(&json!({ "speed": super::SPEED }), line)?;
    let mut stop = std::pin::pin!(stop_signal());
    running.demo.order("How to choose running shoes").await?;
    loop {
        tokio::select! {
            () = &mut stop => break,
            happening = running.next() => show(&happening?, output)?,
        }
    }
    output.note("\nended");
    Ok(())
}
