-- Runs of three rounds with two calls each, a key each; one in a hundred leaves an answer out. For wrk, with as many threads as
-- connections, so that the rounds of a run come one after the other. DELAY=MS in the environment pauses before each request.

local threads = 0
function setup(thread)
  thread:set("number", threads)
  threads = threads + 1
end

local function message(round, leaves_out)
  local first, second = 2 * round, 2 * round + 1
  local call = '{"id":"c%d","type":"function","function":{"name":"look","arguments":"{\\"n\\":%d}"}}'
  local answer = ',{"role":"tool","tool_call_id":"c%d","content":"ok"}'
  return ',{"role":"assistant","content":"I look.","tool_calls":[' .. call:format(first, first) .. "," .. call:format(second, second) .. "]}"
    .. answer:format(first) .. (leaves_out and "" or answer:format(second))
end

local function body(rounds, leaves_out)
  local messages = '{"role":"system","content":"Be brief."},{"role":"user","content":"Go"}'
  for round = 0, rounds - 1 do
    messages = messages .. message(round, leaves_out and round == rounds - 1)
  end
  return '{"model":"gpt-4.1","messages":[' .. messages .. '],"tools":[{"type":"function","function":{"name":"look","parameters":{"type":"object"}}}]}'
end

local bodies = { body(0), body(1), body(2) }
local breach = body(2, true)
local sent = 0

function request()
  local run, round = math.floor(sent / 3), sent % 3
  sent = sent + 1
  local text = bodies[round + 1]
  if round == 2 and run % 100 == 99 then text = breach end
  local headers = { ["content-type"] = "application/json", authorization = "Bearer sk-threadspec-" .. number .. "-" .. run }
  return wrk.format("POST", "/v1/chat/completions", headers, text)
end

local pause = tonumber(os.getenv("DELAY") or "0")
if pause > 0 then
  function delay() return pause end
end
