// The adapter of op `session`: several runs on one thread, which the agent keeps by its own memory.
//
// The agent here is the type agent, a loop whose memory is a list. Put yours in its place: the scripted model at its model interface, the
// scripted tools, and the memory that its documentation recommends (a checkpointer, a session, the list that a run hands back). Fix nothing
// between runs: what the memory holds is what the next run gets, and that is what is judged.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"example.com/threadspec-adapter/lines"
)

// What the agent has, by itself or as its documentation tells its users to do. Cases that need anything else are unsupported, and do not count
// against it. Add one after the other: "error", "cancel", "kill", "limit", "resume", "approval", "edit", "compact", "handoff", "opaque", "raw",
// "image", "rewind", "branch", "steer". What a run has then is said in
// https://github.com/threadspec/threadspec/blob/main/conformance/REFERENCE.md#sessions.
var features = []string{"message"}

type call struct {
	ID   string          `json:"id"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

type message struct {
	Type    string `json:"type"`
	Content string `json:"content"`
	Calls   []call `json:"tool_calls,omitempty"`
	CallID  string `json:"tool_call_id,omitempty"`
}

type turn struct {
	Content string  `json:"content"`
	Calls   []call  `json:"tool_calls"`
	Error   *string `json:"error"`
}

type tools map[string]struct {
	ByID map[string]json.RawMessage `json:"byId"`
}

type request struct {
	ID    int64  `json:"id"`
	Op    string `json:"op"`
	Input struct {
		System string `json:"system"`
		Tools  tools  `json:"tools"`
		Runs   []struct {
			Message string `json:"message"`
			Model   []turn `json:"model"`
		} `json:"runs"`
	} `json:"input"`
}

type report struct {
	Requests [][]message `json:"requests"`
	Executed []call      `json:"executed"`
	Failure  string      `json:"failure,omitempty"`
	Refused  string      `json:"refused,omitempty"`
}

// The agent that is tested: it asks the model, answers each call, and remembers.
type agent struct {
	memory []message
	script *script
}

func (a *agent) run(said string) error {
	a.memory = append(a.memory, message{Type: "human", Content: said})
	for {
		response, err := a.script.ask(a.memory)
		if err != nil {
			return err
		}
		a.memory = append(a.memory, response)
		if len(response.Calls) == 0 {
			return nil
		}
		for _, one := range response.Calls {
			a.memory = append(a.memory, message{Type: "tool", CallID: one.ID, Content: a.answer(one)})
		}
	}
}

func (a *agent) answer(one call) string {
	result, err := a.script.execute(one)
	if err != nil {
		return "Error: " + err.Error()
	}
	var text string
	if json.Unmarshal(result, &text) == nil && !bytes.Equal(result, []byte("null")) {
		return text
	}
	return string(result)
}

// The model and the tools of a session, and what they saw in the run.
type script struct {
	tools tools
	turns []turn
	run   report
}

func (s *script) begin(turns []turn) {
	s.turns, s.run = turns, report{Requests: [][]message{}, Executed: []call{}}
}

// The model: keeps a copy of what it gets, before anybody changes it, and says what the script says next.
func (s *script) ask(messages []message) (message, error) {
	s.run.Requests = append(s.run.Requests, append([]message{}, messages...))
	if len(s.turns) == 0 {
		return message{}, errors.New("script exhausted")
	}
	next := s.turns[0]
	s.turns = s.turns[1:]
	if next.Error != nil {
		return message{}, errors.New(*next.Error)
	}
	return message{Type: "ai", Content: next.Content, Calls: next.Calls}, nil
}

// A tool: keeps what it was called with, and gives the result of the call with this id.
func (s *script) execute(one call) (json.RawMessage, error) {
	tool, known := s.tools[one.Name]
	if !known {
		return nil, fmt.Errorf("there is no tool `%s`", one.Name)
	}
	s.run.Executed = append(s.run.Executed, one)
	result, known := tool.ByID[one.ID]
	if !known {
		result = json.RawMessage(`""`)
	}
	var failure map[string]json.RawMessage
	var reason string
	if json.Unmarshal(result, &failure) == nil && len(failure) == 1 && json.Unmarshal(failure["error"], &reason) == nil {
		return nil, errors.New(reason)
	}
	return result, nil
}

// Plays all runs, also those behind one that failed, and reports each.
func play(r request) []report {
	s, reports := &script{tools: r.Input.Tools}, []report{}
	a := &agent{script: s}
	if r.Input.System != "" {
		a.memory = append(a.memory, message{Type: "system", Content: r.Input.System})
	}
	for _, run := range r.Input.Runs {
		s.begin(run.Model)
		if err := a.run(run.Message); err != nil {
			// An agent that refuses a run does not ask its model.
			if len(s.run.Requests) == 0 {
				s.run.Refused = err.Error()
			} else {
				s.run.Failure = err.Error()
			}
		}
		reports = append(reports, s.run)
	}
	return reports
}

func answer(r request) map[string]any {
	if r.Op == "session" {
		return map[string]any{"id": r.ID, "ok": map[string]any{"runs": play(r)}}
	}
	implementation := map[string]string{"name": "my-agent", "version": "0.1.0", "language": "Go"}
	return map[string]any{"id": r.ID, "ok": map[string]any{
		"protocol": 1, "implementation": implementation, "ops": []string{"session"}, "profiles": []string{"universal"}, "session": features,
	}}
}

func main() {
	lines.Serve(answer)
}
