package push

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"
)

// bubble runs a test on a clock that stands still while anything runs.
func bubble(t *testing.T, f func(*testing.T)) {
	t.Parallel()
	synctest.Test(t, f)
}

// sleep lets the bubble's clock run on, and everything settle.
func sleep(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// Gathered on the grid from the start on, then the totals, then the ends.
func TestRunAndFinish(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p, f, c := start(t, Options{RunID: "r"}, always(204))
		begin := time.Now()
		done := run(t.Context(), p)
		sleep(2500 * time.Millisecond)
		c.Add(7)
		if err := p.Finish(t.Context()); err != nil {
			t.Errorf("Finish: %v", err)
		}
		<-done
		if got, want := f.values("c_total"), []string{"0", "0", "0", "7", "end"}; !slices.Equal(got, want) {
			t.Errorf("values %v, want %v", got, want)
		}
		var offsets []time.Duration
		for _, point := range f.accepted {
			offsets = append(offsets, time.UnixMilli(point.at).Sub(begin))
		}
		if want := []time.Duration{0, 1e9, 2e9, 25e8, 2501e6}; !slices.Equal(offsets, want) {
			t.Errorf("timestamps %v after the start, want %v", offsets, want)
		}
		if got := f.accepted[0].key(); !strings.Contains(got, `job="httpgen",run_id="r"`) || !strings.Contains(got, `instance="`) {
			t.Errorf("labels %s, want instance, job and run_id", got)
		}
		for name, want := range map[string]string{
			"Content-Type": "application/x-protobuf", "Content-Encoding": "snappy", "X-Prometheus-Remote-Write-Version": "0.1.0", "Authorization": "",
		} {
			if got := f.requests[0].header.Get(name); got != want {
				t.Errorf("%s %q, want %q", name, got, want)
			}
		}
		if n, err := p.Failures(), p.FirstError(); n != 0 || err != nil {
			t.Errorf("%d failures, first %v, want none", n, err)
		}
		p.Run(t.Context()) // returns at once
		if n := f.count(); n != 5 {
			t.Errorf("%d requests, want 5: Run after Finish does nothing", n)
		}
	})
}

func TestRetry(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		status  int
		header  http.Header
		atLeast time.Duration // between the first attempt and the second
		below   time.Duration
		retried bool
	}{
		{"500", 500, nil, 100 * time.Millisecond, 200 * time.Millisecond, true},
		{"503, seconds", 503, http.Header{"Retry-After": {"3"}}, 3 * time.Second, 3200 * time.Millisecond, true},
		{"429", 429, nil, 100 * time.Millisecond, 200 * time.Millisecond, true},
		{"429, seconds", 429, http.Header{"Retry-After": {"2"}}, 2 * time.Second, 2200 * time.Millisecond, true},
		{"429, date", 429, http.Header{"Retry-After": {"Sat, 01 Jan 2000 00:00:04 GMT"}}, 4 * time.Second, 4200 * time.Millisecond, true},
		{"429, past", 429, http.Header{"Retry-After": {"Sat, 01 Jan 1900 00:00:00 GMT"}}, 100 * time.Millisecond, 200 * time.Millisecond, true},
		{"429, overflow", 429, http.Header{"Retry-After": {"9999999999999999999"}}, 100 * time.Millisecond, 200 * time.Millisecond, true},
		{"429, negative", 429, http.Header{"Retry-After": {"-1"}}, 100 * time.Millisecond, 200 * time.Millisecond, true},
		{"400", 400, nil, 0, 0, false},
		{"401", 401, nil, 0, 0, false},
		{"307", 307, http.Header{"Location": {"http://other.example/"}}, 0, 0, false},
	} {
		for _, o := range []Options{{}, {Pushgateway: "http://receiver.example"}} {
			name := tt.name + ", remote write"
			if o.Pushgateway != "" {
				name = tt.name + ", Pushgateway"
			}
			t.Run(name, func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					p, f, _ := start(t, o, func(n int) (int, http.Header) {
						if n == 0 {
							return tt.status, tt.header
						}
						return 200, nil
					})
					err := p.Finish(t.Context())
					if p.Failures() != 1 || p.FirstError() == nil || !strings.Contains(p.FirstError().Error(), tt.name[:3]) {
						t.Errorf("%d failures, first %v, want one with the status", p.Failures(), p.FirstError())
					}
					if !tt.retried {
						if lost := new(LossError); !errors.As(err, &lost) || !lost.Totals || lost.Intervals != 1 || lost.Ends {
							t.Errorf("Finish: %v, want the totals lost and the ends marked", err)
						}
						return
					}
					if err != nil {
						t.Errorf("Finish: %v, want nothing lost", err)
					}
					if gap := f.requests[1].at.Sub(f.requests[0].at); gap < tt.atLeast || gap >= tt.below {
						t.Errorf("tried again after %v, want %v to %v", gap, tt.atLeast, tt.below)
					}
				})
			})
		}
	}
}

