"""A private exam for language models, retaken with every new model."""

__version__ = "0.1.0"
