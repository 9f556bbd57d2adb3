# The adapter of op `session`: several runs on one thread, which the agent keeps by its own memory.
#
# The agent here is the class Agent, a loop whose memory is a list. Put yours in its place: the scripted model at its model interface, the
# scripted tools, and the memory that its documentation recommends (a checkpointer, a session, the list that a run hands back). Fix nothing
# between runs: what the memory holds is what the next run gets, and that is what is judged.
require_relative "lines"

module Sessions
  # What the agent has, by itself or as its documentation tells its users to do. Cases that need anything else are unsupported, and do not
  # count against it. Add one after the other: "error", "cancel", "kill", "limit", "resume", "approval", "edit", "compact", "handoff",
  # "opaque", "raw", "image", "rewind", "branch", "steer". What a run has then is said in
  # https://github.com/threadspec/threadspec/blob/main/conformance/REFERENCE.md#sessions.
  FEATURES = ["message"].freeze

  # The agent that is tested: it asks the model, answers each call, and remembers.
  class Agent
    def initialize(system, script)
      @memory = system.to_s.empty? ? [] : [{ "type" => "system", "content" => system }]
      @script = script
    end

    def run(message)
      @memory << { "type" => "human", "content" => message }
      loop do
        response = @script.ask(@memory)
        @memory << response
        return unless response.key?("tool_calls")

        response["tool_calls"].each do |call|
          @memory << { "type" => "tool", "tool_call_id" => call["id"], "content" => answer(call) }
        end
      end
    end

    private

    def answer(call)
      result = @script.execute(call)
      result.is_a?(String) ? result : Lines.write(result)
    rescue StandardError => error
      "Error: #{error.message}"
    end
  end

  # The model and the tools of a session, and what they saw in each run.
  class Script
    attr_reader :runs

    def initialize(tools)
      @tools = tools
      @runs = []
    end

    def begin(turns)
      @runs << { requests: [], executed: [] }
      @turns = turns.dup
    end

    # The model: keeps a copy of what it gets, before anybody changes it, and says what the script says next.
    def ask(messages)
      @runs.last[:requests] << Marshal.load(Marshal.dump(messages))
      turn = @turns.shift || { "error" => "script exhausted" }
      raise turn["error"] if turn.key?("error")

      calls = turn["tool_calls"].to_a
      { "type" => "ai", "content" => turn["content"].to_s, **(calls.empty? ? {} : { "tool_calls" => calls }) }
    end

    # A tool: keeps what it was called with, and gives the result of the call with this id.
    def execute(call)
      raise "there is no tool `#{call["name"]}`" unless @tools.key?(call["name"])

      @runs.last[:executed] << call.slice("id", "name", "args")
      result = @tools[call["name"]]["byId"].fetch(call["id"], "")
      raise result["error"] if result.is_a?(Hash) && result.keys == ["error"] && result["error"].is_a?(String)

      result
    end
  end

  # Plays all runs, also those behind one that failed, and reports each.
  def self.play(session)
    script = Script.new(session["tools"].to_h)
    agent = Agent.new(session["system"], script)
    session["runs"].each do |run|
      script.begin(run["model"])
      agent.run(run["message"])
    rescue StandardError => error
      report = script.runs.last
      # An agent that refuses a run does not ask its model.
      report[report[:requests].empty? ? :refused : :failure] = error.message
    end
    { runs: script.runs }
  end

  def self.answer(request)
    return { id: request["id"], ok: play(request["input"]) } unless request["op"] == "hello"

    implementation = { name: "my-agent", version: "0.1.0", language: "Ruby" }
    hello = { protocol: 1, implementation: implementation, ops: ["session"], profiles: ["universal"], session: FEATURES }
    { id: request["id"], ok: hello }
  end
end

Lines.serve { |request| Sessions.answer(request) } if $PROGRAM_NAME == __FILE__
