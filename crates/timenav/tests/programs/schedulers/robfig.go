// github.com/robfig/cron.
package main

import (
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/robfig/cron"
)

var lock sync.Mutex

func record(word string) {
	lock.Lock()
	defer lock.Unlock()
	file, _ := os.OpenFile("jobs", os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o644)
	defer file.Close()
	fmt.Fprintf(file, "%s %.3f\n", word, float64(time.Now().UnixMilli())/1000)
}

func main() {
	scheduler := cron.New(cron.WithLocation(time.UTC))
	for letter, expression := range map[string]string{
		"a": "0-8/4 8 6 5 *",
		"p": "20 8 6 5 *",
		"b": "30 1-17/4 6 5 *",
		"c": "0 12 7 5 *",
		"d": "30 23 7 5 *",
	} {
		letter := letter
		scheduler.AddFunc(expression, func() { record(letter) })
	}
	scheduler.Start()
	record("ready")
	time.Sleep(1000 * time.Hour)
}
