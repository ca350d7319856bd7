from .cluster import require_ray as require_ray
from .ray_deliberations import RayDeliberations as RayDeliberations

__all__ = ["RayDeliberations", "require_ray"]
