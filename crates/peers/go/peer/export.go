// The suite export: rows of a table as lines of text. Inside the clock is all from creating the file to
// closing it (export: the rows are at hand); before it, asking for all rows and holding them
// (query-export), or asking for them and writing each as it comes (stream-export); or only asking
// (query). Outside are connecting, the file's name, and removing it. Rows are freed by the collector.
//
//	text/go:fmt       fmt.Fprintf, as an original program had it; a call for a row
//	text/go:append    strconv and append, the best form of Go: a row into a kept slice, then Write; or,
//	                  in the way whole, all rows into a kept slice, then one Write
//
//	direct                    a call of the system for each row
//	buffer-4k, buffer-64k     through a new bufio.Writer: of its default size, and larger

package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strconv"
	"strings"
)

type client struct{ id, version string }

// clients stand in the place of a codec and are none.
var clients = []client{
	{"text/go:fmt", runtime.Version()},
	{"text/go:append", runtime.Version()},
}

// A table has the rows of `todos` in a database.
type table interface {
	collect() ([]Todo, error)
	// stream shows each row as it comes; it holds until the next one.
	stream(each func(*Todo) error) error
	close() error
}

// openTable connects and fills a table; nil where there is no database or no client for it.
var openTable func(todos []Todo) (table, error)

const (
	memory   = "todos"
	postgres = "todos-postgres"
)

var exportWays = []struct{ codec, mode, way string }{
	{"text/go:fmt", "stream", "direct"},
	{"text/go:fmt", "stream", "buffer-4k"},
	{"text/go:fmt", "stream", "buffer-64k"},
	{"text/go:append", "stream", "direct"},
	{"text/go:append", "stream", "buffer-4k"},
	{"text/go:append", "stream", "buffer-64k"},
	{"text/go:append", "reused", "whole"},
}

func (s *suite) addExport() {
	add := func(id cellID) {
		work := &exportCell{id, s}
		cell := &cell{id: id, documents: oneDocument, check: work.check, prepare: work.prepare}
		if id.Mode == "stream" {
			cell.documents = func() (int, error) {
				todos, err := s.todos()
				return len(todos), err
			}
		}
		s.cells = append(s.cells, cell)
	}
	for _, dataset := range s.request.Datasets {
		if dataset != memory {
			continue
		}
		for _, way := range exportWays {
			add(cellID{Operation: "export", Dataset: memory, Codec: way.codec, Mode: way.mode, Way: way.way})
		}
		if openTable == nil {
			continue
		}
		for _, client := range clients {
			if strings.HasPrefix(client.id, "sql/") {
				add(cellID{Operation: "query", Dataset: postgres, Codec: client.id, Mode: "reused", Way: "collected"})
				add(cellID{Operation: "query", Dataset: postgres, Codec: client.id, Mode: "stream", Way: "rows"})
			}
		}
		for _, operation := range []string{"query-export", "stream-export"} {
			for _, way := range exportWays {
				if operation == "query-export" || way.mode == "stream" {
					add(cellID{Operation: operation, Dataset: postgres, Codec: way.codec, Mode: way.mode, Way: way.way})
				}
			}
		}
	}
}

func (s *suite) todos() ([]Todo, error) {
	value, err := s.values.value(memory, "value", shapes[memory].value)
	if err != nil {
		return nil, err
	}
	return *value.(*[]Todo), nil
}

// rows gives the table; it is there until the end of the process's work.
func (s *suite) rows() (table, error) {
	if s.table != nil {
		return s.table, nil
	}
	todos, err := s.todos()
	if err != nil {
		return nil, err
	}
	table, err := openTable(todos)
	if err != nil {
		return nil, err
	}
	s.table = table
	s.undo = append(s.undo, table.close)
	return table, nil
}

// A line is made and written; the slice is the one before, to be used again.
type put func(w io.Writer, line []byte, todo *Todo) ([]byte, error)

func printTodo(w io.Writer, line []byte, todo *Todo) ([]byte, error) {
	_, err := fmt.Fprintf(w, "{ID: %d, Title: %s, Note: %s},\n", todo.Id, todo.Title, todo.Note)
	return line, err
}

func writeTodo(w io.Writer, line []byte, todo *Todo) ([]byte, error) {
	line = appendTodo(line[:0], todo)
	_, err := w.Write(line)
	return line, err
}

func appendTodo(out []byte, todo *Todo) []byte {
	out = append(out, "{ID: "...)
	out = strconv.AppendUint(out, todo.Id, 10)
	out = append(out, ", Title: "...)
	out = append(out, todo.Title...)
	out = append(out, ", Note: "...)
	out = append(out, todo.Note...)
	return append(out, "},\n"...)
}

