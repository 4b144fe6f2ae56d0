// Every form of inline PTX that is known, each beside the same in C++: the difference of the two is written, so that an
// output of zeros says that all agree.
#include "ptx.cuh"
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__device__ __forceinline__ unsigned bits(float x) { return __float_as_uint(x); }

template <int N> __device__ unsigned rotated(unsigned x) {
  unsigned r;
  asm("shf.l.wrap.b32 %0, %1, %1, %2;" : "=r"(r) : "r"(x), "n"(N));
  return r;
}

__global__ void forms_kernel(const float *__restrict__ x, const int *__restrict__ k, float *__restrict__ y,
                             int *__restrict__ wrong, int n) {
  __shared__ float tile[128];
  int i = blockIdx.x * blockDim.x + threadIdx.x, bad = 0;
  unsigned tid, ctaid, lane, warp, below;
  asm volatile("mov.u32 %0, %%tid.x;" : "=r"(tid));
  asm volatile("mov.u32 %0, %%ctaid.x;\n\tmov.u32 %1, %%laneid;" : "=r"(ctaid), "=r"(lane));
  asm("mov.u32 %0, %%warpid;" : "=r"(warp));
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(below));
  bad += tid != threadIdx.x || ctaid != blockIdx.x || lane != threadIdx.x % 32 || warp != threadIdx.x / 32;
  bad += below != (1u << lane) - 1;
  long long before, after;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(before)::"memory");
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(after)::"memory");
  bad += after <= before;

  // Shared memory by its 32-bit address.
  float a = i < n ? load_once(x + i) : 1.0f;
  unsigned at = shared_address(&tile[threadIdx.x]);
  asm volatile("st.shared.f32 [%0], %1;" ::"r"(at), "f"(a) : "memory");
  asm volatile("bar.sync 0;" ::: "memory");
  float other;
  asm volatile("ld.shared.f32 %0, [%1+-4];" : "=f"(other) : "r"(shared_address(&tile[127 - threadIdx.x]) + 4));
  bad += bits(other) != bits(tile[127 - threadIdx.x]);
  asm volatile("barrier.sync 0;");

  // Arithmetic.
  float f, g = a * 0.5f + 2.0f;
  asm("fma.rn.f32 %0, %1, %2, %3;" : "=f"(f) : "f"(a), "f"(g), "f"(0.25f));
  bad += bits(f) != bits(fmaf(a, g, 0.25f));
  asm("{\n\t.reg .f32 t;\n\tmul.rn.f32 t, %1, %2;\n\tadd.f32 %0, t, 0f3F800000;\n}" : "=f"(f) : "f"(a), "f"(g));
  bad += bits(f) != bits(__fadd_rn(__fmul_rn(a, g), 1.0f));
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(f) : "f"(a));
  bad += fabsf(f - exp2f(a)) > 1e-5f * exp2f(a);
  asm("rcp.approx.f32 %0, %1;" : "=f"(f) : "f"(g));
  bad += fabsf(f * g - 1.0f) > 1e-5f;
  asm("rsqrt.approx.f32 %0, %1;" : "=f"(f) : "f"(1.0f + a * a));
  bad += fabsf(f * f * (1.0f + a * a) - 1.0f) > 1e-4f;
  asm("tanh.approx.f32 %0, %1;" : "=f"(f) : "f"(a));
  bad += fabsf(f - tanhf(a)) > 1e-3f;
  asm("max.f32 %0, %1, %2;" : "=f"(f) : "f"(a), "f"(0.0f));
  bad += f != fmaxf(a, 0.0f);
  double d;
  asm("fma.rn.f64 %0, %1, %1, %1;" : "=d"(d) : "d"((double)a));
  bad += d != fma((double)a, (double)a, (double)a);

  // Integers, bits and bytes.
  int v = i < n ? k[i] : 7;
  unsigned u = (unsigned)v * 2654435761u, r;
  asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(r) : "r"(u), "r"(v), "r"(tid));
  bad += r != (u ^ v ^ tid);
  asm("lop3.b32 %0, %1, %2, %3, 0xca;" : "=r"(r) : "r"(u), "r"(v), "r"(tid));
  bad += r != ((u & v) | (~u & tid));
  asm("prmt.b32 %0, %1, %2, 0x3715;" : "=r"(r) : "r"(u), "r"(v));
  bad += r != __byte_perm(u, v, 0x3715);
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(u), "r"(v), "r"(0xb3a9));
  bad += r != ((u >> 8 & 0x80 ? 0xffu : 0u) | (u >> 16 & 0x80 ? 0xff00u : 0u) | (u >> 24 << 16) |
               (u >> 24 & 0x80 ? 0xff000000u : 0u));
  asm("bfe.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(u), "r"(5), "r"(9));
  bad += r != (u >> 5 & 0x1ff);
  int s;
  asm("bfe.s32 %0, %1, 20, 40;" : "=r"(s) : "r"(v * 65537));
  bad += s != (v * 65537) >> 20;
  asm("bfi.b32 %0, %1, %2, 8, 4;" : "=r"(r) : "r"(v), "r"(u));
  bad += r != ((u & ~0xf00u) | ((unsigned)v & 15) << 8);
  bad += rotated<7>(u) != (u << 7 | u >> 25) || rotated<0>(u) != u;
  asm("shl.b32 %0, %1, %2;" : "=r"(r) : "r"(u), "r"(tid));
  bad += r != (tid > 31 ? 0 : u << tid);
  asm("mad.lo.s32 %0, %1, %2, %3;" : "=r"(s) : "r"(v), "r"(3), "r"(-4));
  bad += s != v * 3 - 4;
  asm("mul.hi.u32 %0, %1, %1;" : "=r"(r) : "r"(u));
  bad += r != __umulhi(u, u);
  long long wide;
  asm("mul.wide.s32 %0, %1, %2;" : "=l"(wide) : "r"(v), "r"(-1000000007));
  bad += wide != (long long)v * -1000000007;
  asm("popc.b32 %0, %1;" : "=r"(r) : "r"(u));
  bad += r != __popc(u);
  asm("add.u32 %0, %0, 5;" : "+r"(r));
  bad += r != __popc(u) + 5;

  // Predicates.
  asm("{.reg .pred p; setp.gt.s32 p, %1, 50; selp.b32 %0, 1, 0, p; @!p mov.b32 %0, 9;}" : "=r"(s) : "r"(v));
  bad += s != (v > 50 ? 1 : 9);
  float kept = -1.0f;
  asm volatile("{\n .reg .pred p;\n setp.ne.b32 p, %2, 0;\n @p ld.global.nc.f32 %0, [%1]; // in bounds only\n}"
               : "+f"(kept) : "l"(x + i), "r"((int)(i < n)));
  bad += kept != (i < n ? a : -1.0f);

  // Halves.
  unsigned two;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(two) : "f"(a), "f"(g));
  __half2 both = __floats2half2_rn(g, a);
  bad += two != *(unsigned *)&both;
  asm("fma.rn.f16x2 %0, %1, %1, %1;" : "=r"(r) : "r"(two));
  both = __hfma2(both, both, both);
  bad += r != *(unsigned *)&both;
  unsigned short h;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(a));
  bad += h != __half_as_ushort(__float2half_rn(a));
  asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(h));
  bad += f != __half2float(__float2half_rn(a));
  asm("cvt.rzi.s32.f32 %0, %1;" : "=r"(s) : "f"(a * 100));
  bad += s != (int)(a * 100);
  asm("mov.b32 {%0, %1}, %2;" : "=h"(h), "=h"(*(unsigned short *)&r) : "r"(two));
  bad += h != (two & 0xffff);

  // The lanes of a warp.
  asm volatile("shfl.sync.bfly.b32 %0, %1, 1, 0x1f, 0xffffffff;" : "=r"(r) : "r"(u));
  bad += r != __shfl_xor_sync(~0u, u, 1);
  asm volatile("shfl.sync.up.b32 %0, %1, 2, 0, -1;" : "=r"(r) : "r"(u));
  bad += r != __shfl_up_sync(~0u, u, 2);
  asm volatile("{.reg .pred p; setp.ne.u32 p, %1, 0; vote.sync.ballot.b32 %0, p, 0xffffffff;}" : "=r"(r) : "r"(v & 1));
  bad += r != __ballot_sync(~0u, v & 1);
  asm volatile("redux.sync.add.s32 %0, %1, 0xffffffff;" : "=r"(s) : "r"(v));
  bad += s != __reduce_add_sync(~0u, v);
  asm volatile("membar.gl;" ::: "memory");
  asm volatile("fence.acq_rel.gpu;" ::: "memory");

