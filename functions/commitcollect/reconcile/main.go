// Command reconcile has the latest activities of every connected user fetched.
package main

import (
	"matchday/pkg/commitcollect/workout"
	"matchday/pkg/kit/app"
)

func main() {
	app.Job(workout.ReconcileFunction, workout.OpenReconciler, (*workout.Reconciler).Reconcile)
}
