module httpgen

go 1.26.8

require (
	github.com/HdrHistogram/hdrhistogram-go v1.4.0
	github.com/alecthomas/kong v1.17.0
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3
	go.uber.org/ratelimit v0.3.1
	golang.org/x/sys v0.50.0
)

require (
	github.com/benbjohnson/clock v1.3.0 // indirect
	golang.org/x/text v0.14.0 // indirect
)
