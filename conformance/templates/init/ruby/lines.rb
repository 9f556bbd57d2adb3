require "json"

# The lines of the protocol, which both adapters speak.
module Lines
  # Every escape of JSON; one that is half a surrogate pair is captured.
  ESCAPES = /\\(?:u[dD][89abAB]\h\h\\u[dD][c-fC-F]\h\h|(u[dD][89a-fA-F]\h\h)|.)/

  module_function

  # Half a surrogate pair is read as U+FFFD: some versions of `json` refuse it, others make a string of it that they cannot write.
  def read(line)
    # Without a limit: `json` has one of a hundred levels.
    JSON.parse(line.gsub(ESCAPES) { |escape| $1 ? "\\ufffd" : escape }, max_nesting: false)
  end

  def write(value)
    JSON.generate(value, max_nesting: 0)
  end

  # Answers requests until standard input ends.
  def serve
    # Neither the locale nor the platform's line ends interfere.
    $stdin.binmode.set_encoding(Encoding::UTF_8)
    $stdout.binmode.sync = true
    $stdin.each_line { |line| $stdout.write(write(yield(read(line))) + "\n") }
  end
end
