package script

import (
	"errors"
	"fmt"
	"path/filepath"
)

// maxBodies bounds the bytes of all files with bodies together.
const maxBodies = 1 << 30

// bodies reads the files with bodies that another file names, each once.
type bodies struct {
	dir  string // of the file that names them
	open func(path string) ([]byte, error)
	read map[string][]byte
	size int // bytes of all in read
}

func newBodies(name string, open func(path string) ([]byte, error)) *bodies {
	return &bodies{dir: filepath.Dir(name), open: open, read: map[string][]byte{}}
}

// get returns the content of the file at path, which is never nil.
func (b *bodies) get(path string) ([]byte, error) {
	if path == "" {
		return nil, errors.New("body file without a name: want @FILE")
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(b.dir, path)
	}
	if body, ok := b.read[path]; ok {
		return body, nil
	}
	body, err := b.open(path)
	if err != nil {
		return nil, fmt.Errorf("body file %q: %w: want a file that can be read", path, err)
	}
	if body == nil {
		body = []byte{}
	}
	if b.size += len(body); b.size > maxBodies {
		return nil, fmt.Errorf("body file %q is one too many: want no more than %d MiB in all", path, maxBodies>>20)
	}
	b.read[path] = body
	return body, nil
}
