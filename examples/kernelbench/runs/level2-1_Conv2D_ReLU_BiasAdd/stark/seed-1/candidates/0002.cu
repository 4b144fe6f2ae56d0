// Model of 1_Conv2D_ReLU_BiasAdd.py as calls of ATen's operators, in training mode: stark-tool
// import, torch 2.11.0+cu130.
#include <ATen/ATen.h>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>
#include <ATen/cuda/CUDAContext.h>
#include <cuda_runtime.h>

namespace {

constexpr int kGrid = 132;
constexpr int kThreads = 256;
constexpr int kTiles = 128 * 63;
constexpr int kWBytes = 36 * 8 * 32 * 16;          // 147456, weights in fragment order
constexpr int kXS = kWBytes;                       // ring of input rows
constexpr int kPitch = 130 * 128;                  // 16640 bytes a row
constexpr int kRingBytes = 256 + 5 * kPitch;       // 83456
constexpr int kBiasOff = kXS + kRingBytes;         // float cb[128], bs[128]
constexpr int kSmemBytes = kBiasOff + 1024;        // 231936
constexpr int kPlane = 128 * 128;                  // floats of one input channel
constexpr int kOutPlane = 126 * 126;               // floats of one output channel

__device__ __forceinline__ uint32_t pack_h2(float lo, float hi) {
  uint32_t d;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(d) : "f"(hi), "f"(lo));
  return d;
}

__device__ __forceinline__ float ld_x(const float *p) {
  float v;
  asm volatile("ld.global.nc.L1::no_allocate.f32 %0, [%1];" : "=f"(v) : "l"(p));
  return v;
}

__device__ __forceinline__ void lds128(uint32_t (&d)[4], uint32_t addr) {
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
               : "r"(addr)
               : "memory");
}

__device__ __forceinline__ void sts128(uint32_t addr, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};"
               :
               : "r"(addr), "r"(a), "r"(b), "r"(c), "r"(d)
               : "memory");
}

__device__ __forceinline__ void ldsm4(uint32_t (&d)[4], uint32_t addr) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
               : "r"(addr)
               : "memory");
}

