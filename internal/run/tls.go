package run

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// TLS says how connections are secured. The zero value verifies the server by
// the system's roots and leaves the rest to crypto/tls.
type TLS struct {
	Insecure   bool   // believe any certificate
	CAFile     string // PEM file of roots, instead of the system's
	CAPath     string // folder of such files
	CertFile   string // PEM file of our own certificate
	KeyFile    string // its key; default CertFile
	ServerName string // name to ask for and to verify; default the server
	Min, Max   uint16 // versions, tls.VersionTLS10 to 13; 0 leaves it to crypto/tls
	Ciphers    string // OpenSSL's names, separated by colons; TLS 1.3's are fixed
	NoReuse    bool   // a full handshake for every connection
}

// config makes the configuration for a server.
func (t *TLS) config(server string) (*tls.Config, error) {
	c := &tls.Config{
		InsecureSkipVerify: t.Insecure, ServerName: t.ServerName, MinVersion: t.Min, MaxVersion: t.Max,
		// Without post-quantum key shares: no server that a load is measured on
		// refuses X25519 or P-256, and making the larger ones would be most of
		// what a handshake costs us.
		CurvePreferences: []tls.CurveID{tls.X25519, tls.CurveP256, tls.CurveP384, tls.CurveP521},
	}
	if c.ServerName == "" {
		c.ServerName = strings.Trim(server, "[]")
	}
	// What crypto/tls takes for 0.
	if low, high := cmp.Or(t.Min, tls.VersionTLS12), cmp.Or(t.Max, tls.VersionTLS13); low > high {
		return nil, fmt.Errorf("TLS versions from %s to %s: want the lower one first", tls.VersionName(low), tls.VersionName(high))
	}
	if !t.NoReuse {
		c.ClientSessionCache = tls.NewLRUClientSessionCache(64)
	} else {
		c.SessionTicketsDisabled = true
	}
	var err error
	if c.RootCAs, err = t.roots(); err != nil {
		return nil, err
	}
	if t.CertFile != "" || t.KeyFile != "" {
		key := t.KeyFile
		if key == "" {
			key = t.CertFile
		}
		pair, err := tls.LoadX509KeyPair(t.CertFile, key)
		if err != nil {
			return nil, fmt.Errorf("certificate %q with key %q: %w", t.CertFile, key, err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	if t.Ciphers != "" {
		if c.CipherSuites, err = ciphers(t.Ciphers); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// roots reads the roots that were named; nil stands for the system's.
func (t *TLS) roots() (*x509.CertPool, error) {
	var files []string
	if t.CAFile != "" {
		files = append(files, t.CAFile)
	}
	if t.CAPath != "" {
		entries, err := os.ReadDir(t.CAPath)
		if err != nil {
			return nil, fmt.Errorf("CA path: %w", err)
		}
		for _, e := range entries {
			if !e.IsDir() {
				files = append(files, filepath.Join(t.CAPath, e.Name()))
			}
		}
	}
	if t.CAFile == "" && t.CAPath == "" {
		return nil, nil
	}
	pool, found := x509.NewCertPool(), false
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			return nil, fmt.Errorf("CA file: %w", err)
		}
		ok := pool.AppendCertsFromPEM(b)
		if f == t.CAFile && !ok {
			return nil, fmt.Errorf("CA file %q: no certificate in it, want PEM", f)
		}
		found = found || ok
	}
	if !found {
		return nil, fmt.Errorf("CA path %q: no certificate in it, want files in PEM", t.CAPath)
	}
	return pool, nil
}

// suiteNames are OpenSSL's names of the suites that crypto/tls has.
var suiteNames = map[string]uint16{
	"AES128-SHA":                    tls.TLS_RSA_WITH_AES_128_CBC_SHA,
	"AES256-SHA":                    tls.TLS_RSA_WITH_AES_256_CBC_SHA,
	"AES128-SHA256":                 tls.TLS_RSA_WITH_AES_128_CBC_SHA256,
	"AES128-GCM-SHA256":             tls.TLS_RSA_WITH_AES_128_GCM_SHA256,
	"AES256-GCM-SHA384":             tls.TLS_RSA_WITH_AES_256_GCM_SHA384,
	"DES-CBC3-SHA":                  tls.TLS_RSA_WITH_3DES_EDE_CBC_SHA,
	"RC4-SHA":                       tls.TLS_RSA_WITH_RC4_128_SHA,
	"ECDHE-ECDSA-AES128-SHA":        tls.TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA,
	"ECDHE-ECDSA-AES256-SHA":        tls.TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA,
	"ECDHE-ECDSA-AES128-SHA256":     tls.TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256,
	"ECDHE-ECDSA-AES128-GCM-SHA256": tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
	"ECDHE-ECDSA-AES256-GCM-SHA384": tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
	"ECDHE-ECDSA-CHACHA20-POLY1305": tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
	"ECDHE-ECDSA-RC4-SHA":           tls.TLS_ECDHE_ECDSA_WITH_RC4_128_SHA,
	"ECDHE-RSA-AES128-SHA":          tls.TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA,
	"ECDHE-RSA-AES256-SHA":          tls.TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA,
	"ECDHE-RSA-AES128-SHA256":       tls.TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256,
	"ECDHE-RSA-AES128-GCM-SHA256":   tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
	"ECDHE-RSA-AES256-GCM-SHA384":   tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
	"ECDHE-RSA-CHACHA20-POLY1305":   tls.TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
	"ECDHE-RSA-DES-CBC3-SHA":        tls.TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA,
	"ECDHE-RSA-RC4-SHA":             tls.TLS_ECDHE_RSA_WITH_RC4_128_SHA,
}

// ciphers reads a list of suites.
func ciphers(list string) ([]uint16, error) {
	var ids []uint16
	for name := range strings.SplitSeq(list, ":") {
		id, ok := suiteNames[name]
		if !ok {
			known := slices.Sorted(func(yield func(string) bool) {
				for n := range suiteNames {
					if !yield(n) {
						return
					}
				}
			})
			return nil, fmt.Errorf("cipher suite %q: want names separated by colons out of %s (those of TLS 1.3 are fixed)", name, strings.Join(known, " "))
		}
		ids = append(ids, id)
	}
	return ids, nil
}
