//! What `demo` does until Ctrl-C.

use std::{pin::pin, sync::Arc};

use article_webhook_inbox::stop_signal;
use serde_json::json;

use super::{SPEED, environment::Running, panel::Buttons, show::show};
use crate::{
    failure::Failure,
    output::{Output, Tone, log::remember_refusals},
    page::{Listening, Page},
};

/// Orders one article, shows the page, and tells what happens.
pub(super) async fn run(
    running: &mut Running,
    listening: Listening,
    output: &Output,
) -> Result<(), Failure> {
    let mut stop = pin!(stop_signal());
    let no_page =
        |error: std::io::Error| Failure::failed("the page cannot be shown").because(&error);
    let file = running.file().display().to_string();
    let page = Page::new(running.inbox(), &file, listening);
    let page = page.panel(Arc::new(Buttons::new(Arc::clone(&running.demo))));
    let page = page.refusals(remember_refusals());
    let url = page.url();
    let line = format!(
        "The article service, simulated, and an application that orders from it. A minute passes in a second.\n\
         Order, break the receiver and mend it on the page, and see here and there what happens. Ctrl-C ends it.\n\n  {}\n",
        output.paint(Tone::Head, &url),
    );
    output.either("page", &json!({ "page": url, "inbox": file, "speed": SPEED }), &line)?;
    running.spawn(move |stop| async move { page.serve(stop).await.map_err(no_page) });
    running.demo.order("How to choose running shoes").await?;
    loop {
        tokio::select! {
            () = &mut stop => break,
            () = output.unread() => return Err(Failure::of_closed_pipe()),
            happening = running.next() => show(&happening?, output)?,
        }
    }
    output.note("\nended");
    Ok(())
}
