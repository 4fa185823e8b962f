// The clock: processor time of the whole process (all threads, user and system) and wall time, of
// batches. The collector is inside; what the caller of a batch holds is freed by it when it likes.

package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"time"
)

type span struct{ wall, user, system time.Duration }

func (s span) cpu() time.Duration { return s.user + s.system }

// A batch does a cell's operation `times` times and says how long that took, without what has to be
// done between for the next time.
type batch func(times int) (span, error)

// clocked is a batch of an operation that needs nothing between.
func clocked(operation func() error) batch {
	return func(times int) (span, error) {
		watch := start()
		for i := 0; i < times; i++ {
			if err := operation(); err != nil {
				return span{}, err
			}
		}
		return watch.elapsed(), nil
	}
}

type stopwatch struct {
	at    time.Time
	usage syscall.Rusage
}

func start() (s stopwatch) {
	s.at = time.Now()
	usage(&s.usage)
	return s
}

func (s *stopwatch) elapsed() span {
	var now syscall.Rusage
	usage(&now)
	return span{
		wall:   time.Since(s.at),
		user:   time.Duration(now.Utime.Nano() - s.usage.Utime.Nano()),
		system: time.Duration(now.Stime.Nano() - s.usage.Stime.Nano()),
	}
}

// usage counts in microseconds, a thousandth of a batch.
func usage(into *syscall.Rusage) {
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, into); err != nil {
		panic(err) // It has no way to fail.
	}
}

// The collector comes in waves. A batch between two of them would be timed without it, and the
// lower quartile of such batches too; so where memory is asked for, a batch holds two waves, if that
// takes no longer than this.
const longEnough = 20 * time.Millisecond

// Less than this in a batch brings no wave.
const fewBytes = 64 << 10

// Where one operation takes longer, none is done before the clock to have the caches back.
const longOperation = 10 * time.Millisecond

func measure(s *suite, id cellID) error {
	cell, err := s.find(id)
	if err != nil {
		return err
	}
	if cell.skip != "" {
		return fmt.Errorf("%s cannot be run: %s", id, cell.skip)
	}
	run, err := cell.prepare()
	if err != nil {
		return err
	}
	// What the values were read from and what only a check needs is no load for the collector.
	s.values.known = nil
	runtime.GC()
	onFiles := id.Way != ""
	goal := time.Duration(s.request.Sampling.SampleNS)
	length := func(took span) time.Duration {
		if onFiles {
			return took.wall
		}
		return took.cpu()
	}

	times, each := 1, time.Duration(0)
	for warm := time.Duration(0); ; {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		took, err := run(times)
		if err != nil {
			return err
		}
		runtime.ReadMemStats(&after)
		long := length(took)
		warm += long
		each = long / time.Duration(times)
		hasWaves := after.NumGC-before.NumGC >= 2 ||
			after.TotalAlloc-before.TotalAlloc < fewBytes || long >= longEnough
		if long < goal || !hasWaves {
			times *= 2
		} else if warm >= time.Duration(s.request.Sampling.WarmUpNS) {
			break
		}
	}

	var turns *bufio.Reader
	if _, has := os.LookupEnv("WIREMARK_TURNS"); has {
		turns = bufio.NewReader(os.Stdin)
	}
	samples := make([][]int64, 0, s.request.Sampling.Samples)
	for len(samples) < s.request.Sampling.Samples {
		if turns != nil {
			if err := takeTurn(turns); err != nil {
				return err
			}
			// Another process had the caches meanwhile.
			if each <= longOperation {
				if _, err := run((times + 3) / 4); err != nil {
					return err
				}
			}
		}
		took, err := run(times)
		if err != nil {
			return err
		}
		sample := []int64{int64(times), took.cpu().Nanoseconds(), took.wall.Nanoseconds()}
		if onFiles {
			sample = append(sample, took.user.Nanoseconds(), took.system.Nanoseconds())
		}
		samples = append(samples, sample)
	}
	return say("sampled", []any{id, map[string]any{"samples": samples}})
}

func takeTurn(turns *bufio.Reader) error {
	if _, err := os.Stdout.WriteString("wiremark: my turn\n"); err != nil {
		return err
	}
	if _, err := turns.ReadString('\n'); err != nil {
		return errors.New("measure: standard input ended before this process had its turn")
	}
	return nil
}

// count tells what one operation asks of the allocator, with the collector off meanwhile; once was
// done before, so that what is kept is there.
func count(operation func() error) (*counts, error) {
	if err := operation(); err != nil {
		return nil, err
	}
	defer collectorOff()()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := operation()
	runtime.ReadMemStats(&after)
	return &counts{after.Mallocs - before.Mallocs, after.TotalAlloc - before.TotalAlloc}, err
}