// A batch is given up after some retries, and the next one has its turn.
func TestGivesUp(t *testing.T) {
	t.Parallel()
	for _, o := range []Options{{}, {Pushgateway: "http://receiver.example"}} {
		t.Run("to "+o.Pushgateway, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				p, f, _ := start(t, o, always(500))
				done := run(t.Context(), p)
				for f.count() < maxRetries+2 {
					sleep(time.Second)
				}
				if got := p.dropped.Load(); got == 0 {
					t.Errorf("%d intervals dropped after %d attempts, want one at least", got, f.count())
				}
				if got, want := p.Failures(), uint64(f.count()); got != want {
					t.Errorf("%d failures, want one for each of %d attempts", got, want)
				}
				begin := time.Now()
				var lost *LossError
				if err := p.Finish(t.Context()); !errors.As(err, &lost) || !lost.Totals {
					t.Errorf("Finish: %v, want the totals lost", err)
				}
				if took := time.Since(begin); took > finishTimeout {
					t.Errorf("Finish took %v, want at most %v", took, finishTimeout)
				}
				<-done
			})
		})
	}
}

// A receiver that never answers holds up neither gathering nor the end.
func TestNeverAnswers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		o        Options
		run      time.Duration
		ctx      time.Duration
		want     time.Duration
		gathered int64
		dropped  uint64
	}{
		{"no run", Options{}, 0, time.Hour, finishTimeout, 1, 1},
		{"queue not full", Options{}, 10500 * time.Millisecond, 3 * time.Second, 3 * time.Second, 12, 12},
		{"queue full", Options{Timeout: 5 * time.Minute}, 100500 * time.Millisecond, time.Hour, finishTimeout, 102, 102},
		{"Pushgateway", Options{Pushgateway: "http://receiver.example", Timeout: time.Hour}, 10500 * time.Millisecond, time.Hour, finishTimeout, 12, 12},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				p, _, _ := start(t, tt.o, always(0))
				gathered := int64(0)
				inner := p.gatherer
				p.gatherer = prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) {
					gathered++
					return inner.Gather()
				})
				if tt.run > 0 {
					done := run(t.Context(), p)
					defer func() { <-done }()
					sleep(tt.run)
					if len(p.queue.batches) > p.queue.limit {
						t.Errorf("%d batches wait, want at most %d", len(p.queue.batches), p.queue.limit)
					}
				}
				ctx, cancel := context.WithTimeout(t.Context(), tt.ctx)
				defer cancel()
				begin := time.Now()
				var lost *LossError
				if err := p.Finish(ctx); !errors.As(err, &lost) || !lost.Totals || lost.Err == nil {
					t.Errorf("Finish: %v, want the totals lost and why", err)
				} else if lost.Intervals != tt.dropped {
					t.Errorf("%d intervals lost, want %d", lost.Intervals, tt.dropped)
				}
				if took := time.Since(begin); took != tt.want {
					t.Errorf("Finish took %v, want %v", took, tt.want)
				}
				if gathered != tt.gathered {
					t.Errorf("gathered %d times, want %d", gathered, tt.gathered)
				}
				if again := p.Finish(t.Context()); again != error(lost) {
					t.Errorf("the second Finish: %v, want the same as the first", again)
				}
			})
		})
	}
}

// The totals arrive although what is older does not.
func TestTotalsComeFirst(t *testing.T) {
	bubble(t, func(t *testing.T) {
		begin := time.Now()
		p, f, c := start(t, Options{Timeout: time.Hour}, func(int) (int, http.Header) {
			if time.Since(begin) > 10*time.Second {
				return 204, nil
			}
			return 0, nil // also when it is ready for others
		})
		done := run(t.Context(), p)
		sleep(3500 * time.Millisecond)
		c.Add(5)
		err := p.Finish(t.Context())
		<-done
		var lost *LossError
		if !errors.As(err, &lost) || lost.Totals || lost.Ends || lost.Intervals != 4 || lost.Err != nil {
			t.Errorf("Finish: %v, want 4 intervals lost and the totals not", err)
		} else if want := "push: lost 4 intervals in all; the final values arrived"; err.Error() != want {
			t.Errorf("Finish: %q, want %q", err, want)
		}
		if got, want := f.values("c_total"), []string{"5", "end"}; !slices.Equal(got, want) {
			t.Errorf("values %v, want %v", got, want)
		}
	})
}

