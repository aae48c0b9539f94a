"""Pages to read: tables and pictures in one HTML file."""
