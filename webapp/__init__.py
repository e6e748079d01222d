"""The service and its page: the core's functions and the views over HTTP, without Beam."""
