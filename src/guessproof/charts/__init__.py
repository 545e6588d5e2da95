"""Pictures, as Altair charts that serve notebooks, reports and pages alike."""
