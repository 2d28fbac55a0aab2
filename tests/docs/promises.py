"""What the documents promise, and the tests that hold the service to it.

By the first words of a sentence in docs/operations.md, by the kind of a problem in docs/errors.md. A name that begins
with `tests/` or `benchmarks/` is a file, one without stands in the file before it.
"""

from __future__ import annotations

NO_PROMISE = {
    "Put a proxy in front of a service that strangers can reach": "advice",
    "With one worker all are held in memory": "follows from the sentence before",
    "without it, a page elsewhere could have a browser ask": "says what is not done",
    "`type` is stable.": "test_openapi.py holds the list of types; that it does not change is a promise of ours",
    "Programs should decide by it": "advice",
    "[security.md](security.md) has this for everybody": "a link",
    "What is `busy` is told so before anything": "benchmarks/load.py measures it; no test looks at a clock",
}
"""Sentences that promise nothing that a test could hold, and why."""

FLOODED = "tests/app/http/test_flooded.py"
STARVING = "tests/app/http/test_starving.py"
EARLY = "tests/app/http/test_early.py"
POOL = "tests/app/workers/test_pool.py"
INTAKE = "tests/app/workers/test_intake.py"
ADMISSION = "tests/app/workers/test_admission.py"
PRIVILEGES = "tests/app/http/test_privileges.py"
CONFINED = "tests/app/workers/test_confined.py"
CONNECTION = "tests/app/http/test_connection.py"
LIMITS = "tests/app/http/test_v1_limits.py"
REFUSALS = "tests/macekit/client/test_refusals.py"
LOAD = "tests/app/http/test_load.py"
OPENAPI = "tests/contract/test_openapi.py"
OCCURS = (OPENAPI, "test_a_documented_problem_occurs_where_it_is_documented")

