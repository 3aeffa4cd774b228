package metrics

import (
	"net/http"

	"httpgen/internal/poll"
)

// considerate returns a handler that is next and takes turns with the loops. A
// scrape takes most of a millisecond of a processor: a loop on the same one would
// start all arrivals late that are due meanwhile.
func considerate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(&piecemeal{ResponseWriter: w}, r)
	})
}

// A piecemeal is a writer that takes a turn at each write.
type piecemeal struct {
	http.ResponseWriter
	turn poll.Turn
}

func (w *piecemeal) Write(b []byte) (int, error) {
	w.turn.Pass()
	return w.ResponseWriter.Write(b)
}
