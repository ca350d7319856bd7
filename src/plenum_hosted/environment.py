"""The environment that a run's bytes depend on, and the settings that make them repeatable."""

import os
import platform
from pathlib import Path

import numpy as np
import tokenizers
import torch
import transformers

from plenum.base.errors import UserError
from plenum.base.identity import digest
from plenum_hosted import attention
from plenum_hosted.settings import Hosted

_KERNEL_CHOICES = ("ONEDNN_", "DNNL_", "MKL_", "OMP_", "KMP_", "GOMP_", "ATEN_")
"""Prefixes of variables by which a user may choose other kernels; named if they are set."""

_NO_CHOICES = ("KMP_INIT_AT_FORK",)
"""Variables that scikit-learn sets on import, which don't affect what kernels compute."""

_TF32_OVERRIDES = ("NVIDIA_TF32_OVERRIDE", "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE")
"""Variables that turn TF32 on whatever torch's settings are."""

CPUINFO = Path("/proc/cpuinfo")
"""The file in which Linux describes processors; tests put another in its place."""

WORKSPACES = (":4096:8", ":16:8")
"""Values of CUBLAS_WORKSPACE_CONFIG with which cuBLAS always adds in the same order."""


def choose(device: str) -> torch.device:
    """Return the device that a config names.

    Raises
    ------
    UserError
        This machine has no such device.
    """
    cuda = torch.cuda.is_available()
    if device == "auto":
        return torch.device("cuda:0" if cuda else "cpu")
    if device.startswith("cuda"):
        if not cuda:
            raise UserError(
                f"backend.device: {device}, but this torch ({torch.__version__}) sees no CUDA GPU; "
                "set backend.device=cpu"
            )
        # `cuda` alone is the first GPU.
        number = int(device.partition(":")[2] or 0)
        if number >= torch.cuda.device_count():
            raise UserError(
                f"backend.device: {device}, but the GPUs here are 0 to "
                f"{torch.cuda.device_count() - 1}"
            )
        return torch.device("cuda", number)
    return torch.device(device)


def settle(settings: Hosted, device: torch.device) -> None:
    """Configure the whole process so that the same shapes give the same bytes.

    Raises
    ------
    UserError
        Determinism was requested, but the environment prevents it.
    """
    if device.type == "cuda":
        _settle_cublas(settings.deterministic)
        _refuse_tf32(settings.deterministic)
    torch.use_deterministic_algorithms(settings.deterministic)
    # Filling costs time, and nothing here reads what it hasn't written.
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
    torch.backends.cudnn.deterministic = settings.deterministic
    # It would take the kernel that was fastest today, which may add in another order.
    torch.backends.cudnn.benchmark = False
    # TF32 and sums in half precision round more than the format that journals name.
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
    torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
    torch.set_float32_matmul_precision("highest")
    torch.set_num_threads(settings.threads)


def _settle_cublas(deterministic: bool) -> None:
    if not deterministic:
        return
    value = os.environ.get("CUBLAS_WORKSPACE_CONFIG")
    if value is None and not torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        os.environ["CUBLAS_WORKSPACE_CONFIG"] = WORKSPACES[0]  # in time: cuBLAS reads it at start
    elif value not in WORKSPACES:
        raise UserError(
            f"CUBLAS_WORKSPACE_CONFIG: {value or 'not set'}; a run on CUDA is deterministic only "
            f"with {' or '.join(WORKSPACES)}, set before the process starts; "
            "backend.deterministic=false runs without the promise"
        )


def _refuse_tf32(deterministic: bool) -> None:
    for name in _TF32_OVERRIDES if deterministic else ():
        if os.environ.get(name, "0") != "0":
            raise UserError(
                f"{name}: {os.environ[name]}; a deterministic run has TF32 off: unset it, or run "
                "without the promise with backend.deterministic=false"
            )


def fingerprint(settings: Hosted, device: torch.device) -> dict[str, str]:
    """Return the environment by name; equal conditions and environments give equal journals.

    The backend adds the weights of a condition's models, which belong to it, too.
    """
    environment = {
        "device": _name(device),
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "tokenizers": tokenizers.__version__,
        "numpy": np.__version__,
        "dtype": settings.dtype,
        "attention": f"{attention.NAME}-{attention.VERSION}",
        "deterministic": str(settings.deterministic).lower(),
        "threads": str(settings.threads),
    }
    if device.type == "cuda":
        environment["cuda"] = str(torch.version.cuda)
        environment["cudnn"] = str(torch.backends.cudnn.version())  # type: ignore[no-untyped-call]
        environment["driver"] = _driver()
        environment["cublas_workspace"] = os.environ.get("CUBLAS_WORKSPACE_CONFIG", "")
    else:
        environment["instructions"] = torch.backends.cpu.get_cpu_capability()
        environment["processor"] = _processor()
    named = (*_KERNEL_CHOICES, *_TF32_OVERRIDES)
    return environment | {
        name: os.environ[name]
        for name in sorted(os.environ)
        if name.startswith(named) and name not in _NO_CHOICES
    }


def _processor() -> str:
    """Return a processor's family, model, stepping, and a digest of its instruction set.

    In a virtual machine its name may be only that of its maker.
    """
    fields = _cpuinfo()
    numbers = (fields.get(key, "?") for key in ("cpu family", "model", "stepping"))
    return f"{'-'.join(numbers)} {digest(sorted(fields.get('flags', '').split()))}"


def _cpuinfo() -> dict[str, str]:
    """Return the kernel's description of the first processor, by field; empty if there is none."""
    try:
        first = CPUINFO.read_text(encoding="utf-8").partition("\n\n")[0]
    except OSError:
        return {}
    pairs = (line.partition(":") for line in first.splitlines())
    return {key.strip(): value.strip() for key, _, value in pairs}


def _name(device: torch.device) -> str:
    if device.type == "cuda":
        return str(torch.cuda.get_device_name(device))
    # ARM processors have no such field: what Python knows of them is the next best.
    return _cpuinfo().get("model name") or platform.processor() or platform.machine()


def _driver() -> str:
    try:
        text = Path("/proc/driver/nvidia/version").read_text(encoding="utf-8")
    except OSError:
        return "unknown"
    words = text.splitlines()[0].split()
    # The first word that begins with a digit: NVIDIA writes the driver's name before its version.
    return next((word for word in words if word[:1].isdigit()), "unknown")
