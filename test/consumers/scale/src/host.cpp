int scale_version() { return 1; }
