// The patterns of the threading core on goroutines. Which of them it is, the program's name says: PATTERN-go. The command
// line, the sampling and the JSON lines are those of bench/common.h and bench/native.h.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	maxSamples  = 400
	sampleFloor = 200 * time.Microsecond
	yields      = 10000
	locks       = 2000
	turns       = 2000
	meetings    = 100
)

type options struct {
	time, warm time.Duration
	min        int
}

// A job is what is measured: `run` does `operations` of what a sample is divided by; `check` says whether it did them
// right.
type job struct {
	run        func()
	operations float64
	check      func() bool
}

func fail(format string, arguments ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", arguments...)
	os.Exit(2)
}

// A key that nobody asks for is a mistake: it would be measured without.
var askedFor = map[string]bool{}

func word(config, key, otherwise string) string {
	askedFor[key] = true
	for _, part := range strings.Split(config, ",") {
		if name, value, found := strings.Cut(part, "="); found && name == key {
			return value
		}
	}
	return otherwise
}

func number(config, key string, otherwise int) int {
	value := word(config, key, "")
	if value == "" {
		return otherwise
	}
	n, err := strconv.Atoi(value)
	if err != nil {
		fail("bad value in '%s': %s", config, key)
	}
	return n
}

func checkForm(config string) {
	for _, part := range strings.Split(config, ",") {
		if name, _, found := strings.Cut(part, "="); !found || name == "" {
			fail("'%s': expected key=value,key=value", config)
		}
	}
}

// To be called once all keys have been asked for.
func checkKeys(config string) {
	for _, part := range strings.Split(config, ",") {
		if name, _, _ := strings.Cut(part, "="); !askedFor[name] {
			fail("'%s': there is no '%s' here", config, name)
		}
	}
}

func forkJoin(config string) job {
	n, yielding := number(config, "n", 4096), number(config, "d", 0)*number(config, "n", 4096)/100
	flags := make([]bool, n)
	random := uint64(88172645463325252)
	for i := range flags {
		flags[i] = i < yielding
	}
	for i := n; i > 1; i-- {
		random = random*6364136223846793005 + 1442695040888963407
		j := int(random>>33) % i
		flags[i-1], flags[j] = flags[j], flags[i-1]
	}
	var group sync.WaitGroup
	kernel := func(yield bool) {
		if yield {
			runtime.Gosched()
		}
		group.Done()
	}
	run := func() {
		group.Add(n)
		for i := 0; i < n; i++ {
			go kernel(flags[i])
		}
		group.Wait()
	}
	return job{run, float64(n), func() bool { return true }}
}

func fib(n int) int {
	if n < 2 {
		return n
	}
	left := make(chan int, 1)
	go func() { left <- fib(n - 1) }()
	right := fib(n - 2)
	return <-left + right
}

func fibOf(n int) int {
	a, b := 0, 1
	for i := 0; i < n; i++ {
		a, b = b, a+b
	}
	return a
}

func fibJob(config string) job {
	n := number(config, "n", 32)
	value := 0
	return job{func() { value = fib(n) }, float64(fibOf(n+1) - 1), func() bool { return value == fibOf(n) }}
}

type board struct {
	n, row    int
	column    [14]int8
	solutions int
	units     int
}

func (b *board) fits(column int) bool {
	for row := 0; row < b.row; row++ {
		apart, aside := b.row-row, column-int(b.column[row])
		if aside == 0 || aside == apart || aside == -apart {
			return false
		}
	}
	return true
}

func (b *board) place() {
	if b.row == b.n {
		b.solutions = 1
		return
	}
	var next [14]board
	var group sync.WaitGroup
	count := 0
	for column := 0; column < b.n; column++ {
		if !b.fits(column) {
			continue
		}
		child := &next[count]
		count++
		*child = *b
		child.column[b.row] = int8(column)
		child.row++
		group.Add(1)
		go func() { child.place(); group.Done() }()
	}
	group.Wait()
	for i := 0; i < count; i++ {
		b.solutions += next[i].solutions
		b.units += next[i].units + 1
	}
}

func queens(config string) job {
	solutions := []int{1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200, 73712, 365596}
	n := number(config, "n", 10)
	root := board{n: n}
	run := func() {
		root = board{n: n}
		root.place()
	}
	run()
	return job{run, float64(root.units), func() bool { return root.solutions == solutions[n] }}
}

func together(units int, entry func(number int)) {
	var group sync.WaitGroup
	group.Add(units)
	for i := 0; i < units; i++ {
		go func(number int) { entry(number); group.Done() }(i)
	}
	group.Wait()
}

func yield(config string) job {
	run := func() {
		together(2, func(int) {
			for i := 0; i < yields; i++ {
				runtime.Gosched()
			}
		})
	}
	return job{run, 2 * yields, func() bool { return true }}
}

// A barrier of channels' kin: the library has none.
type barrier struct {
	mutex            sync.Mutex
	all              *sync.Cond
	members, waiting int
	round            int
}

func (b *barrier) wait() {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.waiting++
	if b.waiting == b.members {
		b.waiting = 0
		b.round++
		b.all.Broadcast()
		return
	}
	for round := b.round; round == b.round; {
		b.all.Wait()
	}
}

