// Files for other programs and from them; nothing is timed here.

package main

import (
	"encoding/json"
	"fmt"
	"os"
)

type trade struct {
	Codec   string `json:"codec"`
	Dataset string `json:"dataset"`
	Read    string `json:"read"`
	Write   string `json:"write"`
}

type verdict struct {
	Verdict string `json:"verdict"`
	Mapping string `json:"mapping,omitempty"`
	Reason  string `json:"reason,omitempty"`
}

func exchangeAll() error {
	values := &values{folder: os.Getenv("WIREMARK_VALUES")}
	return eachLine(func(line []byte) error {
		var trade trade
		if err := json.Unmarshal(line, &trade); err != nil {
			return fmt.Errorf("exchange: `%s` is no request: %w", line, err)
		}
		answer, err := exchange(trade, values)
		if err != nil {
			return fmt.Errorf("exchange: %w", err)
		}
		return say("exchanged", answer)
	})
}

// exchange gives a verdict on the library; an error says that it could not be asked.
func exchange(trade trade, values *values) (verdict, error) {
	codec, err := findCodec(trade.Codec)
	if err != nil {
		return verdict{}, err
	}
	refused := func(err error) (verdict, error) {
		return verdict{Verdict: "refused", Reason: err.Error()}, nil
	}
	shape, err := codec.shape(trade.Dataset)
	if err != nil {
		return refused(err)
	}
	value, err := values.value(trade.Dataset, "value", shape.value)
	if err != nil {
		return verdict{}, err
	}
	answer := verdict{Verdict: "equal"}
	if trade.Read != "" {
		text, err := os.ReadFile(trade.Read)
		if err != nil {
			return verdict{}, err
		}
		back := shape.value()
		err = guarded(func() error { return codec.open("reused").decode(text, back) })
		if err != nil {
			return refused(err)
		}
		what, usesMapping := codec.diff(value, back)
		if what != "" {
			return verdict{Verdict: "changed", Reason: "the value" + what}, nil
		}
		if usesMapping {
			answer.Mapping = codec.mapping
		}
		value = back
	}
	if trade.Write != "" {
		var text []byte
		err := guarded(func() (err error) {
			text, err = codec.open("reused").encode(value)
			return err
		})
		if err != nil {
			return refused(err)
		}
		if err := create(trade.Write, text); err != nil {
			return verdict{}, err
		}
	}
	return answer, nil
}

// create writes a file that is not there.
func create(path string, text []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	if _, err := file.Write(text); err != nil {
		file.Close()
		return err
	}
	return file.Close()
}
