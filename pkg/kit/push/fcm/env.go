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

// OpenEnv returns the Sender of a function, nil if the stage has no Android phones. It dials nothing, and
// reads the key when it first sends, and again after an error: a key that is missing or not valid is the
// error of what is sent to Android phones (ErrKey), and stops nothing that is sent to iPhones.
func OpenEnv(env app.Env) *Sender {
	project := env.Setting(SettingProject)
	if project == "" {
		return nil
	}

	c := Config{Endpoint: env.Setting(SettingURL), Now: env.Now, AnswerTimeout: env.Limit(answerTime)}

	return open(c, project, func(ctx context.Context) (account, error) {
		file, err := env.Secret(ctx, Key)
		if err != nil {
			return account{}, fmt.Errorf("%w: %w", ErrKey, err)
		}

		a, err := readAccount([]byte(file))
		if err == nil && a.Project != project {
			err = fmt.Errorf("%w: it is of the project %s, and %s is %s", ErrKey, a.Project, SettingProject, project)
		}

		return a, err
	})
}
