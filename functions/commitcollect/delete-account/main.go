package main

import "matchday/pkg/commitcollect/userdata"

func main() { userdata.DeleteAccountFunction().Start() }
