package metrics

import (
	"net/http"
	"slices"
	"sync"
)

// scrapes keeps account of the scrapes of a Server. They are numbered from 1 in
// the order in which they began.
type scrapes struct {
	mu       sync.Mutex
	begun    uint64
	complete uint64
	newest   uint64 // the greatest number of those that are complete
	waiters  []waiter
}

// A waiter waits for a complete scrape with a number greater than after.
type waiter struct {
	after uint64
	done  chan struct{}
}

// last returns the number of the scrape that began last, 0 for none.
func (s *scrapes) last() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.begun
}

// total returns how many are complete.
func (s *scrapes) total() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.complete
}

// later returns a channel that is closed once a scrape with a number greater
// than n is complete.
func (s *scrapes) later(n uint64) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := waiter{n, make(chan struct{})}
	if s.newest > n {
		close(w.done)
	} else {
		s.waiters = append(s.waiters, w)
	}
	return w.done
}

// begin numbers a scrape.
func (s *scrapes) begin() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begun++
	return s.begun
}

// end says that scrape n is complete.
func (s *scrapes) end(n uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.complete++
	s.newest = max(s.newest, n)
	s.waiters = slices.DeleteFunc(s.waiters, func(w waiter) bool {
		if w.after >= n {
			return false
		}
		close(w.done)
		return true
	})
}

// account returns a handler that is next and counts its complete replies.
func (s *scrapes) account(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := s.begin()
		out := reply{ResponseWriter: w}
		next.ServeHTTP(&out, r)
		if out.status != http.StatusOK || out.err != nil || r.Method != http.MethodGet {
			return
		}
		// What is left in the server's buffer may still fail to be sent.
		if http.NewResponseController(w).Flush() == nil {
			s.end(n)
		}
	})
}

// A reply notes what came of writing it.
type reply struct {
	http.ResponseWriter
	status int
	err    error // the first one
}

func (r *reply) WriteHeader(status int) {
	r.status = status
	r.ResponseWriter.WriteHeader(status)
}

func (r *reply) Write(b []byte) (int, error) {
	n, err := r.ResponseWriter.Write(b)
	if r.err == nil {
		r.err = err
	}
	return n, err
}
