"""Fitted models in files: JSON that runs no code when it is loaded, and ONNX."""

from groupcm.utils.lazy import TYPE_CHECKING, lazy_names

if TYPE_CHECKING:
    from groupcm.persistence.model_file import SavedModel, load, read, save
    from groupcm.persistence.onnx import export_onnx

__all__ = ["SavedModel", "export_onnx", "load", "read", "save"]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "SavedModel": "model_file",
        "export_onnx": "onnx",
        "load": "model_file",
        "read": "model_file",
        "save": "model_file",
    },
)
