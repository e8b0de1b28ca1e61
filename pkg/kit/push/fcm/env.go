package fcm

import (
	"context"
	"fmt"

	"matchday/pkg/kit/app"
	"matchday/pkg/spec"
)

const (
	// Key is the secret with the JSON file of a service account of the Firebase project.
	Key = "FCM_KEY"
	// SettingProject is the setting with the id of the project. A stage without it has no Android phones.
	SettingProject = "FCM_PROJECT"
	// SettingURL is the host of the simulator, at the local stage.
	SettingURL = "FCM_URL"
)

// Settings returns the setting of a room whose app exists on Android. checks are the functions that
// register phones.
func Settings(checks ...string) []spec.Setting {
	return []spec.Setting{{
		Name: SettingProject, Secret: Key, Checks: checks,
		Does: "the id of the Firebase project, if the app exists on Android; without it no Android phone can be registered",
		Like: `[a-z][a-z0-9-]{4,28}[a-z0-9]`,
	}}
}

// ConfigOf reads the Config from a function's environment. ok is false if the stage has no Android phones.
func ConfigOf(ctx context.Context, env app.Env) (c Config, ok bool, err error) {
	project := env.Setting(SettingProject)
	if project == "" {
		return Config{}, false, nil
	}

	file, err := env.Secret(ctx, Key)
	if err != nil {
		return Config{}, false, err
	}

	a, err := readAccount([]byte(file))
	if err != nil {
		return Config{}, false, err
	}

	if a.Project != project {
		return Config{}, false, fmt.Errorf("fcm: the key is of the project %s, and %s is %s", a.Project, SettingProject, project)
	}

	return Config{Endpoint: env.Setting(SettingURL), Key: []byte(file), Now: env.Now, AnswerTimeout: env.Limit(answerTime)}, true, nil
}
