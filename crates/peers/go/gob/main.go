// How long Go's encoding/gob takes for 10,000 people and for one: processor time, lower quartile
// of batches, as lines of name and nanoseconds. The Rust program of the same job is in
// the folder rust, and also makes the file that is read here.
//
// The time is the whole process's, since the collector runs on threads of its own.
package main

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"os"
	"sort"
	"syscall"
)

type PersonInfo struct {
	Name    string
	Age     int32
	Sex     bool
	Hobbies []string
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func cpu() int64 {
	var usage syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return usage.Utime.Nano() + usage.Stime.Nano()
}

func measure(name string, work func()) {
	var each []float64
	for count := 1; len(each) < 60; {
		start := cpu()
		for i := 0; i < count; i++ {
			work()
		}
		took := cpu() - start
		// getrusage counts in microseconds, and the collector comes in waves.
		if took < 20_000_000 {
			count *= 2
			each = each[:0]
			continue
		}
		each = append(each, float64(took)/float64(count))
	}
	sort.Float64s(each)
	fmt.Printf("%s %.1f\n", name, each[len(each)/4])
}

func main() {
	stream, err := os.ReadFile(os.Args[1])
	check(err)
	var people []PersonInfo
	check(gob.NewDecoder(bytes.NewReader(stream)).Decode(&people))
	if len(people) != 10000 {
		panic("expected 10,000 people")
	}

	var buffer bytes.Buffer
	encoder := gob.NewEncoder(&buffer)
	measure("people/encode/reused", func() {
		buffer.Reset()
		check(encoder.Encode(people))
	})
	measure("people/encode/fresh", func() {
		var buffer bytes.Buffer
		check(gob.NewEncoder(&buffer).Encode(people))
	})
	measure("people/decode/owned", func() {
		var back []PersonInfo
		check(gob.NewDecoder(bytes.NewReader(stream)).Decode(&back))
	})
	measure("people/skip", func() {
		check(gob.NewDecoder(bytes.NewReader(stream)).Decode(nil))
	})

	one := &people[0]
	encoder = gob.NewEncoder(&buffer)
	measure("one/encode/reused", func() {
		buffer.Reset()
		check(encoder.Encode(one))
	})
	measure("one/encode/fresh", func() {
		var buffer bytes.Buffer
		check(gob.NewEncoder(&buffer).Encode(one))
	})
	buffer.Reset()
	check(gob.NewEncoder(&buffer).Encode(one))
	alone := append([]byte(nil), buffer.Bytes()...)
	measure("one/decode/fresh", func() {
		var back PersonInfo
		check(gob.NewDecoder(bytes.NewReader(alone)).Decode(&back))
	})
}
