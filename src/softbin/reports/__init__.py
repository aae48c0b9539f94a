"""What people look at: pictures of fitted models, and pages with tables and pictures in one HTML file."""
