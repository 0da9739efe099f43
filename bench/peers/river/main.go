// A River process: it inserts jobs that do nothing and works them, as one of several on one Postgres.
//
// Each process has its share of the jobs in flight; a job is done when River says that it is completed, which is after
// its row says so.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"log"
	"os"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

type jobArgs struct {
	Number int `json:"number"`
}

func (jobArgs) Kind() string { return "job" }

type jobWorker struct {
	river.WorkerDefaults[jobArgs]
}

func (*jobWorker) Work(context.Context, *river.Job[jobArgs]) error { return nil }

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func mark(word string, jobs int64, seconds float64) {
	must(json.NewEncoder(os.Stdout).Encode(map[string]any{"mark": word, "jobs": jobs, "seconds": seconds}))
}

func main() {
	url := flag.String("url", "", "of Postgres")
	inFlight := flag.Int64("in-flight", 0, "jobs of this process")
	warmUp := flag.Float64("warm-up", 0, "seconds")
	seconds := flag.Float64("seconds", 0, "seconds")
	prepare := flag.Bool("prepare", false, "make the tables and leave")
	inserters := flag.Int("inserters", 16, "that insert at once")
	flag.Parse()

	ctx := context.Background()
	config, err := pgxpool.ParseConfig(*url)
	must(err)
	config.MaxConns = 30
	pool, err := pgxpool.NewWithConfig(ctx, config)
	must(err)
	defer pool.Close()
	driver := riverpgxv5.New(pool)
	if *prepare {
		migrator, err := rivermigrate.New(driver, nil)
		must(err)
		_, err = migrator.Migrate(ctx, rivermigrate.DirectionUp, nil)
		must(err)
		return
	}

	workers := river.NewWorkers()
	river.AddWorker(workers, &jobWorker{})
	client, err := river.NewClient(driver, &river.Config{
		Queues:  map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: int(*inFlight)}},
		Workers: workers,
	})
	must(err)
	events, unsubscribe := client.SubscribeConfig(&river.SubscribeConfig{
		ChanSize: 50_000,
		Kinds:    []river.EventKind{river.EventKindJobCompleted},
	})
	defer unsubscribe()
	must(client.Start(ctx))

	var done atomic.Int64
	room := make(chan struct{}, 1_000_000)
	for range *inFlight {
		room <- struct{}{}
	}
	go func() {
		for range events {
			done.Add(1)
			room <- struct{}{}
		}
	}()
	for range *inserters {
		go func() {
			for range room {
				if _, err := client.Insert(ctx, jobArgs{Number: 1}, nil); err != nil {
					log.Fatal(err)
				}
			}
		}()
	}

	time.Sleep(time.Duration(*warmUp * float64(time.Second)))
	before, began := done.Load(), time.Now()
	mark("begin", 0, 0)
	time.Sleep(time.Duration(*seconds * float64(time.Second)))
	mark("end", done.Load()-before, time.Since(began).Seconds())
	os.Exit(0) // what is still in flight is of no interest
}
