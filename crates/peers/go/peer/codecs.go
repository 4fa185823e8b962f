// The codecs suite: values to bytes in memory, and back. Inside the clock is one call of the library
// for a document, or the calls for all documents of a stream, with what the mode makes new.
//
//	reused   the coder and the buffer are kept, as far as the library allows it
//	fresh    the coder and the buffer are new; listed where that is other code than reused
//	stream   all documents one after the other, into or from one stream
//
// Decoding always makes a new value: to decode into the one before would keep entries of its maps, as
// an original program did. The result of the operation before is held until the next one is there;
// freeing it is the collector's, whose time counts.

package main

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"runtime/debug"
)

// A coder works in one mode. What a library has no such mode for is nil.
type coder struct {
	// encode gives bytes that hold until the next call.
	encode    func(value any) ([]byte, error)
	encodeAll func(items []any) ([]byte, error)
	// decode puts what it reads where into points to.
	decode func(text []byte, into any) error
	// decodeAll appends all documents, each into what a call of item makes.
	decodeAll func(text []byte, item func() any, all []any) ([]any, error)
}

type codec struct {
	id, version string
	// Whether it can only read into a type that it is told.
	needsSchema bool
	// What of numbers is not told apart, as a sentence; empty if all are.
	mapping string
	open    func(mode string) coder
	// For the suite on files: a new encoder, and a new decoder; nil for codecs that are not in it.
	encoder func(io.Writer) encoder
	decoder func(io.Reader) decoder
}

// codecs of this program, added by each library's file.
var codecs []codec

func findCodec(id string) (codec, error) {
	for _, codec := range codecs {
		if codec.id == id {
			return codec, nil
		}
	}
	return codec{}, fmt.Errorf("no codec is called `%s`; the verb version shows those that are there", id)
}

var modes = []string{"reused", "fresh", "stream"}

// shape gives the types of a dataset for this codec.
func (c codec) shape(dataset string) (shape, error) {
	if shape, has := gobShapes[dataset]; has && c.needsSchema {
		return shape, nil
	}
	if shape, has := shapes[dataset]; has {
		return shape, nil
	}
	if c.needsSchema {
		return shape{}, errors.New("needs a schema")
	}
	return dynamic, nil
}

// diff compares as far as the codec tells numbers apart; usesMapping if it did not.
func (c codec) diff(want, have any) (what string, usesMapping bool) {
	loose := &usesMapping
	if c.mapping == "" {
		loose = nil
	}
	return diff(reflect.ValueOf(want), reflect.ValueOf(have), loose), usesMapping
}

func (s *suite) addCodecs() {
	for _, dataset := range s.datasets() {
		for _, codec := range codecs {
			for _, mode := range modes {
				coder := codec.open(mode)
				if coder.encode != nil || coder.encodeAll != nil {
					s.addMemory(codec, cellID{Operation: "encode", Dataset: dataset, Codec: codec.id, Mode: mode})
				}
				if coder.decode != nil || coder.decodeAll != nil {
					s.addMemory(codec, cellID{Operation: "decode", Dataset: dataset, Codec: codec.id, Mode: mode})
				}
			}
		}
	}
}

func (s *suite) addMemory(codec codec, id cellID) {
	work := &codecCell{id: id, codec: codec, values: s.values}
	s.addCodec(work, work.check, work.prepare)
}

// addCodec adds a cell, and sees to its shape.
func (s *suite) addCodec(work *codecCell, check func(*checked) error, prepare func() (batch, error)) {
	cell := &cell{id: work.id, documents: oneDocument, check: check, prepare: prepare}
	var unsupported error
	work.shape, unsupported = work.codec.shape(work.id.Dataset)
	if unsupported != nil {
		cell.skip = unsupported.Error()
	} else if work.id.Mode == "stream" {
		cell.documents = func() (int, error) {
			items, err := s.values.items(work.id.Dataset, work.shape.item)
			return len(items), err
		}
	}
	s.cells = append(s.cells, cell)
}

// codecCell is one cell of this suite.
type codecCell struct {
	id     cellID
	codec  codec
	shape  shape
	values *values
}

// What the last operation made is kept, so that none is left out as useless.
var (
	keptBytes []byte
	keptValue any
	keptAll   []any
)

func (c *codecCell) value(kind string) (any, error) {
	return c.values.value(c.id.Dataset, kind, c.shape.value)
}

