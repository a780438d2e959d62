"""Datasets of texts: sentences that answer a question, and products that are the same.

Both have few, simple features, computed here from the words; they are meant for trying models of
groups, not for the best possible score.
"""

from __future__ import annotations

import csv
import io
import math
import os
import re
import zipfile
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from groupcm.data.tables.formats import readable
from groupcm.data.tables.parquet import open_parquet
from groupcm.datasets.base import GroupDataset
from groupcm.datasets.download import (
    DownloadError,
    Options,
    RemoteFile,
    get_data_home,
    print_licence,
)
from groupcm.errors import FileName, InputError

__all__ = ["fetch_amazon_google", "fetch_wikiqa"]

WIKIQA = RemoteFile(
    "wikiqa/WikiQACorpus.zip",
    "https://download.microsoft.com/download/E/5/F/E5FCFCEE-7005-4814-853D-DAA7C66507E0/"
    "WikiQACorpus.zip",
    most_bytes=2**26,
)
WIKIQA_TABLE = "wikiqa/sentences.parquet"
WIKIQA_LICENCE = (
    "Microsoft Research Data License Agreement: research use only; it is part of the archive. Cite "
    "Yang, Yih and Meek, WikiQA: A Challenge Dataset for Open-Domain Question Answering (2015)."
)
_DITTO = (
    "https://raw.githubusercontent.com/megagonlabs/ditto/52985564a93fb11308439516d3e17a033d43ec8f/"
    "data/er_magellan/Structured/Amazon-Google/"
)
AMAZON_GOOGLE = tuple(
    RemoteFile(f"matching/amazon_google_{part}.txt", f"{_DITTO}{part}.txt", sha256)
    for part, sha256 in (
        ("train", "84ef5f7747296990a3775d2c8774949e720df643106b1b447682265f41929b26"),
        ("valid", "baa53c43706e979441aaf653698bb477294b6fa16328fd272fcdc56ca040c094"),
        ("test", "fb4a50692f296435d9ecd4b310acc1318ff7d6d1e13924f0b211d1f906dacbef"),
    )
)
AMAZON_GOOGLE_LICENCE = (
    "Provided for research. Cite Köpcke, Thor and Rahm, Evaluation of entity resolution approaches "
    "on real-world match problems, VLDB 2010, and Mudgal et al., Deep Learning for Entity "
    "Matching, SIGMOD 2018 (the candidate pairs)."
)
_WORD = re.compile(r"\w+")
_YEAR = re.compile(r"\b1[0-9]{3}\b|\b20[0-9]{2}\b")
_ASKS = {
    "who": re.compile(r"\bwho\b"),
    "when": re.compile(r"\bwhen\b|\b(what|which) year\b"),
    "where": re.compile(r"\bwhere\b"),
    "how_many": re.compile(r"\bhow (many|much|old|long|tall|far|big)\b"),
    "what": re.compile(r"\bwhat\b"),
}


@dataclass(frozen=True)
class _Text:
    """A text and its words in lower case."""

    text: str

    @cached_property
    def words(self) -> list[str]:
        return _WORD.findall(self.text.lower())

    @cached_property
    def pairs(self) -> set[tuple[str, str]]:
        return set(zip(self.words, self.words[1:], strict=False))

    @cached_property
    def trigrams(self) -> set[str]:
        joined = " ".join(self.words)
        return {joined[i : i + 3] for i in range(len(joined) - 2)}

    @cached_property
    def numbers(self) -> set[str]:
        return {word for word in self.words if any(map(str.isdigit, word))}


class _Weights:
    """Weights of words, log(n / number of texts that contain the word)."""

    def __init__(self, texts: Iterable[_Text]) -> None:
        counts: Counter[str] = Counter()
        n = 0
        for text in texts:
            counts.update(set(text.words))
            n += 1
        self._weights = {word: math.log((n + 1) / count) for word, count in counts.items()}
        self._unseen = math.log(n + 1)

    def sum(self, words: Iterable[str]) -> float:
        return sum(self._weights.get(word, self._unseen) for word in words)


