#include <thrust/binary_search.h>
#include <thrust/copy.h>
#include <thrust/count.h>
#include <thrust/device_ptr.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/extrema.h>
#include <thrust/for_each.h>
#include <thrust/functional.h>
#include <thrust/gather.h>
#include <thrust/host_vector.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/constant_iterator.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/permutation_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/logical.h>
#include <thrust/reduce.h>
#include <thrust/remove.h>
#include <thrust/scan.h>
#include <thrust/scatter.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>
#include <thrust/unique.h>

struct Affine {
  float a, b;
  __host__ __device__ float operator()(float x) const { return a * x + b; }
};
struct Square {
  __host__ __device__ double operator()(float x) const { return double(x) * x; }
};
struct IsOdd {
  __host__ __device__ bool operator()(int v) const { return v & 1; }
};
struct SumOfPair {
  __host__ __device__ float operator()(const thrust::tuple<float, int> &t) const {
    return thrust::get<0>(t) + thrust::get<1>(t);
  }
};
struct Bump {
  template <class T> __host__ __device__ void operator()(T t) const {
    thrust::get<1>(t) += thrust::get<0>(t);
  }
};

__global__ void put(float *y, float a, float b, float c, float d) {
  y[0] = a, y[1] = b, y[2] = c, y[3] = d;
}
__global__ void in_device_code(const int *keys, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n / 8)
    return;
  int own[8];
  thrust::copy(thrust::seq, keys + 8 * i, keys + 8 * i + 8, own);
  thrust::sort(thrust::seq, own, own + 8, thrust::greater<int>());
  y[i] = thrust::reduce(thrust::seq, own, own + 4) + own[7];
}

// Rows of n floats.
void launch(const float *x, const int *keys, float *y, int n, cudaStream_t s) {
  auto on = thrust::cuda::par.on(s);
  thrust::transform(on, x, x + n, y, Affine{2, 1});
  y += n;
  thrust::transform(on, x, x + n, keys, y, thrust::plus<float>());
  y += n;
  thrust::inclusive_scan(on, x, x + n, y);
  y += n;
  thrust::exclusive_scan(on, keys, keys + n, y, 10);
  y += n;
  thrust::device_ptr<const int> first = thrust::device_pointer_cast(keys);
  thrust::device_vector<int> sorted(first, first + n);
  thrust::device_vector<float> values(n);
  thrust::sequence(values.begin(), values.end(), 1.0f, 0.5f);
  thrust::stable_sort_by_key(sorted.begin(), sorted.end(), values.begin());
  thrust::copy(values.begin(), values.end(), thrust::device_pointer_cast(y));
  y += n;
  thrust::copy_n(sorted.begin(), n, thrust::device_pointer_cast(y));
  y += n;
  thrust::fill(on, y, y + n, -1.0f);
  thrust::copy_if(on, keys, keys + n, y, IsOdd());
  y += n;
  thrust::fill_n(on, y, n, -2.0f);
  thrust::device_vector<int> once(sorted);
  auto end = thrust::unique(once.begin(), once.end());
  thrust::copy(once.begin(), end, thrust::device_pointer_cast(y));
  y += n;
  thrust::fill(on, y, y + n, 0.0f);
  thrust::device_vector<int> their(n);
  thrust::device_vector<int> counts(n);
  auto ends = thrust::reduce_by_key(sorted.begin(), sorted.end(), thrust::make_constant_iterator(1), their.begin(), counts.begin());
  thrust::copy(counts.begin(), ends.second, thrust::device_pointer_cast(y));
  y += n;
  thrust::gather(on, keys, keys + n, x, y);
  y += n;
  auto zipped = thrust::make_zip_iterator(thrust::make_tuple(thrust::device_pointer_cast(x), first));
  thrust::transform(zipped, zipped + n, thrust::device_pointer_cast(y), SumOfPair());
  thrust::for_each(on, thrust::make_zip_iterator(thrust::make_tuple(x, y)), thrust::make_zip_iterator(thrust::make_tuple(x + n, y + n)), Bump());
  y += n;
  in_device_code<<<(n / 8 + 63) / 64, 64, 0, s>>>(keys, y, n);
  thrust::fill(on, y + n / 8, y + n, 3.0f);
  y += n;
  thrust::fill(on, y, y + n, 0.0f);
  float sum = thrust::reduce(on, x, x + n, 0.0f, thrust::plus<float>());
  float most = *thrust::max_element(thrust::device_pointer_cast(x), thrust::device_pointer_cast(x) + n);
  int odd = thrust::count_if(on, keys, keys + n, IsOdd());
  double squares = thrust::transform_reduce(on, x, x + n, Square(), 0.0, thrust::plus<double>());
  put<<<1, 1, 0, s>>>(y, sum, most, odd, (float)squares);
  float dot = thrust::inner_product(on, x, x + n, keys, 0.0f);
  int least = (int)(thrust::min_element(on, keys, keys + n) - keys);
  auto at = thrust::lower_bound(sorted.begin(), sorted.end(), 5);
  bool any = thrust::any_of(on, keys, keys + n, IsOdd());
  put<<<1, 1, 0, s>>>(y + 4, dot, least, float(at - sorted.begin()), any);
  thrust::host_vector<int> host = sorted;
  thrust::sort(host.begin(), host.end(), thrust::greater<int>());
  put<<<1, 1, 0, s>>>(y + 8, host[0], sorted[n - 1], thrust::reduce(host.begin(), host.end()), thrust::distance(first, first + n));
}
