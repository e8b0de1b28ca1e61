// Package object keeps JSON documents and other files in an S3 bucket, and links to them.
package object

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// Bucket is a client of an S3 bucket.
type Bucket struct {
	client *s3.Client
	name   string
}

// Open returns a client of the bucket with a name. Its URLs contain the name in the path, as the
// emulator on a developer's machine requires.
func Open(cfg aws.Config, name string) Bucket {
	return Bucket{s3.NewFromConfig(cfg, func(o *s3.Options) { o.UsePathStyle = true }), name}
}

// Put stores a document as JSON under a key, and replaces an existing one.
func (b Bucket) Put(ctx context.Context, key string, document any) error {
	text, err := json.MarshalIndent(document, "", "  ")
	if err != nil {
		return fmt.Errorf("write the object %s: %w", key, err)
	}

	return b.PutFile(ctx, key, "application/json", text)
}

// PutFile stores a file with a media type under a key, and replaces an existing one.
func (b Bucket) PutFile(ctx context.Context, key, media string, file []byte) error {
	if _, err := b.client.PutObject(ctx, &s3.PutObjectInput{
		Bucket:      &b.name,
		Key:         &key,
		Body:        bytes.NewReader(file),
		ContentType: &media,
	}); err != nil {
		return fmt.Errorf("write the object %s: %w", key, err)
	}

	return nil
}

// ErrAbsent reports an object that does not exist. S3 reports it only to callers that may list
// the bucket; to others it denies the access.
var ErrAbsent = errors.New("there is no such object")

// Get reads an object. Errors: ErrAbsent.
func (b Bucket) Get(ctx context.Context, key string) (file []byte, err error) {
	out, err := b.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &b.name, Key: &key})
	if _, absent := errors.AsType[*types.NoSuchKey](err); absent {
		err = ErrAbsent
	}

	if err == nil {
		defer out.Body.Close()

		file, err = io.ReadAll(out.Body)
	}

	if err != nil {
		return nil, fmt.Errorf("read the object %s: %w", key, err)
	}

	return file, nil
}

// Delete deletes a document, if it exists.
func (b Bucket) Delete(ctx context.Context, key string) error {
	if _, err := b.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &b.name, Key: &key}); err != nil {
		return fmt.Errorf("delete the object %s: %w", key, err)
	}

	return nil
}

// Link returns a URL that downloads a document as a file with this name. Anybody who has the URL
// can use it until valid has passed, or until the credentials of the function expire.
func (b Bucket) Link(ctx context.Context, key, file string, valid time.Duration) (string, error) {
	out, err := s3.NewPresignClient(b.client).PresignGetObject(ctx, &s3.GetObjectInput{
		Bucket: &b.name, Key: &key, ResponseContentDisposition: aws.String(`attachment; filename="` + file + `"`),
	}, s3.WithPresignExpires(valid))
	if err != nil {
		return "", fmt.Errorf("sign a link: %w", err)
	}

	return out.URL, nil
}
