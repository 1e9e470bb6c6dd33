use maud::{Markup, html};

use super::components::{button, text};
use crate::{
    output::Tone,
    page::{
        panel::Row,
        shared::{Buttons, Shared},
    },
};

/// What a command adds to the list.
pub(super) fn panel(shared: &Shared) -> Markup {
    html! {
        @if let Some(panel) = shared.panel.as_ref().filter(|_| shared.buttons == Buttons::Shown) {
            section.panel #panel aria-labelledby="panel-title" {
                div.about {
                    h2 #panel-title { (panel.title()) }
                    p data-live="panel-text" #panel-text role="status" { (panel.text()) }
                }
                ul.actions #panel-actions data-live="panel-actions" {
                    @for action in panel.actions() {
                        li {
                            (button(shared, &shared.access.path(&format!("/panel/{}", action.name)), &action.label, "primary"))
                            span.quiet { (action.note) }
                        }
                    }
                }
                p.notice.bad #panel-failure role="alert" hidden {}
                div.orders #panel-rows data-live="panel-rows" tabindex="0" role="region" aria-label="Orders" {
                    (rows(&panel.rows()))
                }
            }
        }
    }
}

fn rows(rows: &[Row]) -> Markup {
    html! {
        table {
            thead {
                tr {
                    th scope="col" { "Ordered" }
                    th scope="col" { "Article" }
                    th scope="col" { "Attempts of the service" }
                    th scope="col" { "Now" }
                }
            }
            tbody {
                @for row in rows {
                    tr {
                        td.time { (row.time) }
                        td.what {
                            span.title { (text(&row.name)) }
                            span.job { (text(&row.job_id)) }
                        }
                        td.steps {
                            @for step in &row.steps { span data-tone=(name(step.tone)) { (text(&step.text)) } }
                        }
                        td.now data-tone=(name(row.now.tone)) { (text(&row.now.text)) }
                    }
                }
            }
        }
        @if rows.is_empty() {
            p.quiet { "Nothing is ordered yet. What the service does with each order is seen here." }
        }
    }
}

fn name(tone: Tone) -> &'static str {
    match tone {
        Tone::Good => "good",
        Tone::Busy => "busy",
        Tone::Bad => "bad",
        Tone::Plain | Tone::Head | Tone::Quiet => "quiet",
    }
}
