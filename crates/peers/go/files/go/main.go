// How long people and todos take into a file and back with Go's encoding/gob, encoding/json and
// fmt.Fprintf: wall and processor time from open to close, lower quartile of batches. The Rust
// program of the same job is in the folder rust; it also writes the values that are read here.
//
//	run INPUT FOLDER    measures with files in FOLDER; ONLY=… picks rows by a part of their name
//
// A line is the row's name, wall and processor time in nanoseconds, calls of Write (where it
// reads: of Read), and the file's size in bytes. The processor time is the whole process's, since
// the collector runs on threads of its own.
package main

import (
	"bufio"
	"bytes"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"sort"
	"strconv"
	"strings"
	"syscall"
	"time"
)

type PersonInfo struct {
	Name    string
	Age     int32
	Sex     bool
	Hobbies []string
}

type Todo struct {
	ID    uint64 `json:"id"`
	Title string `json:"title"`
	Note  string `json:"note"`
}

// When this is not nil, files are counted: calls and bytes.
var counted *counts

type counts struct{ calls, bytes int }

type countingFile struct {
	file *os.File
	*counts
}

func (c countingFile) Write(p []byte) (int, error) {
	n, err := c.file.Write(p)
	c.calls++
	c.bytes += n
	return n, err
}

func (c countingFile) Read(p []byte) (int, error) {
	n, err := c.file.Read(p)
	c.calls++
	c.bytes += n
	return n, err
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func expect(right bool, row string) {
	if !right {
		panic(row + ": the file holds something else")
	}
}

func cpu() int64 {
	var usage syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return usage.Utime.Nano() + usage.Stime.Nano()
}

// bench has the folder for files, and which rows are wanted.
type bench struct {
	folder string
	only   string
}

// time gives the wall and processor time of work, which is given a name that no file has.
func (b *bench) time(work func(path string)) (float64, float64) {
	var walls, cpus []float64
	// Fifteen batches; of the slowest, five.
	for count := 1; len(walls) < 15 && (len(walls) < 5 || sum(walls) < 1e9); {
		paths := make([]string, count)
		for i := range paths {
			paths[i] = filepath.Join(b.folder, strconv.Itoa(i))
		}
		startCPU, start := cpu(), time.Now()
		for _, path := range paths {
			work(path)
		}
		wall, used := time.Since(start), cpu()-startCPU
		for _, path := range paths {
			if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
				panic(err)
			}
		}
		if wall < 20*time.Millisecond {
			count *= 2
			walls, cpus = nil, nil
			continue
		}
		walls = append(walls, float64(wall)/float64(count))
		cpus = append(cpus, float64(used)/float64(count))
	}
	sort.Float64s(walls)
	sort.Float64s(cpus)
	return walls[len(walls)/4], cpus[len(cpus)/4]
}

func sum(values []float64) (all float64) {
	for _, value := range values {
		all += value
	}
	return all
}

// create and open give the file, and what to write to or read from: the file itself, but where
// calls are counted.
func create(path string) (*os.File, io.Writer) {
	file, err := os.Create(path)
	check(err)
	if counted != nil {
		return file, countingFile{file, counted}
	}
	return file, file
}

func open(path string) (*os.File, io.Reader) {
	file, err := os.Open(path)
	check(err)
	if counted != nil {
		return file, countingFile{file, counted}
	}
	return file, file
}

// write measures one row that writes a file.
func (b *bench) write(row string, work func(path string), isRight func(path string) bool) {
	if !strings.Contains(row, b.only) {
		return
	}
	path := filepath.Join(b.folder, "checked")
	counted = &counts{}
	work(path)
	c := counted
	counted = nil
	expect(isRight(path), row)
	check(os.Remove(path))
	wall, used := b.time(work)
	fmt.Printf("%s %.0f %.0f %d %d\n", row, wall, used, c.calls, c.bytes)
}

// buffered lets work write to the file through a buffer of size bytes, or to the file itself.
func buffered(size int, work func(io.Writer)) func(path string) {
	return func(path string) {
		file, writer := create(path)
		if size == 0 {
			work(writer)
		} else {
			buffer := bufio.NewWriterSize(writer, size)
			work(buffer)
			check(buffer.Flush())
		}
		check(file.Close())
	}
}

