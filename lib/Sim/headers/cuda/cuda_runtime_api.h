//===- cuda_runtime_api.h - The host's side of the runtime's interface ---===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Thin wrappers on the simulator's host primitives. What is asynchronous is
/// done at once; the runtime notes what a GPU need not order. A primitive's
/// return value is a cudaError_t unless it says otherwise.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SIM_CUDA_RUNTIME_API_H
#define STARK_SIM_CUDA_RUNTIME_API_H

#include "../stark/stark_sim_keywords.h"
#include "driver_types.h"
#include "vector_types.h"

extern "C" {
int __stark_sim_host_malloc(void **pointer, size_t bytes);
int __stark_sim_host_free(void *pointer);
/// \p kind is a cudaMemcpyKind.
int __stark_sim_host_copy(void *to, const void *from, size_t bytes, int kind);
int __stark_sim_host_set(void *to, int value, size_t bytes);
/// Of a stream; \p async: the host may go on.
int __stark_sim_host_copy_in(void *to, const void *from, size_t bytes,
                             void *stream, int async);
int __stark_sim_host_set_in(void *to, int value, size_t bytes, void *stream);
int __stark_sim_host_managed(void **pointer, size_t bytes);
/// The host's memory is the device's, too, or no longer.
void __stark_sim_host_map(void *pointer, size_t bytes);
void __stark_sim_host_unmap(void *pointer);
const void *__stark_sim_host_stream_create(unsigned flags);
void __stark_sim_host_stream_sync(void *stream);
void __stark_sim_host_event_record(unsigned long long event, void *stream);
void __stark_sim_host_event_wait(void *stream, unsigned long long event);
void __stark_sim_host_event_sync(unsigned long long event);
int __stark_sim_host_sync(void);
/// The error of the last call that failed, which \p clear forgets.
int __stark_sim_host_last_error(int clear);
/// The value of a cudaDeviceAttr; -1 is the device's memory in MiB.
int __stark_sim_host_attribute(int attribute);
/// \p attribute is a cudaFuncAttribute to be set to \p value, or, 100 and
/// above, one to be returned in place of an error: 100 static shared bytes, 101
/// registers, 102 local bytes, 103 threads a block at most, 104 dynamic shared
/// bytes at most, 105 constant bytes.
int __stark_sim_host_func_attribute(const void *kernel, int attribute,
                                    int value);
int __stark_sim_host_launch_in_clusters(const void *kernel, dim3 grid,
                                        dim3 block, void **arguments,
                                        size_t shared, void *stream,
                                        int cooperative, const dim3 *cluster);
int __stark_sim_host_occupancy(int *blocks, const void *kernel, int block_size,
                               size_t shared);
/// The device's address of the variable whose shadow is \p host.
int __stark_sim_host_symbol(const void *host, void **address);
/// Ends the run with the verdict `unsupported`; \p what names the function.
void __stark_sim_host_unsupported(const char *what);

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared = 0,
                                     void *stream = nullptr);
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared,
                                       void *stream);
cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block,
                             void **arguments, size_t shared,
                             cudaStream_t stream);
cudaError_t cudaLaunchCooperativeKernel(const void *kernel, dim3 grid,
                                        dim3 block, void **arguments,
                                        size_t shared, cudaStream_t stream);
}

#include "../stark/stark_sim_host_memory.h"

#include "../stark/stark_sim_host_device.h"

#include "../stark/stark_sim_host_stream.h"

#include "../stark/stark_sim_host_launch.h"

#include "../stark/stark_sim_texture.h"

#endif
