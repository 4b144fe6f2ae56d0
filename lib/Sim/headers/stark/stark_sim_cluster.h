//===- stark_sim_cluster.h - Blocks of a cluster --------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STARK_SIM_CLUSTER_H
#define STARK_SIM_CLUSTER_H

STARK_SIM_DEVICE dim3 __clusterDim() {
  return dim3(__stark_sim_sreg(21), __stark_sim_sreg(22), __stark_sim_sreg(23));
}
STARK_SIM_DEVICE dim3 __clusterRelativeBlockIdx() {
  return dim3(__stark_sim_sreg(18), __stark_sim_sreg(19), __stark_sim_sreg(20));
}
STARK_SIM_DEVICE dim3 __clusterIdx() {
  dim3 all = __clusterDim();
  return dim3(blockIdx.x / all.x, blockIdx.y / all.y, blockIdx.z / all.z);
}
STARK_SIM_DEVICE dim3 __clusterGridDimInClusters() {
  dim3 all = __clusterDim();
  return dim3(gridDim.x / all.x, gridDim.y / all.y, gridDim.z / all.z);
}
STARK_SIM_DEVICE unsigned __clusterRelativeBlockRank() {
  return __stark_sim_sreg(16);
}
STARK_SIM_DEVICE unsigned __clusterSizeInBlocks() {
  return __stark_sim_sreg(17);
}
STARK_SIM_DEVICE unsigned __clusterDimIsSpecified() {
  return __stark_sim_sreg(17) > 1;
}
STARK_SIM_DEVICE void *__cluster_map_shared_rank(const void *place,
                                                 unsigned rank) {
  return __stark_sim_map_shared((void *)place, rank);
}
STARK_SIM_DEVICE unsigned __cluster_query_shared_rank(const void *place) {
  return __stark_sim_shared_rank(place);
}
STARK_SIM_DEVICE __attribute__((convergent)) void __cluster_barrier_arrive() {
  __stark_sim_cluster_arrive();
}
STARK_SIM_DEVICE __attribute__((convergent)) void
__cluster_barrier_arrive_relaxed() {
  __stark_sim_cluster_arrive();
}
STARK_SIM_DEVICE __attribute__((convergent)) void __cluster_barrier_wait() {
  __stark_sim_cluster_wait();
}

#endif