// parseTodos reads lines back; no text of `todos` holds what stands between the fields.
func parseTodos(text string) ([]Todo, error) {
	var todos []Todo
	for number := 1; text != ""; number++ {
		line, rest, _ := strings.Cut(text, "\n")
		text = rest
		id, fields, hasTitle := strings.Cut(line, ", Title: ")
		title, note, hasNote := strings.Cut(fields, ", Note: ")
		whole, err := strconv.ParseUint(strings.TrimPrefix(id, "{ID: "), 10, 64)
		if !hasTitle || !hasNote || err != nil || !strings.HasSuffix(note, "},") {
			return nil, fmt.Errorf("line %d is no line of the export: `%s`", number, line)
		}
		todos = append(todos, Todo{whole, title, strings.TrimSuffix(note, "},")})
	}
	return todos, nil
}

// exportCell is one cell of this suite.
type exportCell struct {
	id    cellID
	suite *suite
}

// keptTodos has the rows of the last query, so that none is left out as useless.
var keptTodos []Todo

// operation gives what the clock is for.
func (c *exportCell) operation() (func(disk, string) error, error) {
	todos, err := c.suite.todos()
	if err != nil {
		return nil, err
	}
	collect := func() ([]Todo, error) { return todos, nil }
	var table table
	if c.id.Dataset == postgres {
		if table, err = c.suite.rows(); err != nil {
			return nil, err
		}
		collect = table.collect
	}
	put := printTodo
	if c.id.Codec == "text/go:append" {
		put = writeTodo
	}
	size := bufferSize(c.id.Way)
	var line []byte

	switch {
	case c.id.Operation == "query" && c.id.Mode == "stream":
		return func(disk, string) error {
			return table.stream(func(todo *Todo) error {
				keptBytes = append(keptBytes[:0], todo.Title...)
				return nil
			})
		}, nil
	case c.id.Operation == "query":
		return func(disk, string) (err error) {
			keptTodos, err = collect()
			return err
		}, nil
	case c.id.Operation == "stream-export":
		return func(disk disk, path string) error {
			return disk.write(path, size, func(w io.Writer) error {
				return table.stream(func(todo *Todo) (err error) {
					line, err = put(w, line, todo)
					return err
				})
			})
		}, nil
	case c.id.Way == "whole":
		return func(disk disk, path string) error {
			todos, err := collect()
			if err != nil {
				return err
			}
			return disk.write(path, 0, func(w io.Writer) error {
				line = line[:0]
				for i := range todos {
					line = appendTodo(line, &todos[i])
				}
				_, err := w.Write(line)
				return err
			})
		}, nil
	}
	return func(disk disk, path string) error {
		todos, err := collect()
		if err != nil {
			return err
		}
		return disk.write(path, size, func(w io.Writer) (err error) {
			for i := range todos {
				if line, err = put(w, line, &todos[i]); err != nil {
					return err
				}
			}
			return nil
		})
	}, nil
}

func (c *exportCell) prepare() (batch, error) {
	folder, err := c.suite.scratch()
	if err != nil {
		return nil, err
	}
	operation, err := c.operation()
	if err != nil {
		return nil, err
	}
	return onFiles(folder, func(path string) error { return operation(uncounted, path) }), nil
}

// check does it once and looks at all rows that came of it.
func (c *exportCell) check(answer *checked) error {
	folder, err := c.suite.scratch()
	if err != nil {
		return err
	}
	operation, err := c.operation()
	if err != nil {
		return err
	}
	todos, err := c.suite.todos()
	if err != nil {
		return err
	}
	path := filepath.Join(folder, "checked")
	defer os.Remove(path)
	disk := disk{&calls{}}
	if err := operation(disk, path); err != nil {
		return err
	}
	back, size, err := c.back(path)
	if err != nil {
		return err
	}
	if what := diff(reflect.ValueOf(todos), reflect.ValueOf(back), nil); what != "" {
		return fmt.Errorf("the rows%s", what)
	}
	answer.passed(size)
	answer.Calls = disk.calls
	answer.Counts, err = countOnFiles(folder, func(path string) error { return operation(uncounted, path) })
	return err
}

// back gives the rows that the operation made, and the size of its file.
func (c *exportCell) back(path string) ([]Todo, int, error) {
	switch {
	case c.id.Operation == "query" && c.id.Mode == "stream":
		var rows []Todo
		err := c.suite.table.stream(func(todo *Todo) error {
			rows = append(rows, *todo)
			return nil
		})
		return rows, 0, err
	case c.id.Operation == "query":
		return keptTodos, 0, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, 0, err
	}
	rows, err := parseTodos(string(text))
	return rows, len(text), err
}
