package main

import "matchday/pkg/commitcollect/userdata"

func main() { userdata.GetExportFunction().Start() }
