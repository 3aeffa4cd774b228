package client

import "time"

// Script is the workload of session files: arrival i carries out the session
// i modulo their number. Make one with NewScript.
type Script struct {
	sessions [][]scripted
	longest  uint64
}

// A ScriptSession is one session of a script.
type ScriptSession struct{ Bursts []Burst }

// A Burst is some requests of a session: the first goes alone, and the others at
// once when it is answered, as in httperf.
type Burst struct {
	Requests []*Request    // one at least
	Think    time.Duration // between the last reply and the next burst
}

// scripted is one call of a session.
type scripted struct {
	req  *Request
	wait time.Duration
	more bool // the next one goes with it
}

// NewScript returns the workload that carries out sessions in turn; there must be
// one at least.
func NewScript(sessions []ScriptSession) *Script {
	w := &Script{}
	for _, s := range sessions {
		var calls []scripted
		var think time.Duration
		for _, b := range s.Bursts {
			for i, req := range b.Requests {
				c := scripted{req: req, more: i > 0 && i < len(b.Requests)-1}
				if i == 0 {
					c.wait = think
				}
				calls = append(calls, c)
			}
			think = b.Think
		}
		w.sessions = append(w.sessions, calls)
		w.longest = max(w.longest, uint64(len(calls)))
	}
	return w
}

// Begin implements Workload.
func (w *Script) Begin(index uint64, s *Session) {
	s.Planned = len(w.sessions[index%uint64(len(w.sessions))])
	s.Seq = index * w.longest
}

// Next implements Workload.
func (w *Script) Next(s *Session, last *Reply) (*Request, time.Duration, bool) {
	calls := w.sessions[s.Index%uint64(len(w.sessions))]
	if s.Pos == len(calls) {
		return nil, 0, false
	}
	c := &calls[s.Pos]
	s.Pos++
	s.More = c.more
	return c.req, c.wait, true
}
