"""What may be believed of labels and of those who gave them, by tasks that were audited."""