def fetch_wikiqa(
    *,
    data_home: str | os.PathLike[str] | None = None,
    download_if_missing: bool = True,
    sha256: str | None = None,
    verbose: int = 1,
) -> GroupDataset:
    """Load sentences that answer a question (WikiQA, download).

    3,047 questions of users of a search engine, each with the sentences of the introduction of a
    Wikipedia article; about 40 % of the questions have an answer among them.

    Parameters
    ----------
    data_home : path, optional
        The folder of datasets; see `groupcm.datasets.get_data_home`. The file is
        ``wikiqa/WikiQACorpus.zip``. If there is a prepared table ``wikiqa/sentences.parquet``,
        with the columns ``question``, ``label``, ``split`` and features, it is read instead, with
        its own features.
    download_if_missing : bool
        Whether to download a missing file, or raise an error.
    sha256 : str, optional
        The SHA-256 checksum of the file. groupcm does not contain one: without it the first
        download is trusted, and its checksum stored and compared with at each further use.
    verbose : int
        Whether to print the progress of the download.

    Returns
    -------
    GroupDataset
        With the splits "train", "dev" and "test" of the authors in ``folds``. The weights of words
        come from the training split.

    Examples
    --------
    >>> from groupcm.datasets import fetch_wikiqa
    >>> data = fetch_wikiqa()  # doctest: +SKIP
    >>> train = data.rows(data.folds == "train")  # doctest: +SKIP
    """
    options = Options(get_data_home(data_home), download_if_missing, sha256, verbose)
    table = options.home / WIKIQA_TABLE
    is_table = table.is_file()
    path = table if is_table else WIKIQA.fetch(options)
    print_licence("wikiqa", WIKIQA_LICENCE, path)
    X, y, groups, folds, names = _wikiqa_table(path) if is_table else _wikiqa_features(path)
    return GroupDataset(
        X=X,
        y=y,
        groups=groups,
        overlap=None,
        patients=None,
        folds=folds,
        feature_names=names,
        licence=WIKIQA_LICENCE,
        description="WikiQA. A group is a question, a candidate a sentence, and a positive "
        "candidate answers the question. Features: overlap of the words, length and place of the "
        "sentence, digits and capitals, by the kind of question. Folds: the splits of the authors.",
        name="wikiqa",
    )


_Parts = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, list[str]]


def _wikiqa_table(path: Path) -> _Parts:
    with readable(path), open_parquet(path) as file:
        table = file.read()
    roles = ("question", "label", "split")
    for role in roles:
        if role not in table.column_names:
            raise InputError(FileName(path), f" has no column {role!r}")
    names = [name for name in table.column_names if name not in roles]
    X = np.column_stack([table[name].to_numpy().astype(np.float32) for name in names])
    y = table["label"].to_numpy().astype(np.int8)
    groups = table["question"].to_numpy().astype(np.int32)
    return X, y, groups, np.array(table["split"].to_pylist()), names


def _wikiqa_features(path: Path) -> _Parts:
    splits = {split: _wikiqa_rows(path, split) for split in ("train", "dev", "test")}
    texts = {row["Sentence"]: _Text(row["Sentence"]) for rows in splits.values() for row in rows}
    weights = _Weights(texts[row["Sentence"]] for row in splits["train"])
    records: list[Mapping[str, float]] = []
    y, groups, folds = [], [], []
    number: dict[tuple[str, str], int] = {}
    place: Counter[int] = Counter()
    for split, rows in splits.items():
        for row in rows:
            group = number.setdefault((split, row["QuestionID"]), len(number))
            question, sentence = _Text(row["Question"]), texts[row["Sentence"]]
            records.append(_answer_features(question, sentence, place[group], weights))
            place[group] += 1
            y.append(int(row["Label"]))
            groups.append(group)
            folds.append(split)
    names = list(records[0])
    X = np.array([[record[name] for name in names] for record in records], np.float32)
    order = np.argsort(groups, kind="stable")
    parts = np.array(y, np.int8), np.array(groups, np.int32), np.array(folds)
    return X[order], parts[0][order], parts[1][order], parts[2][order], names