__device__ __forceinline__ void mma16816(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// swizzle of the 16-byte chunks within a pixel; period 16 in px
__device__ __forceinline__ int swz(int px) {
  return ((((px >> 2) & 3) << 1) | (px & 1)) ^ (((px >> 1) & 1) << 2);
}

__device__ __forceinline__ int wrap5(int s) { return s >= 5 ? s - 5 : s; }

// Weights [128][64][3][3] -> fp16 fragments [tap*4+cs][mtile][lane]
__global__ void __launch_bounds__(128) weights_kernel(const float *__restrict__ w, uint4 *__restrict__ wf) {
  const int idx = blockIdx.x * 128 + threadIdx.x; // 9216 in all
  const int lane = idx & 31;
  const int mtile = (idx >> 5) & 7;
  const int kstep = idx >> 8;
  const int tap = kstep >> 2, cs = kstep & 3;
  const int g = lane >> 2, q = lane & 3;
  const float *w0 = w + ((mtile * 16 + g) * 64 + cs * 16 + 2 * q) * 9 + tap;
  const float *w1 = w0 + 8 * 64 * 9;
  uint4 f;
  f.x = pack_h2(w0[0], w0[9]);
  f.y = pack_h2(w1[0], w1[9]);
  f.z = pack_h2(w0[8 * 9], w0[9 * 9]);
  f.w = pack_h2(w1[8 * 9], w1[9 * 9]);
  wf[idx] = f;
}

__global__ void __launch_bounds__(kThreads, 1)
conv_kernel(const float *__restrict__ x, const uint4 *__restrict__ wf, const float *__restrict__ conv_bias,
            const float *__restrict__ bias, float *__restrict__ out) {
  extern __shared__ __align__(1024) unsigned char smem[];
  const uint32_t sbase = (uint32_t)__cvta_generic_to_shared(smem);
  float *cb = reinterpret_cast<float *>(smem + kBiasOff);
  float *bs = cb + 128;

  const int tid = threadIdx.x;
  const int lane = tid & 31;
  const int warp = tid >> 5;
  const int wm = warp & 1;
  const int wn = warp >> 1;
  const int orow = wn >> 1;
  const int g = lane >> 2, q = lane & 3;

  // all weights into shared memory
#pragma unroll 4
  for (int i = 0; i < 36; ++i) {
    const int j = i * kThreads + tid;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                 :
                 : "r"(sbase + (uint32_t)j * 16u), "l"(wf + j)
                 : "memory");
  }
  // the gaps between the rows of the ring
  if (tid < 96)
    sts128(sbase + kXS + (tid >> 4) * kPitch + (tid & 15) * 16, 0u, 0u, 0u, 0u);
  if (tid < 128) {
    cb[tid] = conv_bias[tid];
    bs[tid] = bias[tid];
  }

  // fragment addresses
  const uint32_t abase = sbase + (uint32_t)(wm * 4 * 512 + lane * 16);
  const int colbase = (wn & 1) * 64 - 2 * orow;
  uint32_t boff[3];
  {
    const int lpix = 4 * ((lane & 7) >> 1) + (lane & 1) + 2 * (lane >> 4);
    const int half = (lane >> 3) & 1;
#pragma unroll
    for (int kw = 0; kw < 3; ++kw) {
      const int px = colbase + lpix + kw;
      boff[kw] = sbase + (uint32_t)(kXS + 256 + px * 128 + ((half ^ swz(px)) << 4));
    }
  }

  // staging: this thread's pixel and its half of each pair of channel chunks
  const int spx = tid & 127;
  const int sh = tid >> 7;
  const uint32_t stoff = sbase + (uint32_t)(kXS + 256 + spx * 128 + ((sh ^ swz(spx)) << 4));
  const float *xthread = x + (size_t)sh * 8 * kPlane + spx;

  const int begin = (int)blockIdx.x * kTiles / kGrid;
  const int end = ((int)blockIdx.x + 1) * kTiles / kGrid;

  uint32_t fa[2][4][4];
  uint32_t fb[2][4][4];
  float acc[4][8][4];

#pragma unroll 1
  for (int tile = begin; tile < end; ++tile) {
    const int img = tile / 63;
    const int r = 2 * (tile - img * 63);
    const int s0 = r % 5;
    const float *ximg = xthread + (size_t)img * 64 * kPlane;

    if (tile == begin || r == 0) {
      // the previous tile's last barrier has freed the whole ring
#pragma unroll 1
      for (int j = 0; j < 4; ++j) {
        const float *p = ximg + (r + j) * 128;
        const uint32_t st = stoff + (uint32_t)(wrap5(s0 + j) * kPitch);
        float v[4][8];
#pragma unroll
        for (int e = 0; e < 4; ++e) {
#pragma unroll
          for (int k = 0; k < 8; ++k)
            v[e][k] = ld_x(p + (e * 16 + k) * kPlane);
        }
#pragma unroll
        for (int e = 0; e < 4; ++e)
          sts128(st ^ (uint32_t)(e << 5), pack_h2(v[e][0], v[e][1]), pack_h2(v[e][2], v[e][3]),
                 pack_h2(v[e][4], v[e][5]), pack_h2(v[e][6], v[e][7]));
      }
      asm volatile("cp.async.wait_all;" ::: "memory");
      __syncthreads();
      // fragments of k-step 0 (otherwise the previous tile has prefetched them)
      const uint32_t b0 = boff[0] + (uint32_t)(wrap5(s0 + orow) * kPitch);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        lds128(fa[0][i], abase + i * 512);
        ldsm4(fb[0][i], b0 + i * 2048);
      }
    }

#pragma unroll
    for (int mi = 0; mi < 4; ++mi) {
      const float c0 = cb[wm * 64 + mi * 16 + g];
      const float c1 = cb[wm * 64 + mi * 16 + g + 8];
#pragma unroll
      for (int ni = 0; ni < 8; ++ni) {
        acc[mi][ni][0] = c0;
        acc[mi][ni][1] = c0;
        acc[mi][ni][2] = c1;
        acc[mi][ni][3] = c1;
      }
    }

#pragma unroll 1
    for (int kh = 0; kh < 3; ++kh) {
      const uint32_t slot_cur = (uint32_t)(wrap5(s0 + orow + kh) * kPitch);
      // after kh = 2 comes the next tile's kh = 0, which is this tile's row of kh = 2
      const uint32_t slot_next = (uint32_t)(wrap5(s0 + orow + (kh == 0 ? 1 : 2)) * kPitch);
      const uint32_t a_cur = abase + (uint32_t)kh * 49152u;
      const uint32_t a_next = kh == 2 ? abase : a_cur + 49152u;

#pragma unroll
      for (int kw = 0; kw < 3; ++kw) {
        const int t = kh * 3 + kw;
        const int e = t & 3;
        const bool staging = kw < 2 || kh < 2; // t < 8
        float v[8];
        if (staging) {
          int row = r + 4 + (t >> 2);
          row = row > 127 ? 127 : row; // past the image: loaded for nothing, never read
          const float *p = ximg + (row * 128 + e * 16 * kPlane);
#pragma unroll
          for (int k = 0; k < 8; ++k)
            v[k] = ld_x(p + k * kPlane);
        }

#pragma unroll
        for (int ks = 0; ks < 4; ++ks) {
          const int step = kw * 4 + ks;
          const int cur = step & 1;
          const int nxt = cur ^ 1;
          uint32_t an, bn;
          if (step < 11) {
            an = a_cur + (uint32_t)((step + 1) * 4096);
            bn = (boff[((step + 1) >> 2) % 3] + slot_cur) ^ (uint32_t)(((step + 1) & 3) << 5);
          } else {
            an = a_next;
            bn = boff[0] + slot_next;
          }
#pragma unroll
          for (int mi = 0; mi < 4; ++mi) {
            lds128(fa[nxt][mi], an + mi * 512);
            ldsm4(fb[nxt][mi], bn + mi * 2048);
#pragma unroll
            for (int ni = 0; ni < 8; ++ni)
              mma16816(acc[mi][ni], fa[cur][mi], fb[cur][ni >> 1][(ni & 1) * 2],
                       fb[cur][ni >> 1][(ni & 1) * 2 + 1]);
          }
        }

        if (staging) {
          // row r+4 into the slot of row r-1, row r+5 into the slot of row r
          const int slot = t >= 4 ? s0 : (s0 == 0 ? 4 : s0 - 1);
          sts128((stoff + (uint32_t)(slot * kPitch)) ^ (uint32_t)(e << 5), pack_h2(v[0], v[1]),
                 pack_h2(v[2], v[3]), pack_h2(v[4], v[5]), pack_h2(v[6], v[7]));
        }
      }
      if (kh == 0)
        __syncthreads(); // row r is free from here on
    }
    __syncthreads(); // rows r+4 and r+5 are there, rows r and r+1 free

    float *obase = out + (((long long)(img * 128 + wm * 64 + g) * 126 + r + orow) * 126 + colbase + 4 * q);
    const int c0 = colbase + 4 * q;
#pragma unroll
    for (int mi = 0; mi < 4; ++mi) {
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const float b = bs[wm * 64 + mi * 16 + g + 8 * h];
        float *orow_ptr = obase + (mi * 16 + 8 * h) * kOutPlane;
#pragma unroll
        for (int p = 0; p < 4; ++p) {
          float4 v;
          v.x = acc[mi][2 * p][2 * h];
          v.y = acc[mi][2 * p][2 * h + 1];
          v.z = acc[mi][2 * p + 1][2 * h];
          v.w = acc[mi][2 * p + 1][2 * h + 1];
          v.x = (v.x < 0.f ? 0.f : v.x) + b;
          v.y = (v.y < 0.f ? 0.f : v.y) + b;
          v.z = (v.z < 0.f ? 0.f : v.z) + b;
          v.w = (v.w < 0.f ? 0.f : v.w) + b;
          float *o = orow_ptr + 16 * p;
          if (p == 3 && c0 + 48 == 124)
            *reinterpret_cast<float2 *>(o) = make_float2(v.x, v.y);
          else if (p == 0 && c0 == -2)
            *reinterpret_cast<float2 *>(o + 2) = make_float2(v.z, v.w);
          else
            *reinterpret_cast<float4 *>(o) = v;
        }
      }
    }
  }
}

} // namespace

at::Tensor Conv2D_ReLU_BiasAdd(
    const at::Tensor &x /* [128, 64, 128, 128] */,
    const at::Tensor &bias /* [128, 1, 1] */,
    const at::Tensor &conv_weight /* [128, 64, 3, 3] */,
    const at::Tensor &conv_bias /* [128] */) {
  cudaStream_t stream = at::cuda::getCurrentCUDAStream();
  at::Tensor wf = at::empty({73728}, x.options().dtype(at::kHalf)); // fp16 weights in fragment order
  at::Tensor out = at::empty({128, 128, 126, 126}, x.options());
  uint4 *wf_ptr = static_cast<uint4 *>(wf.data_ptr());
  weights_kernel<<<72, 128, 0, stream>>>(conv_weight.const_data_ptr<float>(), wf_ptr);
  cudaFuncSetAttribute(conv_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSmemBytes);
  conv_kernel<<<kGrid, kThreads, kSmemBytes, stream>>>(
      x.const_data_ptr<float>(), wf_ptr, conv_bias.const_data_ptr<float>(), bias.const_data_ptr<float>(),
      out.data_ptr<float>());
  return out;
}
