"""What people look at: pictures of fitted models."""
