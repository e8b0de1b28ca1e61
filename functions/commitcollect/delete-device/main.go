package main

import "matchday/pkg/commitcollect/notice"

func main() { notice.DeleteDeviceFunction().Start() }
