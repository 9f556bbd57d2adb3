# The adapter between threadspec and this implementation: one JSON object a line, from standard input to standard output.
# Replace `escape` with your own method, and add the operations that you have.
require_relative "lines"

module Adapter
  REPLACEMENTS = { "&" => "&amp;", "<" => "&lt;", ">" => "&gt;", '"' => "&quot;", "'" => "&apos;" }.freeze

  OPERATIONS = {
    "escape" => ->(input, _profile) { input.fetch("text").gsub(/[&<>"']/, REPLACEMENTS) }
  }.freeze

  def self.answer(request)
    id, op = request.values_at("id", "op")
    if op == "hello"
      implementation = { name: "my-agent", version: "0.1.0", language: "Ruby" }
      return { id: id, ok: { protocol: 1, implementation: implementation, ops: OPERATIONS.keys, profiles: ["literal"] } }
    end
    return { id: id, unsupported: "not done yet" } unless OPERATIONS.key?(op)

    begin
      { id: id, ok: OPERATIONS[op].call(request["input"], request["profile"]) }
    rescue StandardError => error
      # The kind is `invalid-event` for a wrong element of `events`. In `universal`, once the model was asked, the reply is `ok` with `failure`.
      { id: id, reject: { kind: "invalid-input", message: error.message } }
    end
  end
end

Lines.serve { |request| Adapter.answer(request) } if $PROGRAM_NAME == __FILE__
