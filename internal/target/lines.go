package target

// A line holds the requests that wait for their turn: those of one source when
// there are shares, else all of them.
type line struct {
	waiting fifo // of refs, some of them stale
	n       int  // those that are not stale
	weight  float64
	base    float64 // its service when it began to ask again
	served  uint64  // services that started since
}

func newLine(weight int) *line { return &line{weight: float64(weight)} }

// service returns the services that q got, per unit of its weight. The division
// is the last step: lines that got what their whole weights say are exactly
// equal, however many services that took.
func (q *line) service() float64 { return q.base + float64(q.served)/q.weight }

// lines decide whose request is next.
type lines struct {
	backlogged []*line // in no order; waiting is not empty
	now        float64 // service, before its last one, of the line that was served last
}

// push puts a request at the end of its line.
func (l *lines) push(q *line, r ref) {
	l.ask(q)
	if q.waiting.n == 0 {
		l.backlogged = append(l.backlogged, q)
	}
	q.waiting.push(r)
	q.n++
}

// ask brings the service of a line without requests up to that of the others:
// nobody saves up for later by asking for nothing.
func (l *lines) ask(q *line) {
	if q.n == 0 && q.service() < l.now {
		q.base, q.served = l.now, 0
	}
}

// pop removes the first request, which may be stale, of the line with the least
// service. It looks at all lines that wait, which are as few as the clients of
// an experiment.
func (l *lines) pop() (ref, bool) {
	if len(l.backlogged) == 0 {
		return ref{}, false
	}
	least := 0
	if len(l.backlogged) > 1 {
		for i, q := range l.backlogged {
			if q.service() < l.backlogged[least].service() {
				least = i
			}
		}
	}
	q := l.backlogged[least]
	r, _ := q.waiting.pop()
	if q.waiting.n == 0 {
		last := len(l.backlogged) - 1
		l.backlogged[least] = l.backlogged[last]
		l.backlogged = l.backlogged[:last]
	}
	return r, true
}

// serve notes that a request of q is served, whether it has waited or not.
func (l *lines) serve(q *line) {
	l.ask(q)
	l.now = q.service()
	q.served++
}
