require "minitest/autorun"
require_relative "session"

class SessionTest < Minitest::Test
  CALL = { "id" => "c1", "name" => "look", "args" => { "at" => "the door" } }.freeze
  INPUT = {
    "storage" => "not used by a list",
    "system" => "Be brief.",
    "tools" => { "look" => { "byId" => { "c1" => "it is open" } } },
    "runs" => [
      { "message" => "Is it open?", "model" => [{ "tool_calls" => [CALL] }, { "content" => "Yes." }] },
      { "message" => "Fails", "model" => [{ "error" => "overloaded" }] },
      { "message" => "Thanks", "model" => [{ "content" => "Bye." }] }
    ]
  }.freeze

  def test_hello_names_the_features
    hello = Sessions.answer({ "id" => 0, "op" => "hello", "protocol" => 1 })[:ok]
    assert_equal [["session"], ["universal"]], hello.values_at(:ops, :profiles)
    assert_includes hello[:session], "message"
  end

  def test_each_run_is_reported_and_begins_with_the_one_before
    first, failed, last = Sessions.answer({ "id" => 7, "op" => "session", "input" => INPUT })[:ok][:runs]
    assert_equal [CALL], first[:executed]
    assert_equal [2, 4], first[:requests].map(&:size)
    assert_equal "overloaded", failed[:failure]
    texts = last[:requests].first.map { |message| message["content"] }
    assert_equal ["Be brief.", "Is it open?", "", "it is open", "Yes.", "Fails", "Thanks"], texts
  end
end