// whole does what os.WriteFile does: all bytes by one call.
func whole(work func() []byte) func(path string) {
	return func(path string) {
		file, writer := create(path)
		_, err := writer.Write(work())
		check(err)
		check(file.Close())
	}
}

type decoder interface{ Decode(any) error }

type codec struct {
	id string
	// encode writes as the library does it.
	encode func(io.Writer, []PersonInfo)
	// marshal makes all of it first.
	marshal func([]PersonInfo) []byte
	decoder func(io.Reader) decoder
	// unmarshal decodes what was read at once.
	unmarshal func([]byte, *[]PersonInfo)
}

func jsonCodec(id, indent string) codec {
	return codec{
		id: id,
		encode: func(w io.Writer, people []PersonInfo) {
			encoder := json.NewEncoder(w)
			encoder.SetIndent("", indent)
			check(encoder.Encode(people))
		},
		marshal: func(people []PersonInfo) (out []byte) {
			var err error
			if indent == "" {
				out, err = json.Marshal(people)
			} else {
				out, err = json.MarshalIndent(people, "", indent)
			}
			check(err)
			return out
		},
		decoder: func(r io.Reader) decoder { return json.NewDecoder(r) },
		unmarshal: func(text []byte, people *[]PersonInfo) {
			check(json.Unmarshal(text, people))
		},
	}
}

func gobCodec() codec {
	return codec{
		id:     "gob",
		encode: func(w io.Writer, people []PersonInfo) { check(gob.NewEncoder(w).Encode(people)) },
		marshal: func(people []PersonInfo) []byte {
			var out bytes.Buffer
			check(gob.NewEncoder(&out).Encode(people))
			return out.Bytes()
		},
		decoder: func(r io.Reader) decoder { return gob.NewDecoder(r) },
		unmarshal: func(stream []byte, people *[]PersonInfo) {
			check(gob.NewDecoder(bytes.NewReader(stream)).Decode(people))
		},
	}
}

// same compares people; gob sends no empty list, which then comes back as nil.
func same(one, other []PersonInfo) bool {
	if len(one) != len(other) {
		return false
	}
	for i := range one {
		a, b := one[i], other[i]
		if len(a.Hobbies) == 0 && len(b.Hobbies) == 0 {
			a.Hobbies, b.Hobbies = nil, nil
		}
		if !reflect.DeepEqual(a, b) {
			return false
		}
	}
	return true
}

func (b *bench) codec(c codec, input string, people []PersonInfo) {
	isRight := func(path string) bool {
		bytes, err := os.ReadFile(path)
		check(err)
		var back []PersonInfo
		c.unmarshal(bytes, &back)
		return same(back, people)
	}
	for _, size := range sizes {
		row := "people/write/" + c.id + "/" + size.name
		work := buffered(size.bytes, func(w io.Writer) { c.encode(w, people) })
		b.write(row, work, isRight)
	}
	row := "people/write/" + c.id + "/whole"
	b.write(row, whole(func() []byte { return c.marshal(people) }), isRight)

	for _, size := range sizes {
		size := size
		b.read("people/read/"+c.id+"/"+size.name, people, func() (back []PersonInfo) {
			file, reader := open(input)
			if size.bytes != 0 {
				reader = bufio.NewReaderSize(reader, size.bytes)
			}
			check(c.decoder(reader).Decode(&back))
			check(file.Close())
			return back
		})
	}
	b.read("people/read/"+c.id+"/whole", people, func() (back []PersonInfo) {
		c.unmarshal(readFile(input), &back)
		return back
	})
}

func (b *bench) read(row string, people []PersonInfo, work func() []PersonInfo) {
	if !strings.Contains(row, b.only) {
		return
	}
	counted = &counts{}
	back := work()
	c := counted
	counted = nil
	expect(same(back, people), row)
	wall, used := b.time(func(string) { back = work() })
	fmt.Printf("%s %.0f %.0f %d %d\n", row, wall, used, c.calls, c.bytes)
}

