"""Pictures of the page Rearrange and einsum."""
