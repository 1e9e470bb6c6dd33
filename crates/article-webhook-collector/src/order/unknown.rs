use article_webhook_inbox::IntentState;
use tokio::time::sleep;

use super::submit::within;
use crate::{shared::Shared, telemetry};

/// How many intents are counted.
const MAX_COUNTED_INTENTS: u32 = 1000;

/// Reports the orders whose outcome is unknown, once the deadlines have passed for the calls that another process
/// made before it ended.
pub(crate) async fn report_unknown_orders(shared: &Shared) {
    sleep(within(shared)).await;
    match shared.ledger.intents(Some(IntentState::Unknown), 0, MAX_COUNTED_INTENTS).await {
        Ok(unknown) if unknown.items.is_empty() => {}
        Ok(unknown) => telemetry::orders_left_unknown(unknown.items.len()),
        Err(error) => telemetry::store_failed("intents", &error),
    }
}