def _wikiqa_rows(path: Path, split: str) -> list[dict[str, str]]:
    name = f"WikiQA-{split}.tsv"
    try:
        with zipfile.ZipFile(path) as archive:
            inside = next((n for n in archive.namelist() if n.rpartition("/")[2] == name), None)
            if inside is None or archive.getinfo(inside).file_size > WIKIQA.most_bytes:
                raise DownloadError(FileName(path), f" holds no file {name}")
            text = archive.read(inside).decode("utf-8")
    except (zipfile.BadZipFile, RuntimeError, UnicodeDecodeError) as error:
        raise DownloadError(
            FileName(path), " is not a readable ZIP file; remove it and try again"
        ) from error
    lines = csv.DictReader(io.StringIO(text, newline=""), delimiter="\t", quoting=csv.QUOTE_NONE)
    needed = {"QuestionID", "Question", "Sentence", "Label"}
    rows = list(lines)
    if (
        not rows
        or not needed <= set(lines.fieldnames or ())
        or any(None in r.values() for r in rows)
    ):
        raise InputError(
            FileName(path), f": {name} should have the columns {', '.join(sorted(needed))}"
        )
    return rows


def _answer_features(
    question: _Text, sentence: _Text, place: int, weights: _Weights
) -> dict[str, float]:
    asked, answered = set(question.words), set(sentence.words)
    shared = weights.sum(asked & answered)
    digits = len(sentence.numbers)
    capitals = sum(word[:1].isupper() for word in sentence.text.split()[1:])
    has_year = float(bool(_YEAR.search(sentence.text)))
    features = {
        "shared_weight": shared,
        "shared_weight_of_question": shared / max(weights.sum(asked), 1e-9),
        "shared_weight_of_sentence": shared / max(weights.sum(answered), 1e-9),
        "shared_words": float(len(asked & answered)),
        "shared_share_of_question": len(asked & answered) / max(len(asked), 1),
        "shared_pairs": float(len(question.pairs & sentence.pairs)),
        "log_length": math.log(1 + len(sentence.words)),
        "place": float(place),
        "inverse_place": 1 / (1 + place),
        "digits": float(digits),
        "has_year": has_year,
        "capitals": float(capitals),
    }
    lower = question.text.lower()
    evidence = {"when": has_year, "how_many": float(digits), "what": 1 / (1 + place)}
    for kind, pattern in _ASKS.items():
        asks = float(bool(pattern.search(lower)))
        features[f"asks_{kind}"] = asks
        features[f"asks_{kind}_evidence"] = asks * evidence.get(kind, float(capitals))
    return features


