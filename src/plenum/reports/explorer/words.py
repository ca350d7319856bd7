"""What warnings and statuses mean, in a line each, for readers who meet them first."""

MEANINGS = {
    "flip_dominated": "decisions flip more than preferences drift: report decisions beside λ̂; "
    "believe no interval of λ̂",
    "saturated": "D(t) comes near its cap within the window, which bends λ̂ down",
    "quantised": "small D(t) are steps of rounded preferences: begin the window later",
    "few_apart": "most replicates stand together: λ̂ is about the few that don't",
    "few_rounds": "fewer than five rounds entered the fit",
    "few_replicates": "fewer than ten replicates",
    "zero_rounds": "rounds with D = 0 have no logarithm and were left out of the fit",
    "no_interval": "λ̂ has no interval here: one replicate may be all of it",
    "attrition": "replicates have failed: those left may differ from those that failed",
    "pending": "replicates haven't ended: the study was interrupted, or a limit stopped it",
    "environments": "replicates ran in several environments, and their bytes may differ",
    "no_canonical": "no replicate of the canonical wording completed",
    "repeated_wordings": "more replicates than wordings: D(t) mixes wordings with repeats",
    "identical": "all replicates are identical in the window: there is no λ̂",
    "short": "fewer than two rounds with D > 0 in the window: there is no λ̂",
    "single": "fewer than two completed replicates: there is no λ̂",
    "branching": "continuations of base states: see Γ̂ in the tables, there is no λ̂",
    "one_shot": "a vote without deliberation: there is nothing to fit",
    "no_estimates": "the study was interrupted before this condition was estimated",
    "no_replicates": "no replicate has completed",
}
"""The same as docs/estimates.md says at length."""
