"""Cleavage sites of proteins: a group is a protein, a candidate one of its positions.

A targeting peptide is the beginning of a protein that directs it to its place in the cell and is
then cut off. A protein with such a peptide is a positive group, and its positive candidate is the
last residue before the cut.

The features of position i are the residues around it, as indicators in a sparse matrix:
``AA@k`` is 1 if the residue at i + k is AA, for k from −before to +after, and ``position a-b`` is 1
if i is in this range, counted from 1.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from groupcm.datasets.base import GroupDataset
from groupcm.datasets.download import Options, RemoteFile, get_data_home, print_licence
from groupcm.errors import Argument, FileName, InputError, ParameterError

__all__ = ["fetch_signalp6", "fetch_targetp2"]

RESIDUES = "ARNDCQEGHILKMFPSTWYV"
_CODES = np.full(256, -1, np.int8)  # of other letters, such as X for an unknown residue
_CODES[np.frombuffer(RESIDUES.encode(), np.uint8)] = np.arange(len(RESIDUES))
_BIN = 5  # positions that share one indicator

SIGNALP6 = RemoteFile(
    "proteins/signalp6_train_set.fasta",
    "https://services.healthtech.dtu.dk/services/SignalP-6.0/public_data/train_set.fasta",
    "d0e286e96165fad5d86f0b7dfadd9eaf084b0f3668a796062851b2988b1b3943",
)
SIGNALP6_LICENCE = (
    "CC BY-NC-ND 4.0: no commercial use and no redistribution of modified data. Cite "
    "Teufel et al., SignalP 6.0 predicts all five types of signal peptides using protein "
    "language models, Nature Biotechnology 40 (2022)."
)
TARGETP2 = RemoteFile(
    "proteins/targetp_data.npz",
    "https://raw.githubusercontent.com/JJAlmagro/TargetP-2.0/"
    "695c7b252298d3ec7a30491c8026e8839d41f678/data/targetp_data.npz",
    "ac22792b2498ac16449c91835a6fb235be8654db83f7f4f621b479e85e462f24",
)
TARGETP2_LICENCE = (
    "CC BY-NC-SA 4.0: no commercial use. Cite Almagro Armenteros et al., Detecting sequence "
    "signals in targeting peptides using deep learning, Life Science Alliance 2 (2019)."
)
SIGNAL_TYPES = ("SP", "LIPO", "TAT", "TATLIPO", "PILIN")
TARGETING_TYPES = ("SP", "MT", "CH", "TH")
# Background frequencies of the residues in BLOSUM62, in percent.
_BACKGROUND = np.array(
    [
        *(7.4, 5.2, 4.5, 5.4, 2.5, 3.4, 5.4, 7.4, 2.6, 6.8),
        *(9.9, 5.8, 2.5, 4.7, 3.9, 5.7, 5.1, 1.3, 3.2, 7.3),
    ]
)


@dataclass(frozen=True, eq=False)
class _Protein:
    """The first residues of a protein, as codes; its last residue before the cut, and its fold."""

    residues: NDArray[np.int8]
    site: int | None
    fold: int


def fetch_signalp6(
    *,
    window: tuple[int, int] = (15, 5),
    types: Sequence[str] = ("SP", "LIPO", "TAT"),
    max_proteins: int | None = None,
    random_state: int = 0,
    data_home: str | os.PathLike[str] | None = None,
    download_if_missing: bool = True,
    sha256: str | None = None,
    verbose: int = 1,
) -> GroupDataset:
    """Load cleavage sites of signal peptides (SignalP 6.0, download).

    20,290 proteins of all domains of life with their first 70 residues: 1.4 million positions.
    The folds are the three partitions of the authors; proteins of different partitions are not
    homologous.

    Parameters
    ----------
    window : tuple of int
        The number of residues before and after a position that are features.
    types : sequence of str
        The types of signal peptides whose cleavage sites are positive: "SP", "LIPO", "TAT",
        "TATLIPO" and "PILIN". Proteins of the other types are left out; those without a signal
        peptide are negative.
    max_proteins : int, optional
        Draw this many proteins at random, to limit memory: all positions take about 250 MB.
    random_state : int
        The seed of this draw.
    data_home : path, optional
        The folder of datasets; see `groupcm.datasets.get_data_home`. The file is
        ``proteins/signalp6_train_set.fasta``.
    download_if_missing : bool
        Whether to download a missing file, or raise an error.
    sha256 : str, optional
        The SHA-256 checksum of another version of the file; by default that of the original.
    verbose : int
        Whether to print the progress of the download.

    Returns
    -------
    GroupDataset
        With a CSR matrix ``X``, and the partitions in ``folds``.

    Examples
    --------
    >>> from groupcm.datasets import fetch_signalp6
    >>> fetch_signalp6(max_proteins=2000)  # doctest: +SKIP
    <GroupDataset signalp6: 139,810 candidates in 2,000 groups, 495 of them positive; 434 features>
    """
    _check_types(types, SIGNAL_TYPES)
    options = Options(get_data_home(data_home), download_if_missing, sha256, verbose)
    path = SIGNALP6.fetch(options)
    print_licence("signalp6", SIGNALP6_LICENCE, path)
    proteins = list(_read_signalp6(path, set(types)))
    return _dataset(
        _draw(proteins, max_proteins, random_state),
        window,
        "signalp6",
        SIGNALP6_LICENCE,
        "Signal peptides of the training set of SignalP 6.0. A group is a protein, a candidate a "
        "position among its first 70 residues; the positive candidate is the last residue of the "
        f"signal peptide ({', '.join(types)}). Features: residues around the position and the "
        "position itself, as indicators. Folds: the homology partitions of the authors.",
    )


def fetch_targetp2(
    *,
    window: tuple[int, int] = (15, 5),
    types: Sequence[str] = ("SP", "MT", "CH", "TH"),
    max_proteins: int | None = None,
    random_state: int = 0,
    data_home: str | os.PathLike[str] | None = None,
    download_if_missing: bool = True,
    sha256: str | None = None,
    verbose: int = 1,
) -> GroupDataset:
    """Load cleavage sites of targeting peptides (TargetP 2.0, download).

    13,005 proteins of eukaryotes with their first 200 residues: 2.4 million positions. The folds
    are the five homology partitions of the authors.

    Parameters
    ----------
    window : tuple of int
        The number of residues before and after a position that are features.
    types : sequence of str
        The types of peptides whose cleavage sites are positive: "SP" (signal peptide), "MT"
        (mitochondrion), "CH" (chloroplast) and "TH" (thylakoid). Proteins of the other types are
        left out; those without a targeting peptide are negative.
    max_proteins : int, optional
        Draw this many proteins at random, to limit memory: all positions take about 450 MB.
    random_state : int
        The seed of this draw.
    data_home, download_if_missing, sha256, verbose
        As for `fetch_signalp6`. The file is ``proteins/targetp_data.npz``.

    Returns
    -------
    GroupDataset
        With a CSR matrix ``X``, and the partitions in ``folds``.

    Examples
    --------
    >>> from groupcm.datasets import fetch_targetp2
    >>> fetch_targetp2()  # doctest: +SKIP
    <GroupDataset targetp2: 2,432,218 candidates in 13,005 groups, 3,468 of them positive;
    460 features>
    """
    _check_types(types, TARGETING_TYPES)
    options = Options(get_data_home(data_home), download_if_missing, sha256, verbose)
    path = TARGETP2.fetch(options)
    print_licence("targetp2", TARGETP2_LICENCE, path)
    proteins = _read_targetp2(path, set(types))
    return _dataset(
        _draw(proteins, max_proteins, random_state),
        window,
        "targetp2",
        TARGETP2_LICENCE,
        "Targeting peptides of the training set of TargetP 2.0. A group is a protein, a candidate "
        "a position among its first 200 residues; the positive candidate is the last residue of "
        f"the targeting peptide ({', '.join(types)}). Features: residues around the position and "
        "the position itself, as indicators. Folds: the homology partitions of the authors.",
    )


def _check_types(types: Sequence[str], known: Sequence[str]) -> None:
    for each in [types] if isinstance(types, str) else types:
        if isinstance(types, str) or each not in known:
            names = ", ".join(map(repr, known))
            raise ParameterError(Argument("types"), f" must be a list of {names}; got {each!r}.")


def _read_signalp6(path: Path, types: set[str]) -> Iterator[_Protein]:
    """Read records of three lines: ``>id|domain|type|partition``, residues, states."""
    lines = path.read_text(encoding="ascii", errors="replace").split()
    for first in range(0, len(lines), 3):
        parts = lines[first].split("|")
        record = lines[first : first + 3]
        well_formed = (
            len(record) == 3
            and parts[0].startswith(">")
            and len(parts) == 4
            and parts[3].isdigit()
            and len(record[1]) == len(record[2])
        )
        if not well_formed:
            raise InputError(
                FileName(path),
                f", line {first + 1}: expected '>id|domain|type|partition', the residues, and as "
                "many states, on one line each",
            )
        kind = parts[2]
        if kind != "NO_SP" and kind not in types:
            continue
        signal = len(record[2]) - len(record[2].lstrip("SLTP"))
        if kind != "NO_SP" and not signal:
            raise InputError(
                FileName(path), f", line {first + 3}: the states have no signal peptide"
            )
        residues = _CODES[np.frombuffer(record[1].encode(), np.uint8)]
        yield _Protein(residues, signal - 1 if kind != "NO_SP" else None, int(parts[3]))


def _read_targetp2(path: Path, types: set[str]) -> list[_Protein]:
    """Read the arrays ``x`` (rows of BLOSUM62), ``y_cs``, ``y_type``, ``len_seq`` and ``fold``."""
    try:
        with np.load(path, allow_pickle=False) as stored:
            names = ("x", "y_cs", "y_type", "len_seq", "fold")
            x, sites, kinds, lengths, folds = (stored[name] for name in names)
    except (KeyError, ValueError, OSError) as error:
        raise InputError(FileName(path), f" is not a file of TargetP 2.0: {error}") from error
    residues = _decoded(x)
    wanted = {number for number, name in enumerate(TARGETING_TYPES, start=1) if name in types}
    found = []
    for i, kind in enumerate(kinds.tolist()):
        if kind == 0 or kind in wanted:
            site = int(sites[i].argmax()) if kind else None
            found.append(_Protein(residues[i, : lengths[i]], site, int(folds[i])))
    return found


def _decoded(x: NDArray[np.float32]) -> NDArray[np.int8]:
    """Return the code of each residue from its row of conditional frequencies in BLOSUM62.

    The frequency divided by that of the background is largest for the residue itself. Unknown
    residues and the padding have the row of an average; it is recognised because a real residue
    has the same largest entry with a larger value.
    """
    flat = np.ascontiguousarray(x.reshape(-1, x.shape[-1]), np.float32)
    key = np.zeros(len(flat), np.uint64)  # equal rows have equal keys; quicker to sort than rows
    for column in flat.view(np.uint32).T:
        key = key * np.uint64(0x9E3779B97F4A7C15) + column
    _, first, which = np.unique(key, return_index=True, return_inverse=True)
    odds = flat[first] / _BACKGROUND
    code, value = odds.argmax(axis=1), odds.max(axis=1)
    own = np.array([value[code == c].max() for c in code])
    codes = np.where(value == own, code, -1).astype(np.int8)
    return codes[which].reshape(x.shape[:2])


def _draw(proteins: list[_Protein], n: int | None, random_state: int) -> list[_Protein]:
    if n is None:
        return proteins
    if not isinstance(n, int | np.integer) or isinstance(n, bool) or n < 1:
        raise ParameterError(
            Argument("max_proteins"), f" must be a whole number of at least 1; got {n!r}."
        )
    if n >= len(proteins):
        return proteins
    chosen = np.random.default_rng(random_state).choice(len(proteins), n, replace=False)
    return [proteins[i] for i in np.sort(chosen)]


def _dataset(
    proteins: list[_Protein], window: tuple[int, int], name: str, licence: str, description: str
) -> GroupDataset:
    if not proteins:
        raise InputError(f"no protein of {name} is of the given types")
    before, after = window
    if min(window) < 0:
        raise ParameterError(Argument("window"), f" must be two counts ≥ 0; got {window!r}.")
    lengths = np.array([len(protein.residues) for protein in proteins])
    begin = np.concatenate([[0], np.cumsum(lengths)])
    y = np.zeros(begin[-1], np.int8)
    y[[b + p.site for b, p in zip(begin, proteins, strict=False) if p.site is not None]] = 1
    X, names = _indicators(proteins, lengths, before, after)
    return GroupDataset(
        X=X,
        y=y,
        groups=np.repeat(np.arange(len(proteins), dtype=np.int32), lengths),
        overlap=None,
        patients=None,
        folds=np.repeat(np.array([p.fold for p in proteins], np.int8), lengths),
        feature_names=names,
        licence=licence,
        description=description,
        name=name,
    )


def _indicators(
    proteins: list[_Protein], lengths: NDArray[np.int64], before: int, after: int
) -> tuple[sp.csr_matrix, list[str]]:
    """Return the indicators of the residues in the window of each position, and of the position."""
    width, n_letters = before + after + 1, len(RESIDUES)
    gap = np.full(max(before, after), -1, np.int8)  # no residue reaches the next protein
    line = np.concatenate([part for p in proteins for part in (gap, p.residues)] + [gap])
    is_position = np.concatenate(
        [part for n in lengths for part in (np.zeros(len(gap), bool), np.ones(n, bool))]
        + [np.zeros(len(gap), bool)]
    )
    centre = np.flatnonzero(is_position)
    n_bins = -(-int(lengths.max()) // _BIN)
    columns = np.empty((len(centre), width + 1), np.int32)
    for k in range(width):
        code = line[centre + (k - before)].astype(np.int32)
        columns[:, k] = np.where(code < 0, -1, k * n_letters + code)
    number = np.arange(len(centre)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    columns[:, width] = width * n_letters + number // _BIN
    present = columns >= 0
    pointers = np.concatenate([[0], np.cumsum(present.sum(axis=1))]).astype(np.int32)
    X = sp.csr_matrix(
        (np.ones(pointers[-1], np.float32), columns[present], pointers),
        shape=(len(centre), width * n_letters + n_bins),
    )
    names = [f"{letter}@{k:+d}" for k in range(-before, after + 1) for letter in RESIDUES]
    names += [f"position {b * _BIN + 1}-{(b + 1) * _BIN}" for b in range(n_bins)]
    return X, names
