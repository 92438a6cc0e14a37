"""`stanchion deploy fastly`: the gate on Fastly Compute, through Fastly's public API.

Rooms: `inputs` checks what was given, `package` reads the package, `secrets` knows which secrets the gate asks for, `api` speaks
to Fastly, `account` looks at what is there, `plan` compares the two, `steps` carries the plan out, `command` is the command line.
"""
