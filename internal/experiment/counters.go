package experiment

import (
	"os"
	"strconv"
	"strings"
)

// Counters is what the system counted while a trial ran: evidence of whose fault
// its failures were. They are of the whole system and its network namespace, and
// say something of the target only if it runs there too.
type Counters struct {
	ListenOverflows     uint64  `json:"listen_overflows"`       // connections that found the accept queue full
	ListenDrops         uint64  `json:"listen_drops"`           // connections that a listener dropped, for any reason
	TCPAborts           uint64  `json:"tcp_aborts"`             // connections ended with a reset by the system
	RetransmittedSegs   uint64  `json:"retransmitted_segments"` // TCP segments sent again
	SYNRetransmits      uint64  `json:"syn_retransmits"`        // those of them that open a connection
	TimeWaitOverflows   uint64  `json:"time_wait_overflows"`    // closed connections that found no place in TIME_WAIT
	StealSeconds        float64 `json:"steal_seconds"`          // processor time that a hypervisor took, all processors together
	RunQueueWaitSeconds float64 `json:"run_queue_wait_seconds"` // time that runnable tasks waited for a processor, all together
	Load                float64 `json:"load_1m"`                // load average at the end
}

// readCounters returns the counts since the system's start, nil where it does
// not tell.
func readCounters() *Counters {
	netstat, err := os.ReadFile("/proc/net/netstat")
	if err != nil {
		return nil
	}
	// What cannot be read stays 0: not every system counts everything.
	snmp, _ := os.ReadFile("/proc/net/snmp")
	cpu, _ := os.ReadFile("/proc/stat")
	queue, _ := os.ReadFile("/proc/schedstat")
	load, _ := os.ReadFile("/proc/loadavg")
	return parseCounters(string(netstat), string(snmp), string(cpu), string(queue), string(load))
}

// ticks is the unit of /proc/stat, per second, on every Linux platform that Go
// knows.
const ticks = 100

func parseCounters(netstat, snmp, cpu, queue, load string) *Counters {
	var c Counters
	ext := table(netstat, "TcpExt:")
	c.ListenOverflows, c.ListenDrops = ext["ListenOverflows"], ext["ListenDrops"]
	c.SYNRetransmits, c.TimeWaitOverflows = ext["TCPSynRetrans"], ext["TCPTimeWaitOverflow"]
	for name, n := range ext {
		if strings.HasPrefix(name, "TCPAbort") && name != "TCPAbortFailed" {
			c.TCPAborts += n
		}
	}
	c.RetransmittedSegs = table(snmp, "Tcp:")["RetransSegs"]
	for line := range strings.Lines(cpu) {
		if f := strings.Fields(line); len(f) > 8 && f[0] == "cpu" {
			c.StealSeconds = float64(number(f[8])) / ticks
		}
	}
	for line := range strings.Lines(queue) {
		if f := strings.Fields(line); len(f) > 8 && strings.HasPrefix(f[0], "cpu") {
			c.RunQueueWaitSeconds += float64(number(f[8])) / 1e9
		}
	}
	if f := strings.Fields(load); len(f) > 0 {
		if v, err := strconv.ParseFloat(f[0], 64); err == nil && v >= 0 && v <= 1e9 {
			c.Load = v
		}
	}
	return &c
}

// table reads a pair of lines that begin with head: names, and their values.
func table(text, head string) map[string]uint64 {
	values := map[string]uint64{}
	var names []string
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		switch {
		case len(f) == 0 || f[0] != head:
		case names == nil:
			names = f
		default:
			for i := 1; i < min(len(f), len(names)); i++ {
				values[names[i]] = number(f[i])
			}
			return values
		}
	}
	return values
}

// number reads a count; what is none counts nothing.
func number(s string) uint64 {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// since returns what was counted after an earlier reading; nil when either is
// missing.
func (c *Counters) since(old *Counters) *Counters {
	if c == nil || old == nil {
		return nil
	}
	d := *c
	for _, f := range []struct {
		now *uint64
		old uint64
	}{
		{&d.ListenOverflows, old.ListenOverflows}, {&d.ListenDrops, old.ListenDrops}, {&d.TCPAborts, old.TCPAborts},
		{&d.RetransmittedSegs, old.RetransmittedSegs}, {&d.SYNRetransmits, old.SYNRetransmits}, {&d.TimeWaitOverflows, old.TimeWaitOverflows},
	} {
		*f.now -= min(f.old, *f.now)
	}
	d.StealSeconds = max(0, d.StealSeconds-old.StealSeconds)
	d.RunQueueWaitSeconds = max(0, d.RunQueueWaitSeconds-old.RunQueueWaitSeconds)
	return &d
}
