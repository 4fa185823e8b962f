// encoding/gob, of the standard library. Inside the clock: Encode or Decode, and a new encoder or
// decoder for each document, since each must begin with its types, or no reader could begin there.
// So only the buffer can be kept; in a stream one encoder writes all documents and one decoder reads them.

package main

import (
	"bytes"
	"encoding/gob"
	"errors"
	"io"
	"runtime"
)

func init() {
	codecs = append(codecs, codec{
		id:          "gob/go:encoding-gob",
		version:     runtime.Version(),
		needsSchema: true,
		open:        openGob,
		encoder:     func(w io.Writer) encoder { return gob.NewEncoder(w) },
		decoder:     func(r io.Reader) decoder { return gob.NewDecoder(r) },
	})
}

func openGob(mode string) coder {
	switch mode {
	case "fresh":
		return coder{encode: func(value any) ([]byte, error) {
			var buffer bytes.Buffer
			err := gob.NewEncoder(&buffer).Encode(value)
			return buffer.Bytes(), err
		}}
	case "stream":
		var buffer bytes.Buffer
		return coder{
			encodeAll: func(items []any) ([]byte, error) {
				buffer.Reset()
				encoder := gob.NewEncoder(&buffer)
				for _, item := range items {
					if err := encoder.Encode(item); err != nil {
						return nil, err
					}
				}
				return buffer.Bytes(), nil
			},
			decodeAll: func(text []byte, item func() any, all []any) ([]any, error) {
				return untilEOF(gob.NewDecoder(bytes.NewReader(text)), item, all)
			},
		}
	}
	var buffer bytes.Buffer
	return coder{
		encode: func(value any) ([]byte, error) {
			buffer.Reset()
			err := gob.NewEncoder(&buffer).Encode(value)
			return buffer.Bytes(), err
		},
		decode: func(text []byte, into any) error {
			return gob.NewDecoder(bytes.NewReader(text)).Decode(into)
		},
	}
}

// untilEOF decodes what a stream holds, for all libraries whose decoders say io.EOF at its end.
func untilEOF(decoder decoder, item func() any, all []any) ([]any, error) {
	for {
		into := item()
		switch err := decoder.Decode(into); {
		case err == nil:
			all = append(all, into)
		case errors.Is(err, io.EOF):
			return all, nil
		default:
			return nil, err
		}
	}
}