// operation gives what the clock is for.
func (c *codecCell) operation() (func() error, error) {
	coder := c.codec.open(c.id.Mode)
	if c.id.Mode == "stream" {
		items, err := c.values.items(c.id.Dataset, c.shape.item)
		if err != nil {
			return nil, err
		}
		if c.id.Operation == "encode" {
			return func() (err error) {
				keptBytes, err = coder.encodeAll(items)
				return err
			}, nil
		}
		text, err := c.encodeAll(items)
		if err != nil {
			return nil, err
		}
		return func() (err error) {
			keptAll, err = coder.decodeAll(text, c.shape.item, keptAll[:0])
			return err
		}, nil
	}
	value, err := c.value("value")
	if err != nil {
		return nil, err
	}
	if c.id.Operation == "encode" {
		return func() (err error) {
			keptBytes, err = coder.encode(value)
			return err
		}, nil
	}
	text, err := c.encode(value)
	if err != nil {
		return nil, err
	}
	return func() error {
		keptValue = c.shape.value()
		return coder.decode(text, keptValue)
	}, nil
}

func (c *codecCell) prepare() (batch, error) {
	operation, err := c.operation()
	if err != nil {
		return nil, err
	}
	return clocked(operation), nil
}

// encode and encodeAll make what is to be decoded.
func (c *codecCell) encode(value any) ([]byte, error) {
	text, err := c.codec.open("reused").encode(value)
	return append([]byte(nil), text...), err
}

func (c *codecCell) encodeAll(items []any) ([]byte, error) {
	text, err := c.codec.open("stream").encodeAll(items)
	return append([]byte(nil), text...), err
}

func (c *codecCell) check(answer *checked) error {
	attempt := c.checkValues
	if c.id.Mode == "stream" {
		attempt = c.checkStream
	}
	size, err := attempt()
	if err != nil {
		return err
	}
	answer.passed(size)
	operation, err := c.operation()
	if err != nil {
		return err
	}
	answer.Counts, err = count(operation)
	return err
}

// checkValues takes the value, the sibling and the value again through one kept coder, and looks at
// them when all are there, so that what a coder keeps would show.
func (c *codecCell) checkValues() (size int, err error) {
	value, err := c.value("value")
	if err != nil {
		return 0, err
	}
	sibling, err := c.value("sibling")
	if err != nil {
		return 0, err
	}
	encoder, decoder := c.codec.open("reused"), c.codec.open("reused")
	if c.id.Operation == "encode" {
		encoder = c.codec.open(c.id.Mode)
	} else {
		decoder = c.codec.open(c.id.Mode)
	}
	wanted := []any{value, sibling, value}
	var back []any
	for i, want := range wanted {
		text, err := encoder.encode(want)
		if err != nil {
			return 0, fmt.Errorf("encode: %w", err)
		}
		if i == 0 {
			size = len(text)
		}
		into := c.shape.value()
		if err := decoder.decode(append([]byte(nil), text...), into); err != nil {
			return 0, fmt.Errorf("decode: %w", err)
		}
		back = append(back, into)
	}
	for i, name := range []string{"the value", "the sibling", "the value again"} {
		if what, _ := c.codec.diff(wanted[i], back[i]); what != "" {
			return 0, fmt.Errorf("%s%s", name, what)
		}
	}
	return size, nil
}

// checkStream takes all documents through one coder, twice.
func (c *codecCell) checkStream() (size int, err error) {
	items, err := c.values.items(c.id.Dataset, c.shape.item)
	if err != nil {
		return 0, err
	}
	coder := c.codec.open("stream")
	for i := 0; i < 2; i++ {
		text, err := coder.encodeAll(items)
		if err != nil {
			return 0, fmt.Errorf("encode: %w", err)
		}
		size = len(text)
		back, err := coder.decodeAll(append([]byte(nil), text...), c.shape.item, nil)
		if err != nil {
			return 0, fmt.Errorf("decode: %w", err)
		}
		if what, _ := c.codec.diff(items, back); what != "" {
			return 0, fmt.Errorf("the stream%s", what)
		}
	}
	return size, nil
}

// libraryVersion is what the build knows of a library: nothing where it was not built as a module.
func libraryVersion(path string) string {
	if info, has := debug.ReadBuildInfo(); has {
		for _, library := range info.Deps {
			if library.Path == path {
				return library.Version
			}
		}
	}
	return "unknown"
}

// collectorOff stops the collector until what it returns is called.
func collectorOff() (on func()) {
	percent := debug.SetGCPercent(-1)
	return func() { debug.SetGCPercent(percent) }
}
