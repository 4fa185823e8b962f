// The suite persist: values to files and back. Inside the clock is all from creating or opening the file
// to closing it; outside are its name, which no file had before, and removing it. What was read is freed
// by the collector, inside.
//
//	direct                    the library's encoder or decoder on the file itself
//	buffer-8k, buffer-64k     the same through a new bufio.Writer or bufio.Reader of that size
//	whole, reused             all into a kept buffer, then one write; or all read into a kept buffer
//	whole, fresh              Marshal, then one write; os.ReadFile, then Unmarshal
//	stream                    the documents of the stream one after the other, by one encoder or decoder
//	chunk-64k                 the same, read through a bufio.Reader of 64 KiB
//
// An encoder of gob or JSON writes a document to its own memory first, and then by one call, so that
// `direct` makes few calls of the system. Both decoders have a buffer of their own.

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

type encoder interface{ Encode(any) error }

type decoder interface{ Decode(any) error }

// scratch gives a folder of this process alone, removed at the end and when it is told to stop.
func (s *suite) scratch() (string, error) {
	if s.folder != "" {
		return s.folder, nil
	}
	folder, err := os.MkdirTemp(s.request.Folder, "wiremark-go-")
	if err != nil {
		return "", fmt.Errorf("cannot make a folder for files: %w", err)
	}
	s.folder = folder
	s.undo = append(s.undo, func() error { return os.RemoveAll(folder) })
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-stop
		os.RemoveAll(folder)
		os.Exit(1)
	}()
	return folder, nil
}

// A disk creates and opens files. Where calls is there, it counts what is asked of the system, below
// all buffers; a disk that is timed does not, and hands out the files themselves.
type disk struct{ calls *calls }

// uncounted is what is timed.
var uncounted disk

func (d disk) create(path string) (io.WriteCloser, error) {
	file, err := os.Create(path)
	if d.calls == nil {
		return file, err
	}
	d.calls.Open++
	return &countedFile{file, d.calls}, err
}

func (d disk) open(path string) (io.ReadCloser, error) {
	file, err := os.Open(path)
	if d.calls == nil {
		return file, err
	}
	d.calls.Open++
	return &countedFile{file, d.calls}, err
}

// readFile is os.ReadFile; since that opens the file itself, the kernel tells how often it read.
func (d disk) readFile(path string) ([]byte, error) {
	if d.calls == nil {
		return os.ReadFile(path)
	}
	asking, err := kernelReads(func() error { return nil })
	if err != nil {
		return nil, err
	}
	var text []byte
	reads, err := kernelReads(func() (err error) {
		text, err = os.ReadFile(path)
		return err
	})
	d.calls.Open++
	d.calls.Read += reads - asking
	d.calls.ReadBytes += len(text)
	return text, err
}

// kernelReads counts the calls of read meanwhile, with those that asking for them takes.
func kernelReads(work func() error) (int, error) {
	count := func() (reads int, err error) {
		text, err := os.ReadFile("/proc/self/io")
		if err != nil {
			return 0, err
		}
		_, err = fmt.Sscanf(string(text[bytes.Index(text, []byte("syscr:")):]), "syscr: %d", &reads)
		return reads, err
	}
	before, err := count()
	if err != nil {
		return 0, err
	}
	if err := work(); err != nil {
		return 0, err
	}
	after, err := count()
	return after - before, err
}

type countedFile struct {
	*os.File
	calls *calls
}

func (c *countedFile) Write(p []byte) (int, error) {
	n, err := c.File.Write(p)
	c.calls.Write++
	c.calls.WrittenBytes += n
	return n, err
}

func (c *countedFile) Read(p []byte) (int, error) {
	n, err := c.File.Read(p)
	c.calls.Read++
	c.calls.ReadBytes += n
	return n, err
}

// ReadFrom and WriteString of the file would go past the counters.

func (c *countedFile) ReadFrom(r io.Reader) (int64, error) {
	return io.Copy(struct{ io.Writer }{c}, r)
}

func (c *countedFile) WriteString(text string) (int, error) { return c.Write([]byte(text)) }

