//go:build fxamacker

// github.com/fxamacker/cbor, version 2. Inside the clock: fresh is Marshal of a kept mode (the library's
// compiled options); reused keeps an encoder on a buffer; decoding is Unmarshal of a kept mode, which
// keeps nothing else, so that there is no fresh decoding. A stream is one Encoder or one Decoder. Maps of
// unknown type are map[string]any.

package main

import (
	"bytes"
	"reflect"

	"github.com/fxamacker/cbor"
)

func init() {
	encMode, err := cbor.EncOptions{}.EncMode()
	if err != nil {
		panic(err) // The options are fixed.
	}
	decMode, err := cbor.DecOptions{DefaultMapType: reflect.TypeOf(map[string]any(nil))}.DecMode()
	if err != nil {
		panic(err)
	}
	codecs = append(codecs, codec{
		id:      "cbor/go:fxamacker",
		version: libraryVersion("github.com/fxamacker/cbor/v2"),
		open:    func(mode string) coder { return openFxamacker(mode, encMode, decMode) },
	})
}

func openFxamacker(mode string, encMode cbor.EncMode, decMode cbor.DecMode) coder {
	if mode == "fresh" {
		return coder{encode: encMode.Marshal}
	}
	var buffer bytes.Buffer
	encoder := encMode.NewEncoder(&buffer)
	if mode == "stream" {
		return coder{
			encodeAll: func(items []any) ([]byte, error) {
				buffer.Reset()
				for _, item := range items {
					if err := encoder.Encode(item); err != nil {
						return nil, err
					}
				}
				return buffer.Bytes(), nil
			},
			decodeAll: func(text []byte, item func() any, all []any) ([]any, error) {
				return untilEOF(decMode.NewDecoder(bytes.NewReader(text)), item, all)
			},
		}
	}
	return coder{
		encode: func(value any) ([]byte, error) {
			buffer.Reset()
			err := encoder.Encode(value)
			return buffer.Bytes(), err
		},
		decode: decMode.Unmarshal,
	}
}
