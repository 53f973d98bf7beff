"""rnnviz: why recurrent networks remember and forget.

The house, in the order in which a number travels through it:

    config      what is asked for: CellConfig, InputConfig, TrainConfig
    cells       Elman, LSTM, GRU: one step, its derivative, its parameters
    inputs      the sequences that are fed in
    trace       unroll(): what happened, step by step, detached
    bptt        backward(): the explicit algorithm, with truncation
    clipping    clip(): global, each, value
    tasks       the adding problem, spelling a word
    analysis    trace -> result (torch in, numpy out)
    results     the frozen results of analysis, numpy only
    training    train(): a generator of records
    runs        what a run is (store) and who runs it (worker)
    figures     result -> figure, pure
    scenes      every scene as data, with its check
    ui          the only room with streamlit in it

This package imports nothing by itself.
"""