// write creates a file, lets work write to it through a buffer of `buffer` bytes (0: to the file
// itself), and closes it.
func (d disk) write(path string, buffer int, work func(io.Writer) error) error {
	file, err := d.create(path)
	if err != nil {
		return err
	}
	if buffer == 0 {
		err = work(file)
	} else {
		buffered := bufio.NewWriterSize(file, buffer)
		if err = work(buffered); err == nil {
			err = buffered.Flush()
		}
	}
	if failed := file.Close(); err == nil {
		err = failed
	}
	return err
}

// read opens a file, lets work read from it in the same way, and closes it.
func (d disk) read(path string, buffer int, work func(io.Reader) error) error {
	file, err := d.open(path)
	if err != nil {
		return err
	}
	var reader io.Reader = file
	if buffer != 0 {
		reader = bufio.NewReaderSize(file, buffer)
	}
	err = work(reader)
	if failed := file.Close(); err == nil {
		err = failed
	}
	return err
}

// bufferSize is the size that a way names: 0 if it names none.
func bufferSize(way string) int {
	_, size, _ := strings.Cut(way, "-")
	kib, err := strconv.Atoi(strings.TrimSuffix(size, "k"))
	if err != nil {
		return 0
	}
	return kib << 10
}

// onFiles is a batch of an operation that is given a path where no file is, and may make one there.
func onFiles(folder string, operation func(path string) error) batch {
	return func(times int) (span, error) {
		paths := make([]string, times)
		for i := range paths {
			paths[i] = filepath.Join(folder, "output-"+strconv.Itoa(i))
		}
		watch := start()
		for _, path := range paths {
			if err := operation(path); err != nil {
				return span{}, err
			}
		}
		took := watch.elapsed()
		for _, path := range paths {
			if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
				return span{}, err
			}
		}
		return took, nil
	}
}

// countOnFiles tells what the operation asks of the allocator.
func countOnFiles(folder string, operation func(path string) error) (*counts, error) {
	path := filepath.Join(folder, "counted")
	defer os.Remove(path)
	return count(func() error { return operation(path) })
}

var fileWays = []struct{ operation, mode, way string }{
	{"write", "reused", "direct"},
	{"write", "reused", "buffer-8k"},
	{"write", "reused", "buffer-64k"},
	{"write", "reused", "whole"},
	{"write", "fresh", "whole"},
	{"write", "stream", "direct"},
	{"write", "stream", "buffer-64k"},
	{"read", "reused", "direct"},
	{"read", "reused", "buffer-8k"},
	{"read", "reused", "buffer-64k"},
	{"read", "reused", "whole"},
	{"read", "fresh", "whole"},
	{"read", "stream", "chunk-64k"},
}

func (s *suite) addFiles() {
	for _, dataset := range s.datasets() {
		for _, codec := range codecs {
			if codec.encoder == nil {
				continue
			}
			for _, way := range fileWays {
				id := cellID{
					Operation: way.operation, Dataset: dataset, Codec: codec.id, Mode: way.mode, Way: way.way,
				}
				work := &fileCell{codecCell{id: id, codec: codec, values: s.values}, s}
				s.addCodec(&work.codecCell, work.check, work.prepare)
			}
		}
	}
}

// fileCell is one cell of this suite.
type fileCell struct {
	codecCell
	suite *suite
}

// content is what goes into a file: a value or the documents of a stream, and the bytes of either as
// the codec makes them in memory.
type content struct {
	value any
	items []any
	text  []byte
}

func (c *fileCell) content(kind string) (of content, err error) {
	if c.id.Mode == "stream" {
		if of.items, err = c.values.items(c.id.Dataset, c.shape.item); err == nil {
			of.text, err = c.encodeAll(of.items)
		}
		return of, err
	}
	if of.value, err = c.value(kind); err == nil {
		of.text, err = c.encode(of.value)
	}
	return of, err
}

// write gives the operation that writes a file.
func (c *fileCell) write() func(disk, string, content) error {
	size := bufferSize(c.id.Way)
	switch {
	case c.id.Mode == "stream":
		return func(disk disk, path string, of content) error {
			return disk.write(path, size, func(w io.Writer) error {
				encoder := c.codec.encoder(w)
				for _, item := range of.items {
					if err := encoder.Encode(item); err != nil {
						return err
					}
				}
				return nil
			})
		}
	case c.id.Way == "whole":
		coder := c.codec.open(c.id.Mode)
		return func(disk disk, path string, of content) error {
			text, err := coder.encode(of.value)
			if err != nil {
				return err
			}
			return disk.write(path, 0, func(w io.Writer) error {
				_, err := w.Write(text)
				return err
			})
		}
	}
	return func(disk disk, path string, of content) error {
		return disk.write(path, size, func(w io.Writer) error { return c.codec.encoder(w).Encode(of.value) })
	}
}

