"""Agents' own logs as trajectories: what each tool gave, and what of it the model was shown.

`matching` finds the call of each result by the rules of the history; one module an agent says where
its log keeps what was shown and what there was; `joining` makes one run of the logs of a session,
`document` its trajectory, `limitations` the sentences about what a log cannot say.
"""
