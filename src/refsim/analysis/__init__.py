"""What scores are good for: choosing among candidates. Sees results and metrics, never a file or a model."""