// read gives the operation that reads the file into what it returns: a value or all documents.
func (c *fileCell) read() func(disk, string) (any, error) {
	size := bufferSize(c.id.Way)
	switch {
	case c.id.Mode == "stream":
		var all []any
		return func(disk disk, path string) (any, error) {
			err := disk.read(path, size, func(r io.Reader) (err error) {
				all, err = untilEOF(c.codec.decoder(r), c.shape.item, all[:0])
				return err
			})
			return all, err
		}
	case c.id.Way == "whole" && c.id.Mode == "fresh":
		decode := c.codec.open("reused").decode
		return func(disk disk, path string) (any, error) {
			text, err := disk.readFile(path)
			if err != nil {
				return nil, err
			}
			into := c.shape.value()
			return into, decode(text, into)
		}
	case c.id.Way == "whole":
		decode := c.codec.open("reused").decode
		var text bytes.Buffer
		return func(disk disk, path string) (any, error) {
			text.Reset()
			err := disk.read(path, 0, func(r io.Reader) error {
				_, err := text.ReadFrom(r)
				return err
			})
			if err != nil {
				return nil, err
			}
			into := c.shape.value()
			return into, decode(text.Bytes(), into)
		}
	}
	return func(disk disk, path string) (any, error) {
		into := c.shape.value()
		return into, disk.read(path, size, func(r io.Reader) error { return c.codec.decoder(r).Decode(into) })
	}
}

// operation gives what the clock is for; for reading, the file is there already.
func (c *fileCell) operation(folder string) (func(path string) error, error) {
	of, err := c.content("value")
	if err != nil {
		return nil, err
	}
	if c.id.Operation == "write" {
		write := c.write()
		return func(path string) error { return write(uncounted, path, of) }, nil
	}
	input := filepath.Join(folder, "input")
	if err := os.WriteFile(input, of.text, 0o666); err != nil {
		return nil, err
	}
	read := c.read()
	return func(string) (err error) {
		keptValue, err = read(uncounted, input)
		return err
	}, nil
}

func (c *fileCell) prepare() (batch, error) {
	folder, err := c.suite.scratch()
	if err != nil {
		return nil, err
	}
	operation, err := c.operation(folder)
	if err != nil {
		return nil, err
	}
	return onFiles(folder, operation), nil
}

// check takes the value, the sibling and the value again into a file and back, or all documents of
// the stream; the file is written or read by other means than those that are looked at. The calls are
// those of the last time, when kept buffers have their size.
func (c *fileCell) check(answer *checked) error {
	folder, err := c.suite.scratch()
	if err != nil {
		return err
	}
	path := filepath.Join(folder, "checked")
	write, read := c.write(), c.read()
	size := 0
	for _, kind := range []string{"value", "sibling", "value"} {
		of, err := c.content(kind)
		if err != nil {
			return err
		}
		disk := disk{&calls{}}
		var back any
		if c.id.Operation == "write" {
			if err := write(disk, path, of); err != nil {
				return fmt.Errorf("write: %w", err)
			}
			back, err = c.whole(path)
		} else {
			if err := os.WriteFile(path, of.text, 0o666); err != nil {
				return err
			}
			back, err = read(disk, path)
		}
		if err != nil {
			return fmt.Errorf("read: %w", err)
		}
		want := of.value
		if c.id.Mode == "stream" {
			want = of.items
		}
		if what, _ := c.codec.diff(want, back); what != "" {
			return fmt.Errorf("the %s%s", kind, what)
		}
		about, err := os.Stat(path)
		if err != nil {
			return err
		}
		size, answer.Calls = int(about.Size()), disk.calls
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	answer.passed(size)
	operation, err := c.operation(folder)
	if err != nil {
		return err
	}
	answer.Counts, err = countOnFiles(folder, operation)
	return err
}

// whole gives what a file holds.
func (c *fileCell) whole(path string) (any, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if c.id.Mode == "stream" {
		return c.codec.open("stream").decodeAll(text, c.shape.item, nil)
	}
	into := c.shape.value()
	return into, c.codec.open("reused").decode(text, into)
}
