// What is asked of this program and what it answers, as JSON; nothing is timed here.

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

type request struct {
	Suite    string   `json:"suite"`
	Folder   string   `json:"folder"`
	Datasets []string `json:"datasets"`
	Files    []struct {
		ID string `json:"id"`
	} `json:"files"`
	Sampling sampling `json:"sampling"`
}

type sampling struct {
	Samples  int   `json:"samples"`
	SampleNS int64 `json:"sample_ns"`
	WarmUpNS int64 `json:"warm_up_ns"`
}

type cellID struct {
	Operation string `json:"operation"`
	Dataset   string `json:"dataset"`
	Codec     string `json:"codec"`
	Mode      string `json:"mode"`
	Way       string `json:"way,omitempty"`
	// The second name of a control: the same cell, measured once more.
	Again bool `json:"again,omitempty"`
}

func (id cellID) String() string {
	text := strings.Join([]string{id.Operation, id.Dataset, id.Codec, id.Mode}, "/")
	if id.Way != "" {
		text += "/" + id.Way
	}
	return text
}

// skip says why a cell can never be run.
type skip struct {
	Status string `json:"status"`
	Reason string `json:"reason"`
}

type planned struct {
	ID        cellID `json:"id"`
	Documents int    `json:"documents"`
	Skip      *skip  `json:"skip,omitempty"`
}

type checked struct {
	cellID
	Status    string            `json:"status"`
	Reason    string            `json:"reason,omitempty"`
	RoundTrip *bool             `json:"round_trip,omitempty"`
	Documents int               `json:"documents"`
	SizeBytes *int              `json:"size_bytes,omitempty"`
	Counts    *counts           `json:"counts,omitempty"`
	Calls     *calls            `json:"calls,omitempty"`
	Missing   map[string]string `json:"missing,omitempty"`
}

// passed is called once all came back.
func (c *checked) passed(size int) {
	roundTrip := true
	c.RoundTrip, c.SizeBytes = &roundTrip, &size
}

type counts struct {
	Allocations    uint64 `json:"allocations"`
	AllocatedBytes uint64 `json:"allocated_bytes"`
}

// calls of the system by one operation.
type calls struct {
	Write        int `json:"write"`
	WrittenBytes int `json:"written_bytes"`
	Read         int `json:"read"`
	ReadBytes    int `json:"read_bytes"`
	Flush        int `json:"flush"`
	Sync         int `json:"sync"`
	Open         int `json:"open"`
	Rename       int `json:"rename"`
}

// A cell is one thing to be checked and measured.
type cell struct {
	id cellID
	// How many documents one operation handles, for which a file may have to be read.
	documents func() (int, error)
	// Why it can never be run, if it cannot.
	skip string
	// check does it and looks at what came of it; it fills in what there is to tell.
	check func(*checked) error
	// prepare makes all that the clock is not for, and gives what does it `times` times.
	prepare func() (batch, error)
}

func (c *cell) planned() (planned, error) {
	documents, err := c.documents()
	plan := planned{ID: c.id, Documents: documents}
	if c.skip != "" {
		plan.Skip = &skip{"unsupported", c.skip}
	}
	return plan, err
}

func oneDocument() (int, error) { return 1, nil }

// A suite has the cells of a request.
type suite struct {
	request request
	cells   []*cell
	values  *values
	// The folder of this process and the table in a database, once they are needed.
	folder string
	table  table
	// What is done at the end, the last first.
	undo []func() error
}

// withSuite reads the request, works, and leaves nothing behind.
func withSuite(work func(*suite) error) (err error) {
	s := &suite{values: &values{folder: os.Getenv("WIREMARK_VALUES")}}
	text := os.Getenv("WIREMARK_REQUEST")
	if err := json.Unmarshal([]byte(text), &s.request); err != nil {
		return fmt.Errorf("WIREMARK_REQUEST is no request: %w", err)
	}
	defer func() {
		for i := len(s.undo) - 1; i >= 0; i-- {
			if failed := s.undo[i](); failed != nil && err == nil {
				err = failed
			}
		}
	}()
	switch s.request.Suite {
	case "", "codecs":
		s.addCodecs()
	case "persist":
		s.addFiles()
	case "export":
		s.addExport()
	default:
		return fmt.Errorf("WIREMARK_REQUEST: no suite is called `%s`: there are codecs, persist, export", s.request.Suite)
	}
	return work(s)
}

func (s *suite) find(id cellID) (*cell, error) {
	id.Again = false
	for _, cell := range s.cells {
		if cell.id == id {
			return cell, nil
		}
	}
	return nil, fmt.Errorf("no such cell: %s; the verb list shows those of the request", id)
}

// datasets of the request: seeded ones and the user's own.
func (s *suite) datasets() (ids []string) {
	ids = append(ids, s.request.Datasets...)
	for _, file := range s.request.Files {
		ids = append(ids, file.ID)
	}
	return ids
}

// say writes one line of an answer.
func say(key string, value any) error {
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	return out.Encode(map[string]any{key: value})
}