// What Run left behind when its context ended is sent by Finish, in order.
func TestFinishAfterContext(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var ready atomic.Bool
		p, f, c := start(t, Options{}, func(int) (int, http.Header) {
			if ready.Load() {
				return 204, nil
			}
			return 500, nil
		})
		ctx, cancel := context.WithCancel(t.Context())
		done := run(ctx, p)
		sleep(500 * time.Millisecond) // so that nothing changes at a tick
		for range 3 {
			c.Inc()
			sleep(time.Second)
		}
		cancel()
		<-done
		ready.Store(true)
		c.Add(10)
		if err := p.Finish(t.Context()); err != nil {
			t.Errorf("Finish: %v", err)
		}
		if got, want := f.values("c_total"), []string{"0", "1", "2", "3", "13", "end"}; !slices.Equal(got, want) {
			t.Errorf("values %v, want %v", got, want)
		}
	})
}

// An interval that is refused does not stop the others.
func TestRefusedInterval(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p, f, c := start(t, Options{}, func(n int) (int, http.Header) {
			if n == 1 {
				return 400, nil
			}
			return 204, nil
		})
		done := run(t.Context(), p)
		sleep(2500 * time.Millisecond)
		c.Inc()
		err := p.Finish(t.Context())
		<-done
		if want := "push: lost 1 interval; the final values arrived; the first failure: remote-write: server returned HTTP status 400 Bad Request: reply  1"; err == nil || err.Error() != want {
			t.Errorf("Finish: %v, want %s", err, want)
		}
		if got, want := f.values("c_total"), []string{"0", "0", "1", "end"}; !slices.Equal(got, want) {
			t.Errorf("values %v, want %v", got, want)
		}
		want := `
# HELP httpgen_push_dropped_intervals_total Gathered intervals that were given up.
# TYPE httpgen_push_dropped_intervals_total counter
httpgen_push_dropped_intervals_total{receiver="remote-write"} 1
# HELP httpgen_push_failures_total Failed attempts to push, and failed gatherings.
# TYPE httpgen_push_failures_total counter
httpgen_push_failures_total{receiver="remote-write"} 1
# HELP httpgen_push_samples_total Samples that the receiver accepted; metrics if it is a Pushgateway.
# TYPE httpgen_push_samples_total counter
httpgen_push_samples_total{receiver="remote-write"} 3
`
		if err := testutil.CollectAndCompare(p, strings.NewReader(want)); err != nil {
			t.Error(err)
		}
		if problems, err := testutil.CollectAndLint(p); err != nil || len(problems) > 0 {
			t.Errorf("lint: %v, %v", problems, err)
		}
	})
}

// A gatherer that hangs does not hold up the end, whoever called it.
func TestGathererHangs(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		free int // how many gatherings return
	}{{"in Run", 1}, {"in Finish", 2}} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				p, _, _ := start(t, Options{}, always(204))
				inner, release := p.gatherer, make(chan struct{})
				n := 0
				p.gatherer = prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) {
					if n++; n > tt.free {
						<-release
					}
					return inner.Gather()
				})
				done := run(t.Context(), p)
				sleep(1500 * time.Millisecond)
				begin := time.Now()
				var lost *LossError
				if err := p.Finish(t.Context()); !errors.As(err, &lost) || !lost.Totals || !lost.Ends {
					t.Errorf("Finish: %v, want totals and ends lost", err)
				}
				if took := time.Since(begin); took != finishTimeout {
					t.Errorf("Finish took %v, want %v", took, finishTimeout)
				}
				close(release)
				<-done
			})
		})
	}
}

// Of a gatherer that fails in part the rest is sent, and the failure counts.
func TestGathererFails(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p, f, _ := start(t, Options{}, always(204))
		inner := p.gatherer
		p.gatherer = prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) {
			families, _ := inner.Gather()
			return families, errors.New("no such\nmetric")
		})
		if err := p.Finish(t.Context()); err != nil {
			t.Errorf("Finish: %v", err)
		}
		if got, want := f.values("c_total"), []string{"0", "end"}; !slices.Equal(got, want) {
			t.Errorf("values %v, want %v", got, want)
		}
		if want := "push: remote-write: gathering: no such metric"; p.Failures() != 1 || p.FirstError().Error() != want {
			t.Errorf("%d failures, first %v, want %s", p.Failures(), p.FirstError(), want)
		}
	})
}

func TestNothingToSend(t *testing.T) {
	t.Parallel()
	for _, o := range []Options{{}, {Pushgateway: "http://receiver.example"}} {
		p, f, _ := start(t, o, always(204))
		p.gatherer = prometheus.NewRegistry()
		if err := p.Finish(t.Context()); err != nil || f.count() != 0 {
			t.Errorf("Finish: %v after %d requests, want neither", err, f.count())
		}
	}
}
