"""Language models behind one seam, `complete(request) → completion`. Knows no Beam."""
