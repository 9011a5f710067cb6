"""The JavaScript objects that Worker code meets: one object model behind `js`, `pyodide.ffi` and `workers`."""
