"""The room `wire`: what we speak."""
