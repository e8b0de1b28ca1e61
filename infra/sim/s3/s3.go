// Package s3 simulates S3, in memory. It checks no signatures, and expires nothing.
package s3

import (
	"fmt"
	"net/http"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// New returns S3 with empty buckets.
func New(buckets ...string) http.Handler {
	backend := s3mem.New()
	for _, b := range buckets {
		if err := backend.CreateBucket(b); err != nil {
			panic(fmt.Sprintf("s3: create the bucket %s: %v", b, err)) // a name that no bucket may have
		}
	}

	return gofakes3.New(backend).Server()
}
