"""Plans of campaigns in which people and models are asked once about a task."""
