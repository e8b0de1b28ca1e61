package main

import "matchday/pkg/bestshot/notice"

func main() { notice.DeleteDeviceFunction().Start() }