// readFile is os.ReadFile; where calls are counted, the kernel counts them.
func readFile(path string) []byte {
	if counted == nil {
		bytes, err := os.ReadFile(path)
		check(err)
		return bytes
	}
	before := kernelReads()
	nothing := kernelReads() - before
	before = kernelReads()
	bytes, err := os.ReadFile(path)
	check(err)
	counted.calls += kernelReads() - before - nothing
	counted.bytes += len(bytes)
	return bytes
}

func kernelReads() (count int) {
	bytes, err := os.ReadFile("/proc/self/io")
	check(err)
	for _, line := range strings.Split(string(bytes), "\n") {
		if strings.HasPrefix(line, "syscr: ") {
			count, err = strconv.Atoi(line[len("syscr: "):])
			check(err)
		}
	}
	return count
}

var sizes = []struct {
	name  string
	bytes int
}{{"direct", 0}, {"buffer-4k", 4 << 10}, {"buffer-64k", 64 << 10}}

func printf(w io.Writer, todos []Todo) {
	for i := range todos {
		todo := &todos[i]
		_, err := fmt.Fprintf(w, "{ID: %d, Title: %s, Note: %s},\n", todo.ID, todo.Title, todo.Note)
		check(err)
	}
}

func appendTodo(out []byte, todo *Todo) []byte {
	out = append(out, "{ID: "...)
	out = strconv.AppendUint(out, todo.ID, 10)
	out = append(out, ", Title: "...)
	out = append(out, todo.Title...)
	out = append(out, ", Note: "...)
	out = append(out, todo.Note...)
	return append(out, "},\n"...)
}

func appendLines(w io.Writer, todos []Todo) {
	var line []byte
	for i := range todos {
		line = appendTodo(line[:0], &todos[i])
		_, err := w.Write(line)
		check(err)
	}
}

func appendAll(out []byte, todos []Todo) []byte {
	for i := range todos {
		out = appendTodo(out, &todos[i])
	}
	return out
}

func holds(todos []Todo) func(path string) bool {
	return func(path string) bool {
		bytes, err := os.ReadFile(path)
		check(err)
		return string(bytes) == string(appendAll(nil, todos))
	}
}

func (b *bench) exports(todos []Todo) {
	isRight := holds(todos)
	for _, size := range sizes {
		work := buffered(size.bytes, func(w io.Writer) { printf(w, todos) })
		b.write("todos/export/"+size.name, work, isRight)
	}
	lines := func(w io.Writer) { appendLines(w, todos) }
	b.write("todos/export/line-by-line", buffered(0, lines), isRight)
	b.write("todos/export/append+buffer-64k", buffered(64<<10, lines), isRight)
	all := func() []byte { return appendAll(nil, todos) }
	b.write("todos/export/append+whole", whole(all), isRight)
	var kept []byte
	again := func() []byte {
		kept = appendAll(kept[:0], todos)
		return kept
	}
	b.write("todos/export/append+whole-reused", whole(again), isRight)
}

func load(path string, value any) {
	bytes, err := os.ReadFile(path)
	check(err)
	check(json.Unmarshal(bytes, value))
}

// databases measures the rows that need a database; nil in a program without one.
var databases func(b *bench, input string, todos []Todo)

func main() {
	if len(os.Args) != 4 || os.Args[1] != "run" {
		fmt.Fprintln(os.Stderr, "expected: run INPUT FOLDER")
		os.Exit(2)
	}
	input := os.Args[2]
	folder, err := os.MkdirTemp(os.Args[3], "wiremark-go-")
	check(err)
	defer os.RemoveAll(folder)

	var people []PersonInfo
	load(filepath.Join(input, "people.json"), &people)
	var todos []Todo
	load(filepath.Join(input, "todos.json"), &todos)
	if len(people) != 10000 || len(todos) != 10000 {
		panic("expected 10,000 people and 10,000 todos")
	}

	b := &bench{folder, os.Getenv("ONLY")}
	for _, c := range []codec{gobCodec(), jsonCodec("json", ""), jsonCodec("json-indented", "  ")} {
		b.codec(c, filepath.Join(input, "people."+c.id), people)
	}
	b.exports(todos)
	if databases != nil {
		databases(b, input, todos)
	}
}
