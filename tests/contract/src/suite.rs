//! The macros that turn cases into tests.

mod ledger;

/// Generates a `#[test]` for each case that every store must pass. The expression makes a new
/// [`Subject`](crate::Subject) and is evaluated once per test.
#[macro_export]
macro_rules! store_contract {
    ($subject:expr) => {
        $crate::store_contract! {
            @ $subject;
            record {
                a_new_body_waits_and_is_due_now,
                a_body_is_kept_as_it_came,
                a_body_is_not_looked_into,
                a_duplicate_changes_nothing,
                a_duplicate_of_a_later_body_is_known,
                a_duplicate_does_not_wake,
                the_same_body_mends_a_corrupt_entry,
                another_body_wakes_an_unhandled_and_a_corrupt_entry,
                an_entry_that_waits_for_a_new_body_has_no_cause,
                another_body_replaces_the_last_of_a_full_unhandled_or_corrupt_entry,
                another_body_is_kept_and_changes_nothing_else,
                a_conflict_without_room_is_not_kept_where_a_body_decodes,
                the_body_limit_is_reached_where_no_body_is_known_to_decode,
                a_duplicate_needs_no_room,
                bodies_stay_in_the_order_they_came,
                each_event_of_a_job_has_its_entry,
                the_same_body_at_once_is_stored_once,
                different_bodies_at_once_share_one_entry,
                a_dropped_call_leaves_nothing_half_done,
                an_id_is_never_given_to_another_entry,
                an_intent_of_a_duplicate_is_kept,
                the_first_intent_stays,
                a_kept_body_has_its_own_intent,
                a_body_that_is_not_kept_leaves_its_intent,
                a_mended_body_is_a_new_one_and_keeps_its_intent,
                a_replaced_body_leaves_its_intent,
                times_are_rounded_down_to_milliseconds,
            }
            claim {
                new_entries_and_what_is_due_longest_are_claimed_first,
                a_claim_that_takes_retries_first_takes_new_entries_after_them,
                an_entry_whose_lease_has_ended_comes_after_new_entries,
                nothing_is_claimed_while_claims_are_paused,
                no_more_are_claimed_than_were_asked_for,
                nothing_is_claimed_where_nothing_is_stored,
                an_attempt_is_counted_when_it_begins,
                a_claim_shows_the_entry_and_its_bodies,
                a_leased_entry_is_not_claimed_before_its_lease_ends,
                an_entry_whose_lease_has_ended_is_claimed_again,
                a_waiting_entry_is_due_when_its_pause_is_over,
                the_next_that_is_due_is_the_soonest_of_the_others,
                an_entry_whose_attempts_never_end_is_discarded,
                a_discarded_entry_is_not_claimed,
                a_discarded_entry_keeps_its_cause,
                a_waiting_entry_without_attempts_left_is_discarded,
                an_entry_that_has_ended_is_not_claimed,
                an_entry_is_handed_to_one_worker,
                a_fence_grows_with_each_claim,
                a_failure_waits_for_a_claim_that_takes_failures,
                failures_and_articles_are_claimed_in_their_order,
                a_failure_has_pauses_and_leases,
                a_failure_is_discarded_by_a_claim_that_takes_failures,
                an_unknown_event_is_claimed_by_every_claim,
            }
            alone {
                an_entry_that_was_interrupted_twice_runs_alone,
                an_interrupted_entry_that_was_released_runs_alone,
                an_interrupted_attempt_is_among_the_failures,
                an_entry_that_was_interrupted_once_runs_beside_others,
                an_entry_runs_alone_after_its_interrupted_last_attempt,
                an_attempt_that_does_not_count_leaves_the_one_after_the_last,
                an_entry_that_must_run_alone_waits_for_others,
                an_entry_that_must_run_alone_waits_for_its_turn,
                an_entry_that_must_run_alone_is_discarded_in_the_end,
                entries_on_their_last_attempt_run_beside_others,
                an_outcome_ends_the_suspicion,
                an_attempt_that_does_not_count_does_not_end_the_suspicion,
                a_requeue_ends_the_suspicion,
            }
            settle {
                a_lease_is_extended_from_now_on,
                leases_that_hold_are_distinguished_from_others,
                a_lease_that_has_ended_is_not_extended,
                a_lease_that_another_worker_has_is_not_extended,
                no_lease_is_extended_unasked,
                an_extended_entry_is_not_claimed,
                a_success_makes_an_entry_done,
                a_failure_lets_an_entry_wait,
                a_failure_for_good_makes_an_entry_dead,
                an_entry_without_an_article_is_unhandled,
                a_damaged_entry_is_corrupt,
                a_body_that_was_not_looked_at_is_not_rejected,
                several_bodies_are_rejected_together,
                a_released_entry_is_due_now,
                a_released_entry_keeps_its_cause,
                a_snoozed_entry_is_due_after_its_pause,
                a_snoozed_entry_keeps_its_cause,
                a_lease_holds_until_it_ends,
                a_lease_that_has_ended_changes_nothing,
                a_lease_that_another_worker_has_changes_nothing,
                a_lease_is_settled_once,
                what_is_done_stays_done,
                a_lease_of_no_entry_is_lost,
                a_fence_that_was_never_given_is_lost,
                a_pause_without_end_is_a_long_one,
                leases_and_pauses_are_rounded_down_to_milliseconds,
            }
            prune {
                the_bytes_of_done_entries_go,
                a_pruned_body_is_still_a_duplicate,
                the_bytes_of_what_ended_first_go_first,
                bytes_do_not_go_before_their_time,
                a_later_body_of_a_done_entry_stays,
                the_bytes_of_a_mended_body_go,
                the_bytes_of_other_entries_stay,
                only_done_and_unhandled_entries_go,
                entries_do_not_go_before_their_time,
                dead_entries_go_by_their_own_limit,
                a_pruned_entry_is_removed,
                a_batch_is_no_larger_than_asked_for,
                a_batch_has_a_limit_of_bytes,
                nothing_goes_where_nothing_is_old,
            }
            read {
                entries_are_counted_by_state,
                an_empty_store_is_empty,
                the_longest_wait_is_known,
                a_later_attempt_is_not_yet_a_wait,
                a_leased_entry_is_due_once_its_lease_has_ended,
                an_entry_shows_since_when_it_is_in_its_state,
                an_entry_shows_its_last_failures,
                an_entry_shows_the_target_of_its_first_body,
                pages_follow_each_other_by_id,
                the_newest_entries_can_come_first,
                filters_hold_in_both_orders,
                an_entry_shows_its_title_and_its_first_body,
                a_list_is_searched,
                a_list_is_filtered_by_group_of_causes,
                causes_are_counted_and_followed_over_a_requeue,
                hours_count_what_arrived_and_what_died,
                a_full_page_may_be_the_last,
                a_list_is_filtered_by_state,
                a_list_is_filtered_by_job_and_event,
                a_list_is_filtered_by_target_and_age,
                a_list_shows_the_entries_as_they_are,
            }
            operator {
                an_entry_that_has_left_a_state_is_not_requeued_from_it,
                a_requeued_entry_begins_again,
                a_requeued_entry_has_all_its_attempts,
                a_waiting_entry_is_requeued_before_its_time,
                a_done_entry_is_requeued_while_a_body_is_there,
                a_requeued_entry_keeps_its_failures,
                other_entries_are_not_requeued,
                a_discarded_entry_is_dead,
                other_entries_are_not_discarded,
                a_job_is_erased,
                other_jobs_are_not_erased,
                an_erased_entry_is_not_settled,
                an_erased_job_may_come_again,
                a_requeued_entry_does_not_listen_to_an_old_lease,
                a_page_of_changes_says_what_became_of_each,
                jobs_are_erased_together,
            }
            import {
                an_imported_entry_is_as_it_was_shown,
                an_imported_lease_waits,
                an_entry_is_not_imported_over_another,
                an_imported_entry_gets_an_id_of_this_store,
                a_lease_of_another_store_is_lost,
                an_imported_body_is_a_duplicate,
                an_imported_entry_is_claimed,
                a_page_is_imported_in_its_order,
                what_is_done_elsewhere_is_done_here_after_a_merge,
                a_merge_adds_what_is_missing_and_can_be_repeated,
            }
            quarantine {
                a_refused_body_is_kept_and_its_job_is_expected,
                an_answer_about_an_erased_job_is_not_kept,
                the_latest_and_the_longest_refused_bodies_are_kept,
                a_refused_body_by_token_gives_way_to_none_that_came_to_a_url,
                a_full_budget_keeps_what_is_there,
                a_good_copy_ends_a_quarantine,
                an_article_that_was_not_handled_ends_no_quarantine,
                a_body_that_does_not_say_that_it_is_complete_stays_in_quarantine,
                another_event_does_not_end_the_quarantine_of_an_article,
                nothing_is_kept_of_an_article_that_is_here,
                a_requeue_reads_a_quarantine_again,
                a_page_of_large_quarantines_is_requeued_in_parts,
                a_quarantine_ends_by_an_operator_and_not_by_its_age,
                a_quarantine_is_exported_and_imported,
                an_article_that_was_handled_elsewhere_ends_a_quarantine,
            }
            life {
                a_sound_store_has_no_damage,
                a_corrupt_entry_is_found,
                a_damaged_body_is_found,
                a_probe_leaves_nothing_behind,
                a_store_shows_no_body_in_logs,
                a_closed_store_fails_every_call,
                looking_changes_nothing,
            }
        }
    };
    (@ $subject:expr; $($part:ident { $($case:ident,)* })*) => {
        $($(
            #[test]
            fn $case() {
                $crate::run($subject, $crate::cases::$part::$case);
            }
        )*)*
    };
}

