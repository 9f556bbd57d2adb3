// Package lines speaks the protocol of both adapters: one JSON object a line, from standard input to standard output.
package lines

import (
	"bufio"
	"encoding/json"
	"io"
	"log"
	"os"
)

// Serve answers requests until standard input ends.
func Serve[Request any](answer func(Request) map[string]any) {
	// Lines may be too long for a Scanner.
	lines, replies := bufio.NewReader(os.Stdin), json.NewEncoder(os.Stdout)
	replies.SetEscapeHTML(false)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var r Request
			if err := json.Unmarshal(line, &r); err != nil {
				log.Fatal(err)
			}
			if err := replies.Encode(answer(r)); err != nil {
				log.Fatal(err)
			}
		}
		if err == io.EOF {
			return
		}
		if err != nil {
			log.Fatal(err)
		}
	}
}
