"""What host and isolate say to each other: frames, messages, and the text form of values. Used by both sides."""