HOSTILE_CLIENT = {
    "A place in the queue is taken when work can start": (
        STARVING,
        "test_trickled_counts_leave_every_other_request_its_place",
        "test_as_many_silent_uploads_as_may_arrive_keep_nobody_out",
        ADMISSION,
        "test_what_arrives_takes_no_place_but_counts_for_its_client",
    ),
    "If less than 64 KiB of it arrive within": (
        INTAKE,
        "test_a_body_that_does_not_come_as_it_should_ends_as_its_own_problem",
    ),
    "At most 1024 bodies arrive at once": (
        STARVING,
        "test_as_many_silent_uploads_as_may_arrive_keep_nobody_out",
        "tests/app/workers/test_spool.py",
        "test_all_spools_share_one_budget_and_give_back_what_they_held",
        "test_a_large_body_leaves_an_eighth_to_small_ones",
    ),
    "Where one more needs room, the body furthest behind": (
        ADMISSION,
        "test_when_as_many_arrive_as_may_the_one_furthest_behind_gives_its_place_to_the_next",
        STARVING,
        "test_slow_bodies_that_fill_the_memory_of_all_give_way_to_the_next",
    ),
    "Bodies of `/v1/counts` that are read as they arrive": (
        INTAKE,
        "test_uploads_that_arrive_slowly_leave_one_worker_to_everybody_else",
    ),
    "Up to 32 more wait, each for as long as `MACE_STALL_LIMIT`": (
        STARVING,
        "test_a_count_takes_the_worker_of_one_that_trickles",
        ADMISSION,
        "test_a_slow_stream_gives_its_worker_to_one_that_waited_as_long_as_it_held_it",
    ),
    "If there is none, the body that waits is held in memory": (
        STARVING,
        "test_a_count_is_held_in_memory_where_no_worker_can_read_it_as_it_comes",
    ),
    "Small bodies (`MACE_INLINE_LIMIT`) have eight places": (
        ADMISSION,
        "test_small_bodies_have_places_that_large_ones_cannot_take",
        "test_small_requests_and_others_get_workers_by_turns",
        LIMITS,
        "test_when_every_place_is_taken_the_next_is_told_to_come_again_unless_it_is_small",
    ),
    "An answer is dropped when its client takes less": (
        "tests/app/http/test_hostile.py",
        "test_an_answer_nobody_reads_is_dropped",
        STARVING,
        "test_a_slow_reader_that_keeps_the_pace_gets_the_whole_answer",
    ),
    "Until then it is held, and counts towards": (
        POOL,
        "test_a_large_reply_is_mapped_and_counts_as_held_until_it_is_let_go",
        "test_a_reply_for_which_there_is_no_room_is_refused",
    ),
    "A worker that runs out of time or memory fails one request": (
        POOL,
        "test_a_job_past_the_time_limit_is_ended_and_says_what_to_do",
        "test_memory_beyond_all_bounds_is_refused_and_the_worker_replaced",
    ),
    "The request of one that dies is done once more": (
        POOL,
        "test_a_job_whose_worker_is_lost_is_done_by_another",
        "test_a_job_that_ends_two_workers_fails_and_ends_no_third",
        INTAKE,
        "test_a_worker_that_ends_or_does_not_read_or_answer_fails_its_upload",
        LOAD,
        "test_processes_that_die_or_stop_under_load_fail_nobody_and_leave_nothing_behind",
    ),
    "What is answered in the server itself is what": (
        INTAKE,
        "test_small_json_that_is_quick_is_answered_here_and_all_else_by_a_worker",
        "tests/app/http/test_hostile.py",
        "test_a_small_body_that_may_be_slow_goes_to_a_worker",
    ),
    "Between two of them the event loop turns 16 times": (
        ADMISSION,
        "test_between_two_computations_everything_else_gets_several_turns_of_the_loop",
        "test_connections_that_wait_are_taken_first_but_not_for_ever",
        "test_more_compute_in_a_turn_where_all_else_takes_longer_but_few",
        FLOODED,
        "test_a_probe_does_not_wait_for_all_the_small_requests_before_it",
    ),
    "What comes meanwhile goes to workers that have nothing": (
        ADMISSION,
        "test_only_one_computes_in_a_turn_of_the_loop_and_so_many_wait",
        "test_the_first_that_waits_for_its_turn_goes_to_a_worker_that_comes_free",
        FLOODED,
        "test_more_small_requests_than_may_wait_are_told_when_to_come_back_and_none_is_dropped",
        LOAD,
        "test_more_clients_than_it_can_answer_are_answered_or_told_when_to_come_back",
    ),
    "Of these refusals 200 leave in a second": (
        ADMISSION,
        "test_refusals_leave_at_a_pace_and_none_is_kept_for_long",
    ),
    "A request that is refused before its body has come": (
        EARLY,
        "test_a_refusal_reaches_a_client_that_sends_its_whole_body_first",
        "test_a_refusal_of_a_body_that_has_come_leaves_the_connection_open",
    ),
    "What still comes of the body is read and dropped": (
        EARLY,
        "test_a_refusal_reaches_a_client_that_sends_its_whole_body_first",
        "test_a_refused_client_that_sends_for_ever_is_cut_off",
    ),
    "A client may close its side once its request is sent": (
        EARLY,
        "test_a_client_that_closes_its_side_after_its_request_is_answered",
        "test_a_client_that_closes_its_side_amid_its_body_has_left_and_leaves_nothing_behind",
    ),
    "Whether it has left is asked by `100 Continue`": (
        EARLY,
        "test_a_client_that_leaves_while_it_waits_ends_its_worker_and_the_next_is_answered",
        LIMITS,
        "test_a_request_that_takes_too_long_is_ended_and_the_next_is_answered",
    ),
    "Workers read what strangers send": (
        PRIVILEGES,
        "test_workers_can_gain_no_rights_and_have_none_that_would_let_them_trace",
    ),
    "They can gain no rights": (
        PRIVILEGES,
        "test_workers_can_gain_no_rights_and_have_none_that_would_let_them_trace",
        "test_workers_have_no_network_where_the_system_lets_them_give_it_up",
    ),
    "Where the kernel has Landlock": (
        CONFINED,
        "test_it_cannot_read_the_file_that_holds_the_key",
        "test_it_cannot_see_what_the_service_was_started_with",
        "test_it_cannot_write_anywhere",
        "test_it_cannot_run_a_program",
        "test_it_reads_what_it_works_with",
    ),
    "Its later versions also keep them from TCP": (
        CONFINED,
        "test_it_cannot_connect",
        "test_it_cannot_send_the_service_a_signal",
    ),
    "The log says what they have given up": (PRIVILEGES, "test_the_log_says_what_workers_have_given_up"),
    "Files with a key can be read by workers where": (CONFINED, "test_one_that_is_not_confined_could"),
    "No process of the service writes a core": (
        PRIVILEGES,
        "test_no_process_of_it_writes_a_core",
        "test_a_process_with_the_rights_of_a_worker_cannot_look_into_any_of_it",
    ),
    "`MACE_API_KEY` is wiped from the server's environment": (
        PRIVILEGES,
        "test_the_key_is_in_no_environment",
        POOL,
        "test_workers_know_none_of_the_settings_which_hold_the_key",
    ),
    "An address with an escape (`%2F`) is 404": (
        "tests/app/http/test_addresses.py",
        "test_an_address_with_an_escape_is_no_other_address",
    ),
    "`MACE_ALLOWED_HOSTS` lists the names in `Host`": (
        "tests/app/http/test_addresses.py",
        "test_a_host_that_is_listed_is_answered",
        "test_any_other_host_is_refused_except_by_probes",
    ),
    "The number of connections is bounded by the file descriptors": (
        "tests/app/http/test_poor.py",
        "test_more_connections_than_descriptors_fail_until_others_close",
    ),
}

