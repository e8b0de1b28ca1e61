package push

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"os"

	"matchday/pkg/kit/app"
	"matchday/pkg/spec"
)

// Settings of the functions that push, in every room: environment variables.
const (
	SettingURL    = "APNS_URL" // Apple's host for the stage; production's if not set
	SettingTeamID = "APNS_TEAM_ID"
	SettingKeyID  = "APNS_KEY_ID"
	SettingCAFile = "APNS_CA_FILE" // local stage: PEM of what signed the simulator's certificate
)

// ConfigOf is what a function's environment says: Apple's .p8 key is the secret
// named key, and the app's bundle id the setting named bundle, for each room has
// an app of its own.
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
		Endpoint: env.Setting(SettingURL), TeamID: env.Setting(SettingTeamID), KeyID: env.Setting(SettingKeyID),
		PEM: []byte(pem), Bundle: env.Setting(bundle), Now: env.Now, RootCAs: roots,
	}, nil
}

// rootsOf are who may sign Apple's certificate: the system's authorities, or on
// one machine the simulator's own.
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
		return nil, errors.New("the push simulator's certificate is no PEM")
	}
	return roots, nil
}