/// Generates a `#[test]` for each case that a store which outlives its process must pass. The expression makes a new
/// [`Durable`](crate::Durable) subject.
#[macro_export]
macro_rules! durable_store_contract {
    ($subject:expr) => {
        $crate::store_contract! {
            @ $subject;
            durable {
                entries_and_bodies_survive,
                a_leased_entry_survives,
                fences_go_on_growing,
                duplicates_are_known,
                expected_jobs_survive,
                pauses_survive,
                ids_are_not_given_again,
                what_is_gone_stays_gone,
                an_operators_work_survives,
            }
            quarantine {
                a_quarantine_survives,
            }
            alone {
                the_end_of_the_process_is_an_interruption,
            }
        }
    };
}

/// Generates a `#[test]` for each case about [completions](article_webhook_inbox::store::Store::completion). The expression
/// makes a new [`Transactional`](crate::Transactional) subject.
#[macro_export]
macro_rules! transactional_store_contract {
    ($subject:expr) => {
        $crate::store_contract! {
            @ $subject;
            completion {
                a_completion_makes_an_entry_done,
                a_statement_that_is_not_run_changes_nothing,
                a_completed_entry_stays_done,
                a_completed_entry_is_not_claimed_again,
                a_lease_that_has_ended_completes_nothing,
                a_lease_that_another_worker_has_completes_nothing,
                an_entry_is_completed_once,
                a_lease_that_was_settled_completes_nothing,
            }
        }
    };
}