ERRORS = {
    "Every error is `application/problem+json`": (
        "tests/macekit/decoding/test_fuzz.py",
        "test_mutants_of_every_format_are_read_or_refused",
        LIMITS,
        "test_neither_a_problem_nor_the_log_repeats_what_was_submitted",
        CONNECTION,
        "test_what_is_not_http_is_a_problem",
    ),
    "In the shell and in a program, where the data are at home": (
        "tests/app/test_mistakes.py",
        "test_in_the_shell_a_mistake_is_one_line_and_nothing_is_written",
        "test_what_is_sent_names_no_column_that_came",
        "test_a_long_table_is_not_listed_whole_and_the_nearest_come_first",
    ),
    "`detail` is for people": OCCURS,
    "`field` names the option or column at fault": (
        REFUSALS,
        "test_what_is_wrong_with_an_option_is_said_by_its_name",
        "test_a_row_without_a_score_is_named_by_its_number",
    ),
    "`instance` carries the request's id": (
        "tests/macekit/test_problems.py",
        "test_a_problem_names_the_requests_id",
        "test_a_mistake_is_logged_with_its_place_and_the_requests_id",
    ),
    "A request that is not HTTP at all is refused": (CONNECTION, "test_what_is_not_http_is_a_problem"),
}

PROBLEMS = {
    "malformed-body": (
        *OCCURS,
        "tests/macekit/decoding/test_json.py",
        "test_a_body_that_cannot_be_read_is_a_problem_that_says_why",
        "tests/macekit/decoding/test_table.py",
        "test_csv_that_cannot_be_read_is_a_problem_that_says_why",
    ),
    "incomplete-body": (
        *OCCURS,
        "tests/macekit/decoding/test_compression.py",
        "test_a_compressed_body_cut_anywhere_is_incomplete",
    ),
    "bad-request": (CONNECTION, "test_what_is_not_http_is_a_problem"),
    "unauthorized": ("tests/app/http/test_front.py", "test_without_the_key_nothing_does"),
    "not-found": (CONNECTION, "test_odd_addresses_lead_nowhere"),
    "method-not-allowed": (
        "tests/macekit/test_problems.py",
        "test_a_method_not_taken_is_a_problem_that_lists_those_taken",
    ),
    "not-acceptable": OCCURS,
    "upload-stalled": (LIMITS, "test_a_body_that_stops_arriving_is_given_up"),
    "request-stalled": (CONNECTION, "test_a_head_that_stops_arriving_is_given_up"),
    "too-large": (
        LIMITS,
        "test_a_body_over_the_limit_is_refused_though_it_did_not_say_its_length",
        "test_a_body_that_expands_beyond_its_limit_is_refused",
    ),
    "memory-limit": (POOL, "test_memory_is_granted_up_to_the_limit_and_not_beyond"),
    "too-long-address": (CONNECTION, "test_an_address_past_the_limit_is_a_problem"),
    "unsupported-media-type": OCCURS,
    "pickle": (
        *OCCURS,
        "tests/macekit/decoding/test_pickles.py",
        "test_a_pickle_is_refused_by_its_name_whatever_it_is_said_to_be",
    ),
    "too-few-records": OCCURS,
    "not-finite": (
        *OCCURS,
        REFUSALS,
        "test_a_score_that_is_not_finite_is_named_by_its_record",
    ),
    "mixed-types": OCCURS,
    "ragged-rows": OCCURS,
    "dimension-mismatch": OCCURS,
    "bad-records": (
        *OCCURS,
        REFUSALS,
        "test_what_is_no_column_of_scores_is_refused",
    ),
    "bad-probabilities": OCCURS,
    "out-of-range": OCCURS,
    "unknown-name": OCCURS,
    "unknown-field": (
        *OCCURS,
        LIMITS,
        "test_an_unknown_option_of_the_query_string_is_answered_with_the_nearest",
    ),
    "missing-field": OCCURS,
    "wrong-type": OCCURS,
    "bad-option": OCCURS,
    "too-many-subsets": OCCURS,
    "not-installed": (
        "tests/app/http/test_theory.py",
        "test_an_accountant_that_is_not_installed_is_told_with_the_way_to_get_it",
    ),
    "bad-metric": OCCURS,
    "bad-counts": OCCURS,
    "incompatible-cells": OCCURS,
    "too-many-cells": OCCURS,
    "forbidden": ("tests/app/http/test_access.py", "test_a_key_opens_what_its_scope_names"),
    "rate-limit": ("tests/app/http/test_access.py", "test_a_key_asks_so_many_times_a_minute"),
    "too-many-requests": (LIMITS, "test_a_client_with_too_many_requests_under_way_is_told_so"),
    "too-large-head": (CONNECTION, "test_headers_past_the_limit_are_a_problem"),
    "internal": (
        "tests/macekit/test_problems.py",
        "test_a_mistake_is_logged_with_its_place_and_the_requests_id",
        POOL,
        "test_an_unexpected_error_is_logged_by_place_and_never_by_what_it_said",
    ),
    "worker-lost": (
        LIMITS,
        "test_a_request_that_loses_two_workers_fails_and_the_next_is_answered",
        INTAKE,
        "test_a_worker_that_ends_or_does_not_read_or_answer_fails_its_upload",
    ),
    "outdated-state": (
        "tests/app/http/test_forged_runs.py",
        "test_nothing_forged_edited_rewound_or_sent_twice_is_signed",
        "tests/app/test_runs.py",
        "test_an_earlier_state_with_another_batch_is_refused",
    ),
    "busy": (
        LIMITS,
        "test_when_every_place_is_taken_the_next_is_told_to_come_again_unless_it_is_small",
        POOL,
        "test_no_one_waits_for_a_worker_longer_than_work_may_take",
        INTAKE,
        "test_more_bodies_than_may_be_held_are_refused",
        "tests/app/http/test_poor.py",
        "test_a_body_for_which_there_is_no_room_is_told_to_come_again_and_an_answer_is_sent_all_the_same",
        STARVING,
        "test_slow_bodies_that_fill_the_memory_of_all_give_way_to_the_next",
    ),
    "not-ready": ("tests/app/http/test_health.py", "test_it_is_alive_before_its_workers_are"),
    "time-limit": (LIMITS, "test_a_request_that_takes_too_long_is_ended_and_the_next_is_answered"),
    "shutting-down": (
        "tests/app/cli/test_serve.py",
        "test_at_its_end_it_finishes_what_is_under_way_and_takes_nothing_new",
    ),
}
