"""Model profiles: picker, matrix, custom models, surveys, request contexts."""
