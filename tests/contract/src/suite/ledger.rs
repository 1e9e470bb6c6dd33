/// Generates a `#[test]` for each case that a store with a ledger must pass. The expression makes a new
/// [`LedgerSubject`](crate::LedgerSubject) and is evaluated once per test.
#[macro_export]
macro_rules! ledger_contract {
    ($subject:expr) => {
        $crate::ledger_contract! {
            @ $subject;
            expect {
                a_new_job_is_expected,
                several_jobs_are_expected_at_once,
                the_time_of_the_first_poll_is_rounded_down,
                a_job_that_names_its_intent_resolves_it,
                a_job_whose_article_came_before_has_arrived,
                a_job_whose_article_the_api_gave_before_was_collected,
                an_entry_of_another_event_is_no_article,
                an_open_job_stays_as_it_is,
                a_refused_delivery_brings_a_poll_forward,
                a_refused_delivery_ends_a_poll,
                a_job_leaves_a_backfill,
                an_end_without_an_article_is_opened_again,
                a_job_whose_article_came_is_not_opened,
                the_first_intent_of_a_job_stays,
                a_job_whose_entry_cannot_be_read_is_polled,
            }
            arrival {
                a_delivery_ends_its_job,
                a_delivery_that_ends_no_order_is_stored,
                a_body_of_the_api_ends_its_job_as_collected,
                a_delivery_of_another_job_adds_none,
                a_delivery_of_another_event_is_no_arrival,
                a_delivery_ends_a_poll,
                a_push_after_a_collection_is_noted,
                a_duplicate_adds_its_intent,
                a_copy_beyond_the_body_limit_changes_nothing,
                an_article_after_the_end_is_accepted,
                an_entry_that_cannot_be_read_opens_its_job,
                a_collected_body_that_cannot_be_read_waits,
                an_entry_in_hand_is_not_polled,
                an_entry_that_is_taken_in_hand_ends_its_job,
                an_imported_entry_ends_its_job,
                a_copy_after_retention_is_a_duplicate,
                a_job_that_was_not_expected_outlives_its_entry,
                a_copy_after_an_unreadable_one_is_stored,
            }
            intent {
                an_intent_is_stored_once,
                the_topic_is_that_of_the_last_order,
                an_intent_that_may_be_missing_is_not_ordered_by_itself,
                one_of_several_calls_at_once_orders,
                no_call_begins_in_a_pause,
                an_intent_without_an_answer_is_unknown,
                a_call_whose_answer_was_lost_is_unknown,
                a_lost_answer_does_not_change_what_is_known,
                the_job_of_an_order_is_expected,
                a_late_answer_counts,
                an_answer_without_an_intent_counts,
                a_delivery_may_come_before_the_answer,
                a_delivery_resolves_its_intent,
                a_second_job_does_not_take_an_intent,
                an_intent_of_another_ledger_is_not_added,
                a_refused_order_may_be_made_at_once,
                a_refusal_does_not_change_an_end,
                an_intent_is_ordered_again,
                a_refusal_does_not_hide_an_earlier_call,
                only_an_unknown_intent_is_abandoned,
            }
            poll {
                a_job_is_polled_under_a_lease,
                a_job_is_polled_when_its_time_has_come,
                what_is_due_longest_is_polled_first,
                a_poll_without_an_outcome_is_made_again,
                no_number_of_polls_ends_a_job,
                a_job_that_has_ended_is_not_polled,
                a_poll_takes_a_token,
                a_claim_of_nothing_takes_no_token,
            }
            outcome {
                a_job_is_polled_again_after_its_pause,
                a_job_that_is_missing_is_counted,
                a_key_that_never_knew_a_job_does_not_miss_it,
                a_job_that_is_not_found_ends,
                a_poll_that_was_not_sent_does_not_count,
            }
            answer {
                an_article_of_the_api_is_recorded,
                a_delivery_of_a_collected_body_is_a_duplicate,
                a_failure_is_recorded_under_its_own_event,
                a_failure_that_is_handled_stays_a_failure,
                another_failure_is_handed_out,
                a_failure_that_an_article_overtook_is_not_handed_out,
                the_answer_of_a_lost_poll_is_not_stored,
                an_answer_does_not_bring_back_what_was_erased,
                a_poll_is_settled_once,
                a_later_body_changes_no_job,
            }
            unreadable {
                the_body_that_was_delivered_is_unreadable,
                a_bad_answer_of_hours_ends_no_job,
                another_body_is_collected,
                a_damaged_entry_is_repaired_each_time,
                bodies_of_the_api_that_cannot_be_read_end_a_job,
                bodies_of_the_api_that_are_refused_end_a_job,
                a_delivery_ends_an_unreadable_job,
                a_requeued_entry_ends_an_unreadable_job,
                a_body_of_the_api_is_kept_beside_delivered_ones,
                a_body_of_the_api_replaces_such_a_body,
            }
            bucket {
                a_new_bucket_is_full,
                a_bucket_is_stored,
                polls_take_no_more_than_the_rate,
                an_order_takes_no_token,
                a_pause_lasts_in_full,
                a_pause_is_lifted,
                a_refused_key_is_tried_by_one_poll,
                an_accepted_key_ends_its_pause,
                an_accepted_key_is_reported,
                an_order_that_was_taken_ends_the_pause_of_a_refused_key,
                a_refused_key_stays_paused_beside_another,
            }
            capability {
                another_job_is_refused_once_the_order_was_answered,
                the_job_of_another_order_is_refused,
                the_first_job_is_that_of_the_order_until_the_answer,
                a_late_answer_takes_a_forged_job_away,
                a_forged_job_that_was_handed_out_is_reported,
                an_answer_takes_its_job_from_another_order,
                each_call_of_an_intent_may_have_a_job,
                a_job_that_the_service_knows_is_that_of_the_order,
                a_forged_job_gives_way_to_one_that_the_service_knows,
                another_job_that_the_service_knows_proves_nothing_by_itself,
                a_job_that_the_service_knows_waits_for_what_it_says_of_the_first,
                a_job_that_the_service_does_not_know_is_not_that_of_the_order,
                a_job_that_came_by_token_is_not_polled,
                a_refused_job_that_came_by_token_may_be_that_of_the_order,
                a_call_that_took_nothing_takes_its_job_away,
                a_call_that_took_nothing_leaves_the_job_of_another,
                so_many_jobs_are_polled_for_one_order,
                an_article_in_doubt_is_not_removed,
                an_erased_job_is_not_bound_any_more,
                a_body_that_comes_by_token_too_counts_as_that,
                a_body_by_token_finds_room_behind_those_of_urls,
                a_failure_that_was_delivered_needs_one_answer,
                a_body_by_token_is_kept_beside_a_forged_one,
            }
            retention {
                an_erased_job_leaves_its_intent_ordered,
                an_answer_to_an_order_does_not_bring_back_what_was_erased,
                an_erased_job_may_be_expected_again,
                only_jobs_that_ended_are_pruned,
                no_intent_is_pruned,
                a_batch_removes_the_oldest,
                a_number_is_never_used_again,
            }
            import {
                an_imported_job_is_as_it_was_shown,
                an_imported_job_may_have_arrived,
                an_imported_job_may_be_bound_by_a_delivery_alone,
                an_imported_job_brings_its_intent,
                an_article_that_was_here_is_not_imported,
                an_imported_intent_is_as_it_was_shown,
                an_import_brings_what_became_of_an_intent,
                an_import_merges_the_calls_of_an_intent,
                an_imported_bucket_gives_nothing,
                a_job_is_imported_with_its_article,
                an_imported_job_without_its_article_is_a_tombstone,
                a_copy_of_an_article_that_was_removed_elsewhere_is_done_after_a_merge,
                the_end_of_a_merge_ends_no_pause_that_has_another_reason,
            }
            read {
                an_empty_ledger_is_empty,
                jobs_are_counted_by_state,
                a_job_without_an_end_is_overdue,
                unknown_intents_are_counted,
                a_recovered_job_is_counted_when_no_push_can_come,
                a_list_of_jobs_is_filtered,
                pages_of_jobs_follow_each_other,
                a_list_of_intents_is_filtered,
                a_closed_ledger_fails_every_call,
            }
        }
    };
    (@ $subject:expr; $($part:ident { $($case:ident,)* })*) => {
        $($(
            #[test]
            fn $case() {
                $crate::run($subject, $crate::ledger::$part::$case);
            }
        )*)*
    };
}

#[cfg(test)]
mod tests {
    /// A case that is in no macro would never run.
    #[test]
    fn every_case_of_the_ledger_is_in_the_table() {
        let table = include_str!("ledger.rs");
        let parts = [
            include_str!("../ledger/expect.rs"),
            include_str!("../ledger/arrival.rs"),
            include_str!("../ledger/intent.rs"),
            include_str!("../ledger/poll.rs"),
            include_str!("../ledger/outcome.rs"),
            include_str!("../ledger/answer.rs"),
            include_str!("../ledger/unreadable.rs"),
            include_str!("../ledger/bucket.rs"),
            include_str!("../ledger/capability.rs"),
            include_str!("../ledger/retention.rs"),
            include_str!("../ledger/import.rs"),
            include_str!("../ledger/read.rs"),
        ];
        let cases = parts.iter().flat_map(|part| part.lines()).filter_map(|line| {
            let name = line.strip_prefix("pub async fn ")?;
            name.split_once('(').map(|(name, _)| name)
        });
        for name in cases {
            assert!(table.contains(&format!("                {name},\n")), "{name}");
        }
    }
}
