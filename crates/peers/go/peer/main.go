// The peer program in Go: the codecs of the standard library and of three others, measured in the
// same rounds as those in Rust. What is inside the clock stands at the head of each file:
//
//	main.go         the verbs; nothing is timed here
//	protocol.go     what is asked and answered
//	measure.go      the clock, batches and turns
//	codecs.go       encode and decode; gob.go, json.go, ugorji.go, vmihailenco.go, fxamacker.go
//	files.go        values to files and back
//	export.go       rows to files; pq.go: rows from PostgreSQL
//	data.go         the types of the datasets; gobtypes.go: those that gob needs
//	compare.go      whether a value came back
//	exchange.go     files for other programs, and from them
//
// A library that is not part of Go stands behind a build tag of its name: ugorji, vmihailenco,
// fxamacker, pq. So the program can be built wherever Go is:
//
//	go build -tags "ugorji vmihailenco fxamacker pq" -o peer .
//
// All times are the process's, so that the collector is in them, which works on threads of its
// own. It runs as it does by default (GOGC=100, as many threads as there are processors).
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"
)

func main() {
	// Where nobody reads the answers any more, to write one is an error like another, after which
	// nothing is left behind.
	signal.Ignore(syscall.SIGPIPE)
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "error: "+err.Error())
		os.Exit(1)
	}
}

const verbs = "expected one of: version, list, check, exchange, measure ID"

func run(args []string) error {
	if len(args) == 0 {
		return errors.New(verbs)
	}
	switch verb := args[0]; {
	case verb == "version" && len(args) == 1:
		return version()
	case verb == "exchange" && len(args) == 1:
		return exchangeAll()
	case verb == "list" && len(args) == 1:
		return withSuite(list)
	case verb == "check" && len(args) == 1:
		return withSuite(checkAll)
	case verb == "measure" && len(args) == 2:
		var id cellID
		if err := json.Unmarshal([]byte(args[1]), &id); err != nil {
			return fmt.Errorf("measure: `%s` is no cell id: %w", args[1], err)
		}
		return withSuite(func(s *suite) error { return measure(s, id) })
	}
	return fmt.Errorf("%s: found `%s`, %d arguments", verbs, args[0], len(args)-1)
}

func version() error {
	libraries := map[string]string{}
	for _, codec := range codecs {
		libraries[codec.id] = codec.version
	}
	for _, client := range clients {
		libraries[client.id] = client.version
	}
	return say("version", map[string]any{"program": runtime.Version(), "libraries": libraries})
}

func list(s *suite) error {
	for _, cell := range s.cells {
		plan, err := cell.planned()
		if err != nil {
			return err
		}
		if err := say("cell", plan); err != nil {
			return err
		}
	}
	return nil
}

func checkAll(s *suite) error {
	return eachLine(func(line []byte) error {
		var id cellID
		if err := json.Unmarshal(line, &id); err != nil {
			return fmt.Errorf("check: `%s` is no cell id: %w", line, err)
		}
		cell, err := s.find(id)
		if err != nil {
			return err
		}
		if err := say("begin", id); err != nil {
			return err
		}
		documents, err := cell.documents()
		if err != nil {
			return err
		}
		answer := checked{cellID: id, Documents: documents}
		if cell.skip != "" {
			answer.Status, answer.Reason = "unsupported", cell.skip
			return say("checked", answer)
		}
		if err := guarded(func() error { return cell.check(&answer) }); err != nil {
			answer = checked{cellID: id, Documents: documents}
			answer.Status, answer.Reason = "failed", err.Error()
			return say("checked", answer)
		}
		answer.Status = "skipped" // Passed: it waits for its figure.
		return say("checked", answer)
	})
}

// guarded makes an error of a panic: what a library does with its input is no reason to die.
func guarded(work func() error) (err error) {
	defer func() {
		if what := recover(); what != nil {
			err = fmt.Errorf("panic: %v", what)
		}
	}()
	return work()
}

// eachLine shows each line of standard input that is not empty.
func eachLine(each func(line []byte) error) error {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if len(lines.Bytes()) == 0 {
			continue
		}
		if err := each(lines.Bytes()); err != nil {
			return err
		}
	}
	return lines.Err()
}