def fetch_amazon_google(
    *,
    data_home: str | os.PathLike[str] | None = None,
    download_if_missing: bool = True,
    verbose: int = 1,
) -> GroupDataset:
    """Load software products of two shops that may be the same (Amazon-Google, download).

    1,288 products of one shop, each with the products of the other shop that a search proposes:
    11,460 pairs.

    Parameters
    ----------
    data_home : path, optional
        The folder of datasets; see `groupcm.datasets.get_data_home`. The files are
        ``matching/amazon_google_train.txt``, ``…_valid.txt`` and ``…_test.txt``.
    download_if_missing : bool
        Whether to download missing files, or raise an error.
    verbose : int
        Whether to print the progress of the download.

    Returns
    -------
    GroupDataset
        Without ``folds``: the files of the authors divide the pairs of a product, so split by
        ``groups``.

    Examples
    --------
    >>> from groupcm.datasets import fetch_amazon_google
    >>> fetch_amazon_google()  # doctest: +SKIP
    <GroupDataset amazon_google: 11,460 candidates in 1,288 groups, 997 of them positive;
    14 features>
    """
    options = Options(get_data_home(data_home), download_if_missing, None, verbose)
    paths = [file.fetch(options) for file in AMAZON_GOOGLE]
    print_licence("amazon_google", AMAZON_GOOGLE_LICENCE, paths[0])
    pairs = [pair for path in paths for pair in _read_pairs(path)]
    texts = {record: _Text(record) for pair in pairs for record in (pair.left, pair.right)}
    titles = {record: _Text(_fields(record).get("title", "")) for record in texts}
    weights = _Weights(titles.values())
    number: dict[str, int] = {}
    groups = np.array([number.setdefault(pair.left, len(number)) for pair in pairs], np.int32)
    order = np.argsort(groups, kind="stable")
    records = [_match_features(pairs[i], titles, weights) for i in order]
    names = list(records[0])
    return GroupDataset(
        X=np.array([[record[name] for name in names] for record in records], np.float32),
        y=np.array([pairs[i].label for i in order], np.int8),
        groups=groups[order],
        overlap=None,
        patients=None,
        folds=None,
        feature_names=names,
        licence=AMAZON_GOOGLE_LICENCE,
        description="Amazon-Google products of the ER-Magellan collection. A group is a product of "
        "one shop, a candidate a product of the other, and a positive candidate is the same "
        "product. Features: similarity of titles, makers and prices. Split by groups.",
        name="amazon_google",
    )


@dataclass(frozen=True)
class _Pair:
    left: str
    right: str
    label: int


def _read_pairs(path: Path) -> list[_Pair]:
    pairs = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        parts = line.split("\t")
        if len(parts) != 3 or parts[2].strip() not in ("0", "1"):
            raise InputError(
                FileName(path), f", line {number}: expected two records and 0 or 1, with tabs"
            )
        pairs.append(_Pair(parts[0].strip(), parts[1].strip(), int(parts[2])))
    return pairs


def _fields(record: str) -> dict[str, str]:
    """Return the fields of ``COL name VAL value COL name VAL value``."""
    parts = (part.partition("VAL") for part in record.split("COL ") if part.strip())
    return {name.strip(): value.strip() for name, _, value in parts}


def _match_features(
    pair: _Pair, titles: Mapping[str, _Text], weights: _Weights
) -> dict[str, float]:
    left, right = _fields(pair.left), _fields(pair.right)
    one, two = titles[pair.left], titles[pair.right]
    words = set(one.words), set(two.words)
    shared, every = weights.sum(words[0] & words[1]), weights.sum(words[0] | words[1])
    maker = left.get("manufacturer", "").lower()
    prices = [_price(fields.get("price", "")) for fields in (left, right)]
    has_prices = float(min(prices) > 0)
    ratio = abs(math.log(prices[0] / prices[1])) if has_prices else 0.0
    return {
        "shared_weight": shared,
        "shared_weight_of_all": shared / max(every, 1e-9),
        "shared_weight_of_left": shared / max(weights.sum(words[0]), 1e-9),
        "shared_weight_of_right": shared / max(weights.sum(words[1]), 1e-9),
        "trigrams": _jaccard(one.trigrams, two.trigrams),
        "pairs_of_words": _jaccard(one.pairs, two.pairs),
        "numbers_shared": _jaccard(one.numbers, two.numbers),
        "numbers_differ": float(len(one.numbers ^ two.numbers)),
        "first_word": float(one.words[:1] == two.words[:1]),
        "length_difference": float(abs(len(one.words) - len(two.words))),
        "maker_in_right": float(bool(maker) and maker in pair.right.lower()),
        "has_prices": has_prices,
        "log_price_ratio": min(ratio, 5.0),
        "same_price": has_prices * float(ratio < 0.01),
    }


def _jaccard(one: set, two: set) -> float:
    return len(one & two) / max(len(one | two), 1)


def _price(text: str) -> float:
    try:
        return max(float(text), 0.0)
    except ValueError:
        return 0.0
