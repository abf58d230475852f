"""Tests of models as rows: detections, reports, drift, leases, probe targets."""
