package ready

import (
	"testing"

	"matchday/infra/stage"
	"matchday/pkg/fleet"
)

// TestRegion: a stage in another region than the environment's is checked where it is.
func TestRegion(t *testing.T) {
	for _, c := range []struct{ env, setting, want string }{
		{"", "", "us-east-1"},
		{"eu-west-1", "", "eu-west-1"},
		{"eu-west-1", "region=ap-south-1", "ap-south-1"},
		{"eu-west-1", "region=", "eu-west-1"},
	} {
		t.Setenv("AWS_REGION", c.env)
		t.Setenv("AWS_DEFAULT_REGION", "")
		t.Setenv("AWS_CONFIG_FILE", "/dev/null")
		t.Setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")

		cfg, err := Config(t.Context(), []string{"stage=dev", c.setting})
		if err != nil || cfg.Region != c.want {
			t.Errorf("with AWS_REGION=%s and %q the region is %q, want %s: %v", c.env, c.setting, cfg.Region, c.want, err)
		}
	}
}

// TestStage: the settings of a deployment are read, and invalid ones refused.
func TestStage(t *testing.T) {
	t.Parallel()

	read := func(args ...string) (stage.Stage, error) {
		settings, err := Settings(args)
		if err != nil {
			return stage.Stage{}, err
		}

		return Stage(fleet.Choice{}, settings)
	}

	s, err := read("stage=dev", "account=123456789012", "region=eu-west-1", "cdn=true", "reads=900", "rooms=x", "leave=y")
	if err != nil || s.Name != "dev" || s.Reads != 900 {
		t.Errorf("got %+v, %v", s, err)
	}

	for _, invalid := range []string{"reads", "reads=0", "read=900"} {
		if _, err := read("stage=dev", invalid); err == nil {
			t.Errorf("the setting %s is accepted", invalid)
		}
	}
}
