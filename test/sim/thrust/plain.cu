// What algorithms.cu does, by one thread.
__global__ void all(const float *x, const int *keys, float *y, int n) {
  float sum = 0, most = x[0], dot = 0;
  double running = 0, squares = 0;
  int total = 10, odd = 0, least = 0, below = 0;
  for (int i = 0; i < n; ++i) {
    y[i] = 2 * x[i] + 1;
    y[n + i] = x[i] + keys[i];
    running += x[i];
    y[2 * n + i] = running;
    y[3 * n + i] = total;
    total += keys[i];
    y[9 * n + i] = x[keys[i]];
    y[10 * n + i] = 2 * x[i] + keys[i];
    most = x[i] > most ? x[i] : most;
    squares += double(x[i]) * x[i];
    dot += x[i] * keys[i];
    least = keys[i] < keys[least] ? i : least;
    below += keys[i] < 5;
    for (int r = 6; r < 9; ++r)
      y[r * n + i] = r == 6 ? -1 : r == 7 ? -2 : 0;
  }
  for (int i = 0; i < n; ++i)
    if (keys[i] & 1)
      y[6 * n + odd++] = keys[i];
  int place = 0, kinds = 0;
  for (int k = 0; k < 300; ++k) {
    int count = 0;
    for (int i = 0; i < n; ++i)
      if (keys[i] == k) {
        y[4 * n + place] = 1 + 0.5f * i;
        y[5 * n + place++] = k;
        ++count;
      }
    if (count) {
      y[7 * n + kinds] = k;
      y[8 * n + kinds++] = count;
    }
  }
  for (int i = 0; i < n; ++i) {
    y[11 * n + i] = 3;
    y[12 * n + i] = 0;
  }
  for (int i = 0; i < n / 8; ++i) {
    int own[8];
    for (int j = 0; j < 8; ++j) {
      int at = j;
      for (; at > 0 && own[at - 1] < keys[8 * i + j]; --at)
        own[at] = own[at - 1];
      own[at] = keys[8 * i + j];
    }
    y[11 * n + i] = own[0] + own[1] + own[2] + own[3] + own[7];
  }
  sum = running;
  const float last[] = {sum, most, float(odd), float(squares), dot, float(least), float(below), float(odd > 0), y[6 * n - 1], y[6 * n - 1], float(total - 10), float(n)};
  for (int i = 0; i < 12; ++i)
    y[12 * n + i] = last[i];
}
void launch(const float *x, const int *keys, float *y, int n, cudaStream_t s) {
  all<<<1, 1, 0, s>>>(x, keys, y, n);
}