#ifdef NEVER
  if (NEVER)
    asm volatile("{\n\t.reg .b32 t;\n\tmov.b32 t, %0;\n\twgmma.fence.sync.aligned;\n\t}" ::"r"(v) : "memory");
#endif
  if (bad)
    asm volatile("red.global.add.s32 [%0], %1;" ::"l"(wrong), "r"(bad) : "memory");
  if (i < n)
    asm volatile("st.global.cs.f32 [%0], %1;" ::"l"(y + i), "f"(2.0f * a) : "memory");
}

__global__ void quads_kernel(const float4 *x, float4 *y, int quads) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= quads)
    return;
  float4 v = load_quad(x + i);
  asm volatile("st.global.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(y + i), "f"(v.x + v.x), "f"(v.y + v.y), "f"(v.z + v.z),
               "f"(v.w + v.w)
               : "memory");
}

void forms(const float *x, const int *k, float *y, int *wrong, int n, cudaStream_t stream) {
  cudaMemsetAsync(wrong, 0, sizeof(int), stream);
  forms_kernel<<<(n + 127) / 128, 128, 0, stream>>>(x, k, y, wrong, n);
#ifdef QUADS
  quads_kernel<<<(n / 4 + 127) / 128, 128, 0, stream>>>((const float4 *)x, (float4 *)y, n / 4);
#endif
}
