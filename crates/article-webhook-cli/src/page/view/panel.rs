use maud::{Markup, html};

use super::components::button;
use crate::page::shared::Shared;

/// What a command adds to the list.
pub(super) fn panel(shared: &Shared) -> Markup {
    html! {
        @if let Some(panel) = shared.panel.as_ref().filter(|_| !shared.is_read_only) {
            section.panel #panel aria-labelledby="panel-title" {
                div.about {
                    h2 #panel-title { (panel.title()) }
                    p data-live="panel-text" #panel-text role="status" { (panel.text()) }
                }
                ul.actions #panel-actions data-live="panel-actions" {
                    @for action in panel.actions() {
                        li {
                            (button(shared, &shared.access.path(&format!("/panel/{}", action.name)), action.label, "primary"))
                            span.quiet { (action.note) }
                        }
                    }
                }
                p.notice.bad #panel-failure role="alert" hidden {}
                div.orders #panel-rows data-live="panel-rows" tabindex="0" role="region" aria-label="Orders" {
                    (panel.rows())
                }
            }
        }
    }
}
