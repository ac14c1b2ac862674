package main

import (
	"context"
	"fmt"
	"time"
)

func main() {
	start := time.Now()
	<-time.After(2 * time.Hour)
	if time.Since(start) >= 2*time.Hour {
		fmt.Println("after")
	}
	ticker := time.NewTicker(time.Hour)
	for i := 0; i < 3; i++ {
		<-ticker.C
	}
	fmt.Println("ticks")
	deadline, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	<-deadline.Done()
	fmt.Println("context")
}
