"""Pictures: their files, their regions, and how regions fit what people marked."""
