//! What holds of every generated thread, text and script. A failure is shrunk and its seed kept in
//! `properties.regressions`; store what it teaches as a golden case.

use crate::draws;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::FileFailurePersistence;
use threadspec::{Profile, read_events};
use threadspec_campaign::generate::{GoldenThread, RequestPlan, ScriptPlan, SessionScenario, Text, Thread};
use threadspec_campaign::laws::{self, SecondReaders};
use threadspec_judge::protocol::{Implementation, Reply, Request};
use threadspec_judge::reference::Reference;

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct("properties.regressions"))),
        ..draws(100, 400)
    })]

    #[test]
    fn a_text_comes_back_from_a_parser(text: Text) {
        for profile in Profile::ALL { laws::escape(&text.text(), profile, SecondReaders::Both); }
    }

    #[test]
    fn a_document_carries_each_event_and_nothing_else(thread: Thread) {
        for profile in Profile::ALL { laws::serialize(&thread.events(), profile, SecondReaders::Both); }
    }

    #[test]
    fn a_thread_that_is_cut_anywhere_still_serializes(thread: Thread, at: Index) {
        let events = thread.events();
        let (before, after) = events.split_at(at.index(events.len() + 1));
        for profile in Profile::ALL {
            laws::serialize(before, profile, SecondReaders::Both);
            laws::serialize(after, profile, SecondReaders::Both);
        }
    }

    #[test]
    fn a_golden_thread_can_go_on_in_any_way(thread: GoldenThread) {
        for profile in Profile::ALL {
            laws::serialize(&thread.events(), profile, SecondReaders::Both);
            laws::messages(&thread.events(), profile);
        }
    }

    #[test]
    fn messages_are_what_they_must_be_wherever_a_thread_is_cut(thread: Thread) {
        for profile in Profile::ALL { laws::messages(&thread.events(), profile); }
    }

    #[test]
    fn both_context_modes_carry_every_fact(thread: Thread) {
        for profile in Profile::ALL { laws::equivalence(&thread.events(), profile); }
    }

    #[test]
    fn the_fast_forms_are_the_plain_ones(thread: GoldenThread) {
        for profile in Profile::ALL { laws::plain(&thread.events(), profile); }
    }

    #[test]
    fn requests_of_tool_rounds_grow_by_rounds(script: ScriptPlan) {
        laws::tools(&script.tools_input());
    }

    #[test]
    fn the_context_mode_changes_no_event_of_a_loop(script: ScriptPlan) {
        laws::run_loop(&script.loop_input());
    }

    #[test]
    fn a_session_goes_on_whatever_happened_before(session: SessionScenario) {
        laws::session(&session);
    }

    #[test]
    fn a_log_survives_its_own_writing(thread: Thread) {
        laws::input(thread.json().as_bytes());
    }

    #[test]
    fn unknown_fields_change_nothing(thread: Thread) {
        prop_assert_eq!(read_events(&thread.json_with_unknown_fields()), Ok(thread.events()));
    }

    #[test]
    fn a_generated_request_is_valid(request: RequestPlan) {
        for profile in Profile::ALL {
            let reply = Reference.answer(&Request::new(1, request.op(), profile, request.input()));
            prop_assert!(matches!(reply, Reply::Ok(_)), "{:?}", reply);
        }
    }
}
