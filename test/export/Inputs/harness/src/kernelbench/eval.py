from pydantic import BaseModel


class KernelExecResult(BaseModel):
    compiled: bool = False
    metadata: dict = {}
