use crate::telemetry;

/// Reports damage that a store of your own has found and set aside, by log and metric. `part` is a label of the metric, such as
/// `entry` or `ledger`. The finding is a sentence with what to do; it names no body, and a job id in it is escaped. A
/// store also reports it in [`StoreHealth::findings`](crate::store::StoreHealth::findings).
pub fn report_damage(part: &'static str, finding: &str) {
    telemetry::damage_found(part, finding);
}
