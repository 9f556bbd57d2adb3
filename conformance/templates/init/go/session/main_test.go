package main

import (
	"encoding/json"
	"strings"
	"testing"
)

const input = `{
	"storage": "not used by a list",
	"system": "Be brief.",
	"tools": {"look": {"byId": {"c1": "it is open"}}},
	"runs": [
		{"message": "Is it open?", "model": [{"tool_calls": [{"id": "c1", "name": "look", "args": {"at": "the door"}}]}, {"content": "Yes."}]},
		{"message": "Fails", "model": [{"error": "overloaded"}]},
		{"message": "Thanks", "model": [{"content": "Bye."}]}
	]
}`

func reply(t *testing.T, line string, ok any) {
	t.Helper()
	var r request
	if err := json.Unmarshal([]byte(line), &r); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(answer(r)["ok"])
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, ok); err != nil {
		t.Fatal(err)
	}
}

func TestHelloNamesTheFeatures(t *testing.T) {
	var hello struct{ Ops, Profiles, Session []string }
	reply(t, `{"id":0,"op":"hello","protocol":1}`, &hello)
	if got := strings.Join(append(append(hello.Ops, hello.Profiles...), hello.Session...), " "); got != "session universal message" {
		t.Errorf("got %s", got)
	}
}

func TestEachRunIsReportedAndBeginsWithTheOneBefore(t *testing.T) {
	var played struct{ Runs []report }
	reply(t, `{"id":7,"op":"session","input":`+input+`}`, &played)
	if len(played.Runs) != 3 {
		t.Fatalf("got %d runs", len(played.Runs))
	}
	first, failed, last := played.Runs[0], played.Runs[1], played.Runs[2]
	if len(first.Executed) != 1 || string(first.Executed[0].Args) != `{"at":"the door"}` {
		t.Errorf("got %v", first.Executed)
	}
	if len(first.Requests) != 2 || len(first.Requests[0]) != 2 || len(first.Requests[1]) != 4 {
		t.Errorf("got %v", first.Requests)
	}
	if failed.Failure != "overloaded" {
		t.Errorf("got %q", failed.Failure)
	}
	texts := []string{}
	for _, one := range last.Requests[0] {
		texts = append(texts, one.Content)
	}
	if got := strings.Join(texts, "|"); got != "Be brief.|Is it open?||it is open|Yes.|Fails|Thanks" {
		t.Errorf("got %s", got)
	}
}