func synchronise(config string) job {
	var mutex sync.Mutex
	entered := 0
	always := func() bool { return true }
	switch word(config, "kind", "mutex") {
	case "mutex":
		units := number(config, "units", 1)
		run := func() {
			together(units, func(int) {
				for i := 0; i < locks; i++ {
					mutex.Lock()
					entered++
					mutex.Unlock()
				}
			})
		}
		return job{run, float64(units * locks), func() bool { return entered%(units*locks) == 0 }}
	case "condition":
		conditions := [2]*sync.Cond{sync.NewCond(&mutex), sync.NewCond(&mutex)}
		run := func() {
			turn := 0
			together(2, func(mine int) {
				mutex.Lock()
				for i := 0; i < turns; i++ {
					for turn != mine {
						conditions[mine].Wait()
					}
					turn = 1 - mine
					conditions[1-mine].Signal()
				}
				mutex.Unlock()
			})
		}
		return job{run, 2 * turns, always}
	}
	units := number(config, "units", 64)
	meeting := &barrier{members: units}
	meeting.all = sync.NewCond(&meeting.mutex)
	run := func() {
		together(units, func(int) {
			for i := 0; i < meetings; i++ {
				meeting.wait()
			}
		})
	}
	return job{run, meetings, always}
}

func residentBytes() float64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		fail("%v", err)
	}
	pages, _ := strconv.ParseFloat(strings.Fields(string(text))[1], 64)
	return pages * float64(os.Getpagesize())
}

// Bytes per goroutine that waits for a channel, or that has not started.
func memory(config string) float64 {
	n := number(config, "n", 100000)
	var started atomic.Int64
	var group sync.WaitGroup
	gate := make(chan struct{})
	waits := word(config, "kind", "suspended") == "suspended"
	checkKeys(config)
	group.Add(n)
	before := residentBytes()
	for i := 0; i < n; i++ {
		go func() {
			started.Add(1)
			if waits {
				<-gate
			}
			group.Done()
		}()
	}
	for waits && started.Load() < int64(n) {
		runtime.Gosched()
	}
	after := residentBytes()
	close(gate)
	group.Wait()
	return (after - before) / float64(n)
}

func measure(o options, run func()) ([]float64, int) {
	shortest := time.Duration(1 << 62)
	for start := time.Now(); ; {
		before := time.Now()
		run()
		if taken := time.Since(before); taken < shortest {
			shortest = taken
		}
		if time.Since(start) >= o.warm {
			break
		}
	}
	batch := int(sampleFloor / (shortest + 1))
	if batch < 1 {
		batch = 1
	}
	samples := []float64{}
	for start := time.Now(); ; {
		before := time.Now()
		for i := 0; i < batch; i++ {
			run()
		}
		samples = append(samples, float64(time.Since(before).Nanoseconds())/float64(batch)/1e3)
		spent := time.Since(start)
		if len(samples) == maxSamples || spent >= 4*o.time || (spent >= o.time && len(samples) >= o.min) {
			return samples, batch
		}
	}
}

func report(name, config, unit string, operations float64, samples []float64, batch int, ok bool) {
	texts := make([]string, len(samples))
	for i, sample := range samples {
		texts[i] = fmt.Sprintf("%.4f", sample)
	}
	path, _ := os.Executable()
	fmt.Printf("{\"name\": \"%s\", \"config\": \"%s\", \"params\": {\"library\": \"go\", \"operations\": %.0f}, "+
		"\"unit\": \"%s\", \"batch\": %d, \"samples\": [%s], \"checks\": {\"ok\": %t}, \"runtime\": \"%s\"}\n",
		name, config, operations, unit, batch, strings.Join(texts, ", "), ok, path)
}

func runConfig(name, config string, o options) {
	runtime.GOMAXPROCS(number(config, "workers", 1))
	jobs := map[string]func(string) job{
		"techniques": forkJoin, "producer": forkJoin, "fib": fibJob, "queens": queens, "yield": yield,
		"sync_latency": synchronise,
	}
	if name == "unit_memory" {
		debug.SetGCPercent(-1)
		report(name, config, "bytes", 1, []float64{memory(config)}, 1, true)
		return
	}
	prepare, known := jobs[name]
	if !known {
		fail("go: no pattern '%s'", name)
	}
	j := prepare(config)
	checkKeys(config)
	samples, batch := measure(o, j.run)
	report(name, config, "us", j.operations, samples, batch, j.check())
}

func main() {
	o := options{200 * time.Millisecond, 50 * time.Millisecond, 3}
	configs := []string{}
	for i := 1; i < len(os.Args); i++ {
		value := func() float64 {
			i++
			if i == len(os.Args) {
				fail("a value is missing")
			}
			number, err := strconv.ParseFloat(os.Args[i], 64)
			if err != nil {
				fail("%v", err)
			}
			return number
		}
		switch os.Args[i] {
		case "--time":
			o.time = time.Duration(value() * 1e6)
		case "--warm":
			o.warm = time.Duration(value() * 1e6)
		case "--min":
			o.min = int(value())
		default:
			checkForm(os.Args[i])
			configs = append(configs, os.Args[i])
		}
	}
	name, _, _ := strings.Cut(filepath.Base(os.Args[0]), "-")
	if len(configs) == 1 {
		runConfig(name, configs[0], o)
		return
	}
	for _, config := range configs { // each in a process of its own
		command := exec.Command(os.Args[0], "--time", fmt.Sprint(o.time.Seconds()*1e3), "--warm",
			fmt.Sprint(o.warm.Seconds()*1e3), "--min", fmt.Sprint(o.min), config)
		command.Stdout, command.Stderr = os.Stdout, os.Stderr
		err := command.Run()
		var ended *exec.ExitError
		if errors.As(err, &ended) && ended.Exited() {
			os.Exit(ended.ExitCode()) // it has said why
		}
		if err != nil {
			fail("%v", err)
		}
	}
}
