package target

import (
	"bytes"
	"fmt"
	"net/http"
)

// continueLine asks a client that waits for it to send its body.
var continueLine = []byte("HTTP/1.1 100 Continue\r\n\r\n")

// A reply holds the bytes of one kind of reply, in all its forms.
type reply [3]struct {
	bytes []byte
	head  int // bytes of the head alone
}

// The forms of a reply, by what becomes of the connection.
const (
	keep    = iota // HTTP/1.1 keeps it
	keepOld        // HTTP/1.0 keeps it, and must be told
	end
)

var connectionLines = [...]string{keep: "", keepOld: "Connection: keep-alive\r\n", end: "Connection: close\r\n"}

func newReply(status, size int) *reply {
	var r reply
	length := fmt.Sprintf("Content-Length: %d\r\n", size)
	if status == http.StatusNoContent || status == http.StatusNotModified {
		length, size = "", 0
	}
	for i := range r {
		head := fmt.Sprintf("HTTP/1.1 %d %s\r\n%s%s\r\n", status, http.StatusText(status), length, connectionLines[i])
		r[i].bytes = append([]byte(head), bytes.Repeat([]byte("x"), size)...)
		r[i].head = len(head)
	}
	return &r
}

// to returns the bytes that answer q.
func (r *reply) to(q *request) []byte {
	form := keep
	switch {
	case q.close:
		form = end
	case q.old:
		form = keepOld
	}
	f := &r[form]
	if q.head {
		return f.bytes[:f.head]
	}
	return f.bytes
}
