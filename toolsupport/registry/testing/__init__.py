"""Tests of models as rows: detections, reports, drift, probe targets."""
