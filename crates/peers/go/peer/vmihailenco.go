//go:build vmihailenco

// github.com/vmihailenco/msgpack, version 5. Inside the clock: fresh is Marshal and Unmarshal, which
// take their coder from a pool; reused keeps an encoder on a buffer, and a decoder that is reset to a
// kept reader. Options are the library's own: an int64 is written in nine bytes, however small.

package main

import (
	"bytes"

	"github.com/vmihailenco/msgpack/v5"
)

func init() {
	codecs = append(codecs, codec{
		id:      "msgpack/go:vmihailenco",
		version: msgpack.Version(),
		open:    openVmihailenco,
	})
}

func openVmihailenco(mode string) coder {
	if mode == "fresh" {
		return coder{encode: msgpack.Marshal, decode: msgpack.Unmarshal}
	}
	var buffer bytes.Buffer
	encoder := msgpack.NewEncoder(&buffer)
	var reader bytes.Reader
	decoder := msgpack.NewDecoder(&reader)
	if mode == "stream" {
		return coder{
			encodeAll: func(items []any) ([]byte, error) {
				buffer.Reset()
				encoder.Reset(&buffer)
				for _, item := range items {
					if err := encoder.Encode(item); err != nil {
						return nil, err
					}
				}
				return buffer.Bytes(), nil
			},
			decodeAll: func(text []byte, item func() any, all []any) ([]any, error) {
				reader.Reset(text)
				decoder.Reset(&reader)
				return untilEOF(decoder, item, all)
			},
		}
	}
	return coder{
		encode: func(value any) ([]byte, error) {
			buffer.Reset()
			encoder.Reset(&buffer)
			err := encoder.Encode(value)
			return buffer.Bytes(), err
		},
		decode: func(text []byte, into any) error {
			reader.Reset(text)
			decoder.Reset(&reader)
			return decoder.Decode(into)
		},
	}
}
