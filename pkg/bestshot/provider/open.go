package provider

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"matchday/pkg/kit/app"
	"matchday/pkg/spec"
)

// Name is the name of a provider in rows, messages and requests.
type Name string

// The names.
const (
	nameSofascore   Name = "sofascore"
	nameAPIFootball Name = "api-football"
)

// Manual is in the place of a provider in a tournament whose matches administrators enter. Nobody is asked
// about it, so it is not one of Names.
const Manual Name = "manual"

// Default is the provider of a tournament whose request names none, and of messages without one: they
// are of the time before there were two.
const Default = nameSofascore

// Names returns the names of all providers, the default first.
func Names() []Name { return []Name{nameSofascore, nameAPIFootball} }

// Schema describes the values of a Name.
func (Name) Schema(huma.Registry) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeString}
	for _, n := range append(Names(), Manual) {
		s.Enum = append(s.Enum, string(n))
	}

	return s
}

// The settings with base URLs.
const (
	SofascoreURL     = "BESTSHOT_PROVIDER_URL"
	APIFootballURL   = "BESTSHOT_API_FOOTBALL_URL"
	APIFootballMedia = "BESTSHOT_API_FOOTBALL_MEDIA"
)

// APIFootballKey is the secret with the key of API-Football.
const APIFootballKey = "API_FOOTBALL_KEY"

// Settings returns the settings of the providers. poller, images and creator are the functions that ask
// for data and for images, and that create tournaments, by their names.
func Settings(poller, images, creator string) []spec.Setting {
	const like = "^https?://[^ ]+$"

	return []spec.Setting{
		{
			Name:      SofascoreURL,
			Functions: []string{poller, images},
			Does:      "the base URL of the provider's API",
			Like:      like, Example: "https://provider.example.com/api/v1", Required: true,
		},
		{
			Name:      APIFootballURL,
			Functions: []string{poller, images},
			Checks:    []string{creator},
			Does:      "the base URL of API-Football, `https://v3.football.api-sports.io`; its key is the secret `" + APIFootballKey + "`",
			Like:      like,
		},
		{
			Name:      APIFootballMedia,
			Functions: []string{images},
			Does:      "the base URL of API-Football's images, by default `" + defaultMedia + "`",
			Like:      like,
		},
	}
}

// Configured reports whether a stage has a provider, or needs none. setting reads its settings.
func Configured(n Name, setting func(string) string) bool {
	return n == nameSofascore || n == Manual || n == nameAPIFootball && setting(APIFootballURL) != ""
}

// All are the providers of a stage.
type All map[Name]Provider

// Of returns a provider. The error says that the stage does not have it.
func (a All) Of(n Name) (Provider, error) {
	if p := a[n]; p != nil {
		return p, nil
	}

	return nil, fmt.Errorf("provider: this stage has no settings for %q", n)
}

// OpenAll opens the providers of a stage. The key of API-Football is read with its first request, so the
// other provider does not depend on it, and a function that only fetches images never reads it.
func OpenAll(env app.Env) (All, error) {
	url := env.Setting(SofascoreURL)
	if url == "" {
		return nil, errors.New(SofascoreURL + " is not set")
	}

	all := All{nameSofascore: NewSofascore(env.HTTP, url, env.Now)}

	if Configured(nameAPIFootball, env.Setting) {
		key := kept(func(ctx context.Context) (string, error) { return env.Secret(ctx, APIFootballKey) })
		all[nameAPIFootball] = NewAPIFootball(env.HTTP, env.Setting(APIFootballURL), env.Setting(APIFootballMedia), key, env.Now)
	}

	return all, nil
}

// kept returns a function that keeps what read returns, but for an error.
func kept(read func(context.Context) (string, error)) func(context.Context) (string, error) {
	var (
		mu    sync.Mutex
		value string
	)

	return func(ctx context.Context) (_ string, err error) {
		mu.Lock()
		defer mu.Unlock()

		if value == "" {
			value, err = read(ctx)
		}

		return value, err
	}
}
