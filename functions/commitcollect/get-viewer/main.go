// Command get-viewer returns what the app needs to know of who opens it, signed in or not.
package main

import (
	"matchday/pkg/commitcollect/profile"
	"matchday/pkg/kit/app"
)

func main() { app.API(profile.GetViewerFunction, profile.Open, (*profile.Service).GetViewer) }
