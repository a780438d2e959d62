"""How the rows of a source are read: decoded, indexed, screened, and handed to a solver.

`groupcm.sources` shows the whole family. In the order in which a pass uses them:

=================  ====================================================================
Chunk              consecutive rows of a source, decoded (``chunk``)
  .features        its features, `RowMajorFeatures` or `ColumnMajorFeatures`
  .keys            its groups, labels and overlaps, as `Keys` (``index``)
CandidateIndex     the groups and classes of all rows, joined from the keys (``index``)
Space              how a row becomes the vector that the weights multiply (``space``)
SourceReader       passes over a source, with some units kept in memory (``reader``)
Sample             the units kept in memory, as a sample of all rows (``sample``)
ScreeningJob       the job of a pass that keeps the rows that can matter (``screening``)
SolverRows         standardised rows, as a solver reads them (``solver_rows``)
=================  ====================================================================
"""
