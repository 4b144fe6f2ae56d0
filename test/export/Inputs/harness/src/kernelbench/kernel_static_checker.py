def validate_kernel_static(code, backend, precision):
    from kernelbench.eval import KernelExecResult
    result = KernelExecResult(compiled=True)
    result.metadata["a"] = 1
    assert KernelExecResult().metadata == {}
    assert (backend, precision) == ("cuda", "fp32")
    return "__global__" in code, [], [f"fields: {result!r}"]
