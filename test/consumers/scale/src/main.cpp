int scale_version();
int main() { return scale_version() == 1 ? 0 : 1; }
