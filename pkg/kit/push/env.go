package push

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"strings"

	"matchday/pkg/kit/app"
	"matchday/pkg/spec"
)

// Environment variables of the functions that push, in every room.
const (
	SettingURL    = "APNS_URL" // APNs' host; production's if not set
	SettingTeamID = "APNS_TEAM_ID"
	SettingKeyID  = "APNS_KEY_ID"
	// SettingBroadcastURL is the host of broadcasts; SettingURL if not set. Apple's documents
	// name two hosts: the text has that of pushes, the samples have api-broadcast.
	SettingBroadcastURL = "APNS_BROADCAST_URL"
	SettingCAFile       = "APNS_CA_FILE" // local stage: PEM file of the authority of the simulator's certificate
)

// Settings returns the settings of a room that pushes. key names the secret that
// holds Apple's .p8 key. bundle names the setting that holds the bundle id of the
// room's app, and does describes it for the operator.
func Settings(key, bundle, does string) []spec.Setting {
	return []spec.Setting{
		{
			Name:   SettingURL,
			Secret: key,
			Does:   "Apple's host, by which app builds get pushes",
			Like:   `https://api\.(sandbox\.)?push\.apple\.com`,
			Trial:  "https://api.sandbox.push.apple.com",
		},
		{
			Name: SettingTeamID, Secret: key, Does: "the id of the Apple developer team",
			Like: `[A-Z0-9]{10}`, Example: "TEAM123456", Required: true,
		},
		{
			Name: SettingKeyID, Secret: key, Does: "the id of the key that signs pushes",
			Like: `[A-Z0-9]{10}`, Example: "KEY1234567", Required: true,
		},
		{
			Name: bundle, Secret: key, Does: does,
			Like: `[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+`, Example: "com.example.app", Required: true,
		},
	}
}

// BroadcastSetting returns the additional setting of a room that broadcasts. key is that of
// Settings.
func BroadcastSetting(key string) spec.Setting {
	return spec.Setting{
		Name:   SettingBroadcastURL,
		Secret: key,
		Does:   "Apple's host for broadcasts, by default that of pushes",
		Like:   `https://api(-broadcast)?\.(sandbox\.)?push\.apple\.com`,
	}
}

// EnvironmentOf returns the environment of the device tokens that the stage's APNs host accepts:
// "production" or "sandbox". APNs closes the connection on a token of the other. It returns ""
// on the local stage, where the simulator accepts both.
func EnvironmentOf(env app.Env) string {
	switch {
	case env.Stage == spec.Local:
		return ""
	case strings.Contains(env.Setting(SettingURL), "sandbox"):
		return "sandbox"
	}

	return "production"
}

// ConfigOf reads the Config from a function's environment. key and bundle name the
// secret and the setting, as for Settings.
func ConfigOf(ctx context.Context, env app.Env, key, bundle string) (Config, error) {
	pem, err := env.Secret(ctx, key)
	if err != nil {
		return Config{}, err
	}

	roots, err := rootsOf(env)
	if err != nil {
		return Config{}, err
	}

	return Config{
		Endpoint:          env.Setting(SettingURL),
		BroadcastEndpoint: env.Setting(SettingBroadcastURL),
		TeamID:            env.Setting(SettingTeamID),
		KeyID:             env.Setting(SettingKeyID),
		PEM:               []byte(pem),
		Bundle:            env.Setting(bundle),
		Now:               env.Now,
		RootCAs:           roots,
		DialTimeout:       env.Limit(answerTime),
		AnswerTimeout:     env.Limit(answerTime),
	}, nil
}

// rootsOf returns the authorities that may sign the server's certificate: nil for the system's,
// or the simulator's own on the local stage.
func rootsOf(env app.Env) (*x509.CertPool, error) {
	file := env.Setting(SettingCAFile)
	if env.Stage != spec.Local || file == "" {
		return nil, nil
	}

	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the push simulator's certificate: %w", err)
	}

	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, errors.New("the push simulator's certificate is not a PEM file")
	}

	return roots, nil
}
