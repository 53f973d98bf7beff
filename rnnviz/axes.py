"""The vocabulary of shapes: the axes of every array, by name.

time      steps of the sequence; row t-1 of a [time] array is step t
time+1    states: row 0 is the initial state, row t the state after step t
batch     sequences side by side
inputs    width of what is read at a step
hidden    units of the cell
blocks    one for each gate, in the order of pre_names, before time: [blocks, time, batch, hidden]
state     width of the whole state s: hidden for Elman and GRU, 2*hidden for the LSTM, (h, c), h first

Inner functions are annotated with these; a test run checks them at every call.
"""

from jaxtyping import Float
from torch import Tensor

Steps = Float[Tensor, "time batch hidden"]
Jacobians = Float[Tensor, "time state state"]
Rows = Float[Tensor, "*steps hidden"]
Left = Float[Tensor, "*steps rows"]
Right = Float[Tensor, "*steps columns"]
Matrices = Float[Tensor, "rows columns"]
