package push

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"matchday/infra/sim/apns"
	"matchday/infra/sim/clock"
	"matchday/pkg/kit/app"
	"matchday/pkg/spec"
)

func TestConfigOf(t *testing.T) {
	t.Parallel()

	c := clock.New(start, clock.Free)
	t.Cleanup(c.Stop)

	apple := apns.New(c, apns.Config{TeamID: team, KeyID: keyID, Bundle: "app.test"})
	if err := apple.Listen(); err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { apple.Close() })
	dir := t.TempDir()

	ca, text := filepath.Join(dir, "ca.pem"), filepath.Join(dir, "text")
	for file, content := range map[string][]byte{ca: apple.CA(), text: []byte("no certificate")} {
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}

	for _, c := range []struct {
		name   string
		change func(map[string]string)
		roots  bool
		err    string
	}{
		{"the simulator's authority", func(map[string]string) {}, true, ""},
		{"the system's authorities", func(s map[string]string) { delete(s, SettingCAFile) }, false, ""},
		{"no key", func(s map[string]string) { delete(s, "KEY") }, false, "the secret KEY is not set"},
		{"no certificate", func(s map[string]string) { s[SettingCAFile] = text }, false, "the push simulator's certificate is not a PEM file"},
		{"no file", func(s map[string]string) { s[SettingCAFile] = filepath.Join(dir, "none") }, false,
			"read the push simulator's certificate: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()

			settings := map[string]string{
				SettingURL: apple.URL(), SettingTeamID: team, SettingKeyID: keyID, SettingCAFile: ca, "KEY": "a key", "BUNDLE": "app.test",
				SettingBroadcastURL: "https://broadcasts.test",
			}
			c.change(settings)

			env := app.Env{Stage: spec.Local, Setting: func(name string) string { return settings[name] }}

			got, err := ConfigOf(t.Context(), env, "KEY", "BUNDLE")
			if c.err != "" {
				if err == nil || !strings.HasPrefix(err.Error(), c.err) {
					t.Fatalf("got %v, want %s", err, c.err)
				}

				return
			}

			if err != nil {
				t.Fatal(err)
			}

			if got.Endpoint != apple.URL() || got.BroadcastEndpoint != "https://broadcasts.test" || got.TeamID != team || got.KeyID != keyID ||
				string(got.PEM) != "a key" || got.Bundle != "app.test" || (got.RootCAs != nil) != c.roots {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// TestEnvironmentOf: a phone's token is of the environment whose host the stage uses.
func TestEnvironmentOf(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		stage, url, want string
	}{
		{"dev", "https://api.sandbox.push.apple.com", "sandbox"},
		{"prod", "https://api.push.apple.com", "production"},
		{"prod", "", "production"},
		{spec.Local, "https://api.sandbox.push.apple.com", ""},
	} {
		env := app.Env{Stage: c.stage, Setting: func(name string) string { return map[string]string{SettingURL: c.url}[name] }}
		if got := EnvironmentOf(env); got != c.want {
			t.Errorf("%s with %q: got %q, want %q", c.stage, c.url, got, c.want)
		}
	}
}
