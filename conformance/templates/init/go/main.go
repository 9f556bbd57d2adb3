// The adapter between threadspec and this implementation: one JSON object a line, from standard input to standard output.
// Replace escape with your own function, and add the operations that you have.
package main

import (
	"encoding/json"
	"errors"
	"strings"

	"example.com/threadspec-adapter/lines"
)

type request struct {
	ID      int64           `json:"id"`
	Op      string          `json:"op"`
	Profile string          `json:"profile"`
	Input   json.RawMessage `json:"input"`
}

type rejection struct {
	Kind    string `json:"kind"`
	Message string `json:"message"`
}

var operations = map[string]func(input json.RawMessage, profile string) (any, error){
	"escape": escape,
}

var replacer = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&apos;")

func escape(input json.RawMessage, profile string) (any, error) {
	var arguments struct {
		Text *string `json:"text"`
	}
	if err := json.Unmarshal(input, &arguments); err != nil {
		return nil, err
	}
	if arguments.Text == nil {
		return nil, errors.New("no text")
	}
	return replacer.Replace(*arguments.Text), nil
}

func answer(r request) map[string]any {
	if r.Op == "hello" {
		ops := []string{}
		for op := range operations {
			ops = append(ops, op)
		}
		implementation := map[string]string{"name": "my-agent", "version": "0.1.0", "language": "Go"}
		return map[string]any{"id": r.ID, "ok": map[string]any{
			"protocol": 1, "implementation": implementation, "ops": ops, "profiles": []string{"literal"},
		}}
	}
	operation, known := operations[r.Op]
	if !known {
		return map[string]any{"id": r.ID, "unsupported": "not done yet"}
	}
	output, err := operation(r.Input, r.Profile)
	if err != nil {
		// The kind is `invalid-event` for a wrong element of `events`. In `universal`, once the model was asked, the reply is `ok` with `failure`.
		return map[string]any{"id": r.ID, "reject": rejection{"invalid-input", err.Error()}}
	}
	return map[string]any{"id": r.ID, "ok": output}
}

func main() {
	lines.Serve(answer)
}
