// Types for gob where it needs others; nothing is timed here.
//
// An enum is a struct of pointers of which one is set, for two reasons: gob has no maps of several
// types but through registered interfaces, and it is what our own crate writes (its README: "What
// becomes what"). Reading or writing it costs Go a little more than a word would.
//
// Go sends no pointer to an empty text or a zero: an optional text that is there and empty would come back
// as none. The datasets have no such text; the check would say so.
//
// An event's record is map[string]any here too: its numbers, truth values and texts travel as
// interfaces with the names that gob itself registers.

package main

type gobPerson struct {
	Name    string
	Age     uint8
	Sex     struct{ Female, Male, Other *struct{} }
	Hobbies []string
}

type gobLogRecord struct {
	Id      string
	Time    uint64
	Level   struct{ Debug, Info, Warn, Error *struct{} }
	Client  gobClient
	Request gobRequest
	Outcome gobOutcome
	Steps   []Step
	Labels  map[string]string
	Message string
}

type gobClient struct {
	Address struct {
		Local *struct{}
		V4    *struct{ F0, F1, F2, F3 uint8 }
		V6    *string
	}
	User  *User
	Agent *string
}

type gobRequest struct {
	Method  struct{ GET, POST, PUT, DELETE *struct{} }
	Path    string
	Query   map[string]string
	Headers map[string]string
	Body    struct {
		Empty *struct{}
		Text  *string
		Form  *map[string]string
		File  *struct {
			Name      string
			SizeBytes uint64
			Kind      *string
		}
	}
}

type gobOutcome struct {
	Done *struct {
		Status    uint16
		SizeBytes uint64
		Cached    bool
		TookMs    float64
	}
	Moved  *string
	Failed *struct {
		F0 uint16
		F1 string
	}
	Gone *struct{}
}

// gobShapes of the seeded datasets, where they are not the same.
var gobShapes = map[string]shape{
	"people": {empty[[]gobPerson], empty[gobPerson]},
	"log":    {empty[[]gobLogRecord], empty[gobLogRecord]},
}