#[cfg(test)]
mod tests {
    /// A case that is in no macro would never run.
    #[test]
    fn every_case_is_in_the_table() {
        let table = include_str!("suite.rs");
        let parts = [
            include_str!("cases/alone.rs"),
            include_str!("cases/claim.rs"),
            include_str!("cases/completion.rs"),
            include_str!("cases/durable.rs"),
            include_str!("cases/import.rs"),
            include_str!("cases/life.rs"),
            include_str!("cases/operator.rs"),
            include_str!("cases/prune.rs"),
            include_str!("cases/quarantine.rs"),
            include_str!("cases/read.rs"),
            include_str!("cases/record.rs"),
            include_str!("cases/record/intent.rs"),
            include_str!("cases/settle.rs"),
        ];
        let names = parts.iter().flat_map(|part| part.lines()).filter_map(|line| {
            let name = line.strip_prefix("pub async fn ")?;
            name.split_once('(').map(|(name, _)| name)
        });
        let mut cases = 0;
        for name in names {
            assert!(table.contains(&format!(" {name},\n")), "{name}");
            cases += 1;
        }
        assert_eq!(
            cases,
            table
                .lines()
                .filter(|line| line.starts_with("                ")
                    && line.ends_with(",")
                    && !line.contains('('))
                .count()
        );
    }
}
