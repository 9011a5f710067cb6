"""workerd as an isolate: the process, and what is said to the bridge worker in it."""
