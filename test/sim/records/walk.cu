// Structs of several types: what cells hold are places in another array.
struct Walker {
  float at[2];
  int cell;
  unsigned char alive; // and seven bytes that are no field's
  double weight;
};

__global__ void step(Walker *walkers, const float *field, double *sums, int n,
                     int cells) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  Walker w = walkers[i];
  w.at[0] += field[w.cell];
  w.cell = (w.cell + 1) % cells;
  w.weight *= 0.5;
  sums[i] = w.alive ? w.weight : 0;
  walkers[i] = w;
}

void launch(Walker *walkers, const float *field, double *sums, int n,
            int cells) {
  step<<<(n + 127) / 128, 128>>>(walkers, field, sums, n, cells);
}
