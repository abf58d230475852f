"""Why turns are ended from outside, in the words that people read."""

from __future__ import annotations

MISTAKE = "The server made a mistake; it is in its log."
NOT_KEPT_YET = "The server cannot write to its database at the moment. What you see is kept as soon as it can."
NOT_WRITTEN = "The server could not write to its database (is its disk full?), so this answer ends here."
# Why an answer is ended from outside → the reason and the words that are shown.
ENDS = {
    "stopped": ("stopped", "Stopped by you."),
    "kept_out": ("stopped", "Stopped, because its owner may not chat any more."),
    "interrupted": ("interrupted", "The server stopped while this answer was being written."),
    "lost": ("lost", ""),
}
