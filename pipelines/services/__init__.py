"""What a run reaches over the network: endpoints and search engines, asked what they can do."""
