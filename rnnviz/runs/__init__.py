"""Runs: a training that belongs to the server, not to a browser tab.

    tables      the tables of the database, connections, what a database error means in words
    packing     what of a run is bytes or text, and which training steps are kept for scrubbing
    run         what a run is: frozen results, bounds, refusals in words
    contents    what belongs to a run, into the tables and out of them
    store       RunStore: pages, workers and the supervisor meet here and nowhere else
    worker      the process of one run; the only file that loads torch
    supervisor  the thread of the server that starts and ends these processes

A page writes what it wants into the store; the supervisor finds it there.
"""
