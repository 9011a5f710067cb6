"""The host of celld-py: engine, stores, isolates, HTTP and the command line."""
